"""A vector of neighbouring elements for each thread, loaded and stored at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.program import expr, ir
from generators.program.dtypes import INT32, Array, Scalar, Vec
from generators.program.expr import Var
from generators.program.walk import mentions, operands, statements
from synth.render.cuda.body import Body
from synth.render.cuda.device.functions import HEAD
from synth.render.cuda.forms import elementwise
from synth.render.cuda.kernel import KernelText, Written, factor
from synth.render.cuda.lines import wrapped
from synth.render.cuda.schedule import BLOCKS, Schedule
from synth.render.cuda.style import Plan, Style, same_dims
from synth.render.cuda.text import Text
from synth.render.cuda.types import LETTERS, computed, name_of


class _Element(Body):
    """Prints the work on one element, in which an array's name stands for its element."""

    def index(self, array: Var, indices: Sequence[expr.Expr]) -> Text:
        return Text(self.name(array.name))


def write(text: KernelText) -> Written:
    """The kernel with vector loads and stores, and a loop over what is left at the end."""
    return _Vectors(text).written()


class _Vectors:
    def __init__(self, text: KernelText) -> None:
        self.text = text
        self.width = text.schedule.vector_width
        self.thread = text.kernel.threads[0]
        self.arrays = [p for p in text.kernel.params if isinstance(p.type, Array)]
        self.values = [p for p in text.kernel.params if not isinstance(p.type, Array)]
        self.needs_index = _needs_index(text.kernel.body, self.thread)
        self.function = text.fresh(f"{text.kernel.name}_element", "element")
        self.first = text.fresh("first", "base")
        self.vectors = {p.name: text.fresh(f"{p.name}{self.width}") for p in self.arrays}

    def written(self) -> Written:
        (extent,), (formula,) = self.text.extents(), self.text.formulas()
        place = "(blockIdx.x * blockDim.x + threadIdx.x)"
        last = f"{self.first} + {self.width - 1}"
        lines = [
            f"    const int {self.first} = {self.width} * {place};",
            *wrapped(4, f"if ({last} < {extent}) {{"),
            *self._loads(),
        ]
        for k in range(self.width):
            parts = {name: f"{v}.{LETTERS[k]}" for name, v in self.vectors.items()}
            place_k = self.first if k == 0 else f"{self.first} + {k}"
            lines += wrapped(8, f"{self._call(parts, place_k)};")
        lines += self._stores()
        name = self.text.threads()[0]
        rest = {p.name: f"{self._name(p.name)}[{name}]" for p in self.arrays}
        head = f"for (int {name} = {self.first}; {name} < {extent}; ++{name}) {{"
        lines += ["    } else {", *wrapped(8, head)]
        lines += [*wrapped(12, f"{self._call(rest, name)};"), "        }", "    }"]
        elements = self.width * self.text.schedule.block[0]
        grid = f"({factor(formula)} + {elements - 1}) / {elements}"
        return Written(lines, [grid], self._device_function())

    def _name(self, name: str) -> str:
        return self.text.names.get(name, name)

    def _call(self, elements: dict[str, str], place: str) -> str:
        args = [elements.get(p.name) or self._name(p.name) for p in self.text.kernel.params]
        return f"{self.function}({', '.join([*args, *([place] if self.needs_index else [])])})"

    def _vector(self, p: ir.Param) -> str:
        assert isinstance(p.type, Array)
        assert isinstance(p.type.element, Scalar)
        return name_of(Vec(self.width, p.type.element))

    def _loads(self) -> list[str]:
        lines = []
        for p in self.arrays:
            kind, vector = self._vector(p), self.vectors[p.name]
            source = f"*reinterpret_cast<const {kind}*>({self._name(p.name)} + {self.first})"
            if p.role == "out":
                lines.append(f"        {kind} {vector};")
            else:
                const = "const " if p.role == "in" else ""
                lines += wrapped(8, f"{const}{kind} {vector} = {source};")
        return lines

    def _stores(self) -> list[str]:
        lines = []
        for p in self.arrays:
            if p.role != "in":
                target = f"*reinterpret_cast<{self._vector(p)}*>"
                at = f"({self._name(p.name)} + {self.first})"
                lines += wrapped(8, f"{target}{at} = {self.vectors[p.name]};")
        return lines

    def _device_function(self) -> list[str]:
        text = self.text
        body = _Element(text.library, text.names, text.shapes(), "return;")
        inner = body.run(text.kernel.body, text.given(), 1)
        params = []
        for p in text.kernel.params:
            type_ = p.type.element if isinstance(p.type, Array) else computed(p.type)
            mark = "&" if isinstance(p.type, Array) and p.role != "in" else ""
            params.append(f"{text.library.type(type_)}{mark} {self._name(p.name)}")
        if self.needs_index:
            params.append(f"{text.library.type(INT32)} {self._name(self.thread)}")
        head = f"{HEAD} void {self.function}({', '.join(params)})"
        return [*wrapped(0, head), "{", *inner, "}", ""]


def _needs_index(body: ir.Body, thread: str) -> bool:
    """Whether an elementwise body asks for the thread's place other than to index arrays."""
    for s in statements(body):
        values = (s.value,) if isinstance(s, ir.Store) else operands(s)
        if any(mentions(e, thread, lambda _load: True) for e in values):
            return True
    return False


def _widths(program: ir.Program) -> tuple[int, ...]:
    form = elementwise(program.kernel)
    return () if form is None else (2, 4) if form.width == 4 else (2,)


def _schedules(program: ir.Program) -> list[Schedule]:
    return [
        Schedule("vectorized", block, vector_width=width)
        for width in _widths(program)
        for block in BLOCKS[1]
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    widths = _widths(program)
    if schedule.vector_width not in widths:
        raise ValueError(
            f"vector_width {schedule.vector_width}: one of {', '.join(map(str, widths))}"
        )


def _plan(_program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    width = schedule.vector_width
    return Plan(threads_an_element=1.0 / width, vector_width=width, independent=width)


def _asks(schedule: Mapping[str, object]) -> str:
    width = schedule["vector_width"]
    return f"Let each thread take {width} elements at a time with vector loads and stores."


STYLES = (
    Style(
        "vectorized", _schedules, _check, write, _plan, _asks, "wide loads and stores ask for less"
    ),
)
