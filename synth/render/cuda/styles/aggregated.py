"""Lanes of a warp whose updates meet at one element join them before one of them goes to memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from generators.program import ir
from generators.program.dtypes import Scalar, Type, scalar_of
from generators.program.expr import Const, Expr
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.cost.atomics import joining_shuffles, matching_shuffles
from synth.render.cuda.device.collective import join_into, warp_join
from synth.render.cuda.device.functions import Library, combined, negated
from synth.render.cuda.device.peers import neutral, peers_count, peers_join
from synth.render.cuda.device.vectors import elementwise
from synth.render.cuda.find.scatter import WARP, Target, scattered
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.offsets import flat_index, without_unused
from synth.render.cuda.scalar_ops import extreme
from synth.render.cuda.schedule import BLOCKS, Schedule
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.styles.threads import ELEMENTS_A_THREAD, flat_grid, grid_stride_head
from synth.render.cuda.text import Prec, Text, at_least
from synth.render.cuda.updates import address_of, in_place


class Common:
    """Prints updates of elements that threads share: each sums its own up in a variable, and warps
    join those behind the loop."""

    def __init__(self, text: KernelText, body: Body, common: Mapping[int, Target]) -> None:
        self.text = text
        self.body = body
        self.found: dict[tuple[str, tuple[Expr, ...]], tuple[Target, str, Text]] = {}
        for s in statements(text.kernel.body):
            if not isinstance(s, ir.Atomic) or id(s) not in common:
                continue
            target, key = common[id(s)], (s.array.name, s.indices)
            if key not in self.found:
                names = [f"{s.array.name}_part", f"own_{s.array.name}"]
                place = "_".join(str(i.value) for i in s.indices if isinstance(i, Const))
                name = text.fresh(*names, f"{names[0]}_{place}")
                # Named sums of indices come later, and end with the loop.
                self.found[key] = (target, name, body.index(s.array, s.indices))
            body.special[id(s)] = self._adder(self.found[key][1], target)

    def _adder(self, name: str, target: Target) -> Callable[[Any, int], None]:
        def put(s: ir.Atomic, depth: int) -> None:
            body = self.body
            if target.join == "add":
                body.updated(Text(name), target.type, s.op, s.value, depth)
            else:
                value = body.show(s.value).text
                into = joined_into(body.library, target.join, target.type, name, value)
                body.put(depth, into)

        return put

    def before(self) -> list[str]:
        """The lines that declare the parts."""
        lib = self.text.library
        return [
            f"    {lib.type(t.type)} {name} = {neutral(lib, t.join, t.type)};"
            for t, name, _ in self.found.values()
        ]

    def after(self, lane: str = f"threadIdx.x % {WARP}", alone: Collection[str] = ()) -> list[str]:
        """The lines that join them, for all threads of a warp to come to.

        ``lane`` is a thread's place in its warp, in C++; into the arrays of ``alone`` no other
        warp writes at the same elements.
        """
        if not self.found:
            return []
        body = self.body
        body.lines = []
        for target, name, _ in self.found.values():
            joined = warp_join(self.text.library, target.join, target.type)
            body.put(1, f"{name} = {joined}({name});")
        body.put(1, f"if ({lane} == 0) {{")
        for target, name, place in self.found.values():
            if target.array in alone:
                lib = self.text.library
                body.put(2, joined_into(lib, target.join, target.type, place.text, name))
            else:
                body.put(2, body.atomic(target.join, target.type, place, Text(name)))
        body.put(1, "}")
        return body.lines


def joined_into(lib: Library, join: str, type_: Type, place: str, value: str) -> str:
    """The statement that joins a value into a variable or an element that is nobody else's."""
    if isinstance(type_, Scalar):
        return join_into(join, type_, place, value)
    if join != "add":
        one = extreme(join, scalar_of(type_))
        return f"{place} = {elementwise(lib, one, one, type_, 2)}({place}, {value});"
    if in_place(lib, "add", type_, type_):
        return f"{place} += {value};"
    return f"{place} = {combined(lib, '+', (type_,) * 3, Text(place), Text(value)).text};"


