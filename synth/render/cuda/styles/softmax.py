"""A softmax whose largest value and sum of exponentials are found in one pass over each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from generators.program import ir
from generators.program.expr import Expr, Load, Var
from generators.program.expr import op as apply
from generators.program.walk import expressions
from synth.render.cuda.find.softmax import Softmax, in_statement, softmax
from synth.render.cuda.find.split import SplitLoops, Sum, accumulation
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.scopes import direct_names
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.styles.rows import WARP, Rows, plan, values_of

_GROUPS = ((128, WARP), (256, WARP), (128, 128), (256, 256))
"""Threads of a block, and of these for an element."""


def write(text: KernelText) -> Written:
    """The kernel with both loops as one; each thread then has a largest value of its own."""
    form = softmax(text.kernel)
    assert form is not None, "the schedule asks for a form that the kernel does not have"
    return _Online(text, form).written()


@dataclass(frozen=True)
class _Names:
    """Variables that the one pass needs beside the kernel's own."""

    part: Var
    value: Var
    most: Var
    scale: Var
    rest: Var


class _Online(Rows):
    def __init__(self, text: KernelText, form: Softmax) -> None:
        name, type_ = form.largest.name, form.largest.type
        self.form = form
        self.names = _Names(
            Var(text.fresh(f"{name}_part", "own_largest"), type_),
            Var(text.fresh("value", "entry"), type_),
            Var(text.fresh(f"new_{name}", "largest"), type_),
            Var(text.fresh("scale", "correction"), type_),
            Var(text.fresh("rescale", "factor"), type_),
        )
        old = text.kernel.body
        start, loop = old[form.start], old[form.second]
        assert isinstance(start, ir.Assign)
        assert isinstance(loop, ir.For)
        self.one_pass = replace(loop, body=self._turn(loop.body))
        self.joined = ir.Assign(name, self.names.part)
        self.scaled = self._scaled()
        changed: dict[int, ir.Body] = {form.first: ()}
        changed[form.start] = (replace(start, name=self.names.part.name),)
        changed[form.second] = (self.one_pass, self.joined, *self.scaled)
        body = [s for k, old_s in enumerate(old) for s in changed.get(k, (old_s,))]
        text.kernel = replace(text.kernel, body=tuple(body))
        super().__init__(text, self._found(old, body))
        self.largest = [Sum(name, type_, "max")]
        self.uses.update([values_of(self.largest), values_of(form.sums)])
        self.body.special[id(self.joined)] = self._join_largest
        self.body.special[id(self.scaled[-1])] = self._join_sums

    def _found(self, old: Sequence[ir.Statement], body: Sequence[ir.Statement]) -> SplitLoops:
        """The loops that are left, by their new places."""
        places = {id(s): k for k, s in enumerate(body)}
        split = self.form.split
        sums = {
            places[id(old[k])]: s
            for k, s in split.sums.items()
            if k not in (self.form.first, self.form.second)
        }
        sums[places[id(self.one_pass)]] = []
        tail = places[id(old[split.tail])] if split.tail < len(old) else len(body)
        return SplitLoops(sums, tail)

    def _turn(self, body: ir.Body) -> ir.Body:
        """One turn: where a larger value is met, what was summed up is scaled down to it."""
        form, names = self.form, self.names
        value, lines = form.value, list[ir.Statement]()
        known: dict[Expr, Expr] = {form.largest: names.most}
        if not isinstance(value, Var):
            known[value] = names.value
        met = False
        for s in body:
            if not met and form.largest.name in direct_names(s):
                met = True
                if not isinstance(value, Var):
                    lines.append(ir.Assign(names.value.name, value))
                    value = names.value
                lines.append(ir.Assign(names.most.name, apply("max", names.part, value)))
                moved = form.moved(names.part, names.most)
                lines.append(ir.Assign(names.scale.name, moved))
            step = None if isinstance(s, ir.Comment) else accumulation(s)
            new = in_statement(s, known) if met else s
            if step is None:
                lines.append(new)
                continue
            own = next(Var(x.name, x.type) for x in form.sums if x.name == step[0])
            added = accumulation(new)
            assert added is not None
            lines.append(ir.Assign(own.name, apply("mul", own, names.scale) + added[2]))
        return (*lines, ir.Assign(names.part.name, names.most))

    def _scaled(self) -> list[ir.Statement]:
        """What follows the pass: the sums of a thread under the largest value of all."""
        form, names = self.form, self.names
        factor: Expr = form.moved(names.part, form.largest)
        lines: list[ir.Statement] = []
        if len(form.sums) > 1:
            lines.append(ir.Assign(names.rest.name, factor))
            factor = names.rest
        return [*lines, *(ir.AugAssign(x.name, "mul", factor) for x in form.sums)]

    def _join_largest(self, s: ir.Assign, depth: int) -> None:
        body = self.body
        head = f"{body.library.type(self.form.largest.type)} {body.name(s.name)}"
        body.put(
            depth, f"{head} = {self.joiner(self.largest[0])}({body.name(self.names.part.name)});"
        )

    def _join_sums(self, s: ir.AugAssign, depth: int) -> None:
        self.body.usual(s, depth)
        self.join(self.form.sums, {}, depth)


def _schedules(program: ir.Program) -> list[Schedule]:
    if softmax(program.kernel) is None:
        return []
    return [Schedule("online_softmax", (block,), group=group) for block, group in _GROUPS]


def _check(_program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    power_of_two(schedule)
    if schedule.group not in (WARP, schedule.threads):
        raise ValueError(
            f"group {schedule.group}: online_softmax takes {WARP} or the threads of a block"
        )


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    """Of the passes over a row that the kernel has, one is saved."""
    form = softmax(program.kernel)
    assert form is not None
    body = program.kernel.body
    passes = [_loaded(body[k]) for k in form.split.sums]
    both = _loaded(body[form.first]) & _loaded(body[form.second])
    counts = {name: sum(name in p for p in passes) for name in both}
    spared = {name: count / (count - 1.0) for name, count in counts.items()}
    return replace(plan(program, schedule, sizes), spared=spared)


def _loaded(s: ir.Statement) -> set[str]:
    """The arrays that a statement loads from."""
    return {e.array.name for e in expressions((s,)) if isinstance(e, Load)}


STYLES = (
    Style(
        "online_softmax",
        _schedules,
        _check,
        write,
        _plan,
        lambda _s: "Find the largest value and the sum of exponentials in one pass over each row.",
        "one pass for maximum and sum",
    ),
)
