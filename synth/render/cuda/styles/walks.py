"""One thread for each element, which reads and writes rows of its own in vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from generators.program import expr, ir
from generators.program.expr import Var
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.find.walks import Along, Walk, of_its_own, walks
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.offsets import without_idle
from synth.render.cuda.packs import pack, seen_as
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style
from synth.render.cuda.styles.threads import check_guarded, guarded_schedules, write_guarded
from synth.render.cuda.text import Text

ROW_VECTORS = "row_vectors"


class _Walking(Body):
    """Prints loops over rows in vectors; elements of some arrays are in registers."""

    held: Mapping[Along, str] = MappingProxyType({})

    def __init__(self, text: KernelText) -> None:
        super().__init__(text.library, text.names, text.shapes(), "return;")
        self.text = text
        self.part, self.at = text.fresh("lane", "part"), text.fresh("at", "entry")
        self.first, self.step = text.fresh("first", "cell"), text.fresh("step", "taken")
        self.vectors: dict[tuple[str, int], str] = {}

    def index(self, array: Var, indices: Sequence[expr.Expr]) -> Text:
        for a, vector in self.held.items():
            if a.array == array and a.indices == tuple(indices):
                return Text(vector)
        return super().index(array, indices)

    def walk(self, loop: ir.For, walk: Walk, depth: int) -> None:
        """A loop that takes a whole vector where one starts, and else an element."""
        name, stop = self.name(loop.name), self.show(loop.stop).text
        width, step, first = walk.width, self.step, self.first
        any_one = walk.arrays[0]
        flat = self.flat(any_one.indices, self.shapes[any_one.array.name][1:]).text
        start = self.show(loop.start).text
        self.put(depth, f"for (int {name} = {start}, {step}; {name} < {stop}; {name} += {step}) {{")
        self.put(depth + 1, f"const int {first} = {flat};")
        whole = f"{first} % {width} == 0 && {name} + {width} <= {stop}"
        self.put(depth + 1, f"{step} = {whole} ? {width} : 1;")
        self.put(depth + 1, f"if ({step} == {width}) {{")
        self._in_vectors(loop, walk, depth + 2)
        self.put(depth + 1, "} else {")
        self.block(loop.body, depth + 2)
        self.put(depth + 1, "}")
        self.put(depth, "}")

    def _in_vectors(self, loop: ir.For, walk: Walk, depth: int) -> None:
        kinds = {a: pack(self.text, a.element, walk.width) for a in walk.arrays}
        names = {a: self._vector(a, walk.width) for a in walk.arrays}
        for a in walk.arrays:
            const = "" if a in walk.stored else "const "
            value = f" = {self._in_memory(a, kinds[a], True)}" if a in walk.loaded else ""
            self.put(depth, f"{const}{kinds[a]} {names[a]}{value};")
        self.lines.append("#pragma unroll")
        self.put(depth, f"for (int {self.part} = 0; {self.part} < {walk.width}; ++{self.part}) {{")
        ends = [s for s in of_its_own(loop.body) if isinstance(s, ir.Break)]
        self.special |= {id(s): partial(self._end, loop) for s in ends}
        self.lines += self._turn(loop, names, depth + 1)
        for s in ends:
            del self.special[id(s)]
        self.put(depth, "}")
        for a in walk.stored:
            self.put(depth, f"{self._in_memory(a, kinds[a], False)} = {names[a]};")

    def _end(self, loop: ir.For, _s: ir.Break, depth: int) -> None:
        """Leave the parts of a vector, and behind them the loop."""
        self.put(depth, f"{self.step} = {self.show(loop.stop).text};")
        self.put(depth, "break;")

    def _in_memory(self, a: Along, kind: str, const: bool) -> str:
        return seen_as(kind, const, f"{self.name(a.array.name)} + {self.first}")

    def _vector(self, a: Along, width: int) -> str:
        key = a.array.name, width
        if key not in self.vectors:
            self.vectors[key] = self.text.fresh(f"{key[0]}{width}", f"{key[0]}_vector")
        return self.vectors[key]

    def _turn(self, loop: ir.For, vectors: Mapping[Along, str], depth: int) -> list[str]:
        """One turn of the loop, on one part of its vectors."""
        before, usual = self.lines, self.names
        self.lines, self.names = [], {**usual, loop.name: self.at}
        self.held = {a: f"{name}.v[{self.part}]" for a, name in vectors.items()}
        self.block(loop.body, depth)
        lines, self.lines, self.names, self.held = self.lines, before, usual, MappingProxyType({})
        name = usual.get(loop.name, loop.name)
        place = f"{' ' * 4 * depth}const int {self.at} = {name} + {self.part};"
        return without_idle([place, *lines])


def write(text: KernelText) -> Written:
    """The kernel with all loops in vectors that can go in them."""
    body = _Walking(text)
    for s in statements(text.kernel.body):
        walk = walks(text.kernel).get(id(s))
        if walk is not None:
            body.special[id(s)] = partial(_walk, body, walk)
    return write_guarded(text, body)


def _walk(body: _Walking, walk: Walk, loop: ir.For, depth: int) -> None:
    body.walk(loop, walk, depth)


def _width(program: ir.Program) -> int:
    """Elements to a vector of the loop that takes most."""
    return max(walk.width for walk in walks(program.kernel).values())


def _schedules(program: ir.Program) -> list[Schedule]:
    if not walks(program.kernel):
        return []
    usual = guarded_schedules(program)
    return [replace(s, style=ROW_VECTORS, vector_width=_width(program)) for s in usual]


def _check(program: ir.Program, schedule: Schedule) -> None:
    check_guarded(program, schedule)
    if schedule.vector_width != _width(program):
        raise ValueError(f"vector_width {schedule.vector_width}: {_width(program)} for this kernel")


def _plan(program: ir.Program, _schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    walked = {
        (node, name): float(walk.width)
        for node, walk in walks(program.kernel).items()
        for name in walk.whole
    }
    return Plan(walked=walked)


def _asks(schedule: Mapping[str, object]) -> str:
    width = schedule["vector_width"]
    return f"Let each thread read its rows {width} elements at a time with vector loads."


STYLES = (
    Style(
        ROW_VECTORS,
        _schedules,
        _check,
        write,
        _plan,
        _asks,
        "rows read in vectors",
    ),
)