def loop_over_grid(
    text: KernelText, body: Body, before: list[str], after: Callable[[], list[str]]
) -> Written:
    """A kernel as a loop over the grid with lines of its own around it."""
    known = flat_index(text.kernel.threads, text.extents())
    inner = body.run(text.kernel.body, text.given(), 2, known)
    head = without_unused(grid_stride_head(text), inner)
    grid = flat_grid(text.formulas(), text.schedule.block[0] * text.schedule.elements_a_thread)
    return Written([*before, *head, *inner, "    }", *after()], [grid])


def write(text: KernelText) -> Written:
    """The kernel with one atomic for the lanes of a warp that meet at an element."""
    form = scattered(text.kernel)
    assert form is not None, "the schedule asks for a form that the kernel does not have"
    body = Body(text.library, text.names, text.shapes(), "continue;")
    common = Common(text, body, form.common)
    for key, target in form.led.items():
        if form.meet[key] != 1:
            body.special[key] = _aggregated(text, body, target)
    return loop_over_grid(text, body, common.before(), common.after)


def _aggregated(text: KernelText, body: Body, target: Target) -> Callable[[Any, int], None]:
    def put(s: ir.Atomic, depth: int) -> None:
        place = Text("address[0]")

        def atomic(value: str) -> str:
            return body.atomic(target.join, target.type, place, Text(value))

        args = [address_of(body.index(s.array, s.indices))]
        kind = target.type
        if _is_one(s) and isinstance(kind, Scalar):
            name = peers_count(text.library, kind, atomic)
        else:
            name = peers_join(text.library, target.join, target.type, atomic)
            value = body.show(s.value)
            if s.op == "sub":
                if isinstance(kind, Scalar):
                    value = Text(f"-{at_least(value, Prec.POSTFIX)}")
                else:
                    value = negated(text.library, kind, value)
            args.append(value.text)
        body.put(depth, f"{name}({', '.join(args)});")

    return put


def _is_one(s: ir.Atomic) -> bool:
    """Whether an atomic counts."""
    return s.op == "add" and isinstance(s.value, Const) and float(s.value.value) == 1.0


def _schedules(program: ir.Program) -> list[Schedule]:
    form = scattered(program.kernel)
    if form is None or all(lanes == 1 for lanes in form.meet.values()):
        return []
    blocks = BLOCKS[1]
    return [Schedule("warp_aggregated", b, elements_a_thread=ELEMENTS_A_THREAD) for b in blocks]


def check(_program: ir.Program, schedule: Schedule) -> None:
    """``ValueError`` for a schedule that no loop over the grid has."""
    same_dims(schedule, 1)
    power_of_two(schedule)
    if schedule.elements_a_thread < 1:
        raise ValueError(f"elements_a_thread {schedule.elements_a_thread}: a number from 1 on")


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    form = scattered(program.kernel)
    assert form is not None
    each = schedule.elements_a_thread
    met = {key: form.joined(key, program.kernel, sizes) for key in form.led if form.meet[key]}
    steps = sum(matching_shuffles(n) for n in met.values() if n > 1.0)
    joined = joining_shuffles(program.kernel, (t.array for t in form.common.values()))
    return Plan(
        threads_an_element=1.0 / each,
        shuffles=each * steps + joined,
        combined=met | dict.fromkeys(form.common, float(WARP * each)),
        matched={key: float(each) for key in form.led if not form.meet[key]},
    )


STYLES = (
    Style(
        "warp_aggregated",
        _schedules,
        check,
        write,
        _plan,
        lambda _s: "Let lanes of a warp that update the same element do so with one atomic.",
        "joining a warp's updates before the atomics",
    ),
)
