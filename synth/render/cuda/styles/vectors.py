"""A vector of neighbouring elements for each thread, loaded and stored at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.program import expr, ir
from generators.program.dtypes import INT32, Array, Scalar, Type, Vec
from generators.program.expr import Var
from generators.program.walk import expressions, statements
from synth.render.cuda.body import Body
from synth.render.cuda.device.parts import by_reference, reference_to
from synth.render.cuda.dialect.current import (
    block_at,
    block_extent,
    bracketed,
    launch_place,
    spoken,
    thread_at,
)
from synth.render.cuda.find.forms import Elementwise, elementwise
from synth.render.cuda.kernel import KernelText, Written, factor
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.offsets import flat_index, without_unread
from synth.render.cuda.packs import pack, seen_as
from synth.render.cuda.schedule import BLOCKS, Schedule
from synth.render.cuda.style import Plan, Style, same_dims
from synth.render.cuda.styles.threads import flat_grid, flat_total, is_narrow, place_of, shaped_grid
from synth.render.cuda.text import Text, item
from synth.render.cuda.types import LETTERS, computed, is_builtin_vector, name_of
from validate.row.sizes import evaluate

VECTORS = "vectorized"
_INDEX = "index"
"""The number of an element in a launch of several dimensions: no program has the name."""
_TURN_INSTRUCTIONS = 6.0
"""Of a turn over rows that are no whole vectors."""


class _Element(Body):
    """Prints the work on one element, in which an array's name stands for its element."""

    held: frozenset[str]
    rows: frozenset[str]
    inputs: frozenset[str]

    def index(self, array: Var, indices: Sequence[expr.Expr]) -> Text:
        if array.name in self.rows:
            return item(Text(self.name(array.name)), [self.show(indices[-1])])
        if array.name in self.held:
            name = self.name(array.name)
            return Text(name if array.name in self.inputs else by_reference("", name)[1])
        return super().index(array, indices)

    def _for(self, s: ir.For, depth: int) -> None:
        arrays = {e.array.name for e in expressions(s.body) if isinstance(e, expr.Load)}
        arrays |= {t.array.name for t in statements(s.body) if isinstance(t, ir.Store)}
        if arrays & self.rows:
            # A row stays in registers where every place in it is known.
            self.put(depth, "#pragma unroll")
        super()._for(s, depth)


@dataclass(frozen=True)
class _Held:
    """An array of which a thread holds a vector: the vector's name and type, whether that is a
    struct, and how many scalars of a row belong to each element, 0 where there are no rows."""

    param: ir.Param
    vector: str
    kind: str
    is_pack: bool
    is_line: bool
    row: int

    @property
    def is_input(self) -> bool:
        return self.param.role == "in"

    @property
    def element(self) -> Type:
        assert isinstance(self.param.type, Array)
        return self.param.type.element

    def part(self, k: int) -> str:
        """The k-th element, or where its row starts."""
        if self.row:
            return f"{self.vector}.v + {k * self.row}" if k else f"{self.vector}.v"
        return f"{self.vector}.v[{k}]" if self.is_pack else f"{self.vector}.{LETTERS[k]}"

    def turn(self, name: str) -> str:
        """The element at a loop's variable."""
        return f"{self.vector}.v + {self.row} * {name}" if self.row else f"{self.vector}.v[{name}]"

    def place(self, place: str) -> str:
        """What is added to the array's address to come to an element."""
        if not self.row:
            return place
        return f"{self.row} * {f'({place})' if '+' in place else place}"


def write(text: KernelText) -> Written:
    """The kernel with vector loads and stores, and a loop over what is left at the end."""
    vectors = _Vectors(text)
    return vectors.flat() if vectors.form.flat else vectors.by_rows()


class _Vectors:
    def __init__(self, text: KernelText) -> None:
        self.text = text
        self.width = text.schedule.vector_width
        found = elementwise(text.kernel)
        assert found is not None, "the schedule asks for a form that the kernel does not have"
        self.form: Elementwise = found
        self.function = text.fresh(f"{text.kernel.name}_element", "element")
        names = {*found.arrays, *found.lines, *found.rows}
        self.held = [self._held(p) for p in text.kernel.params if p.name in names]
        self.lines, self.given = self._device_function()
        self.copies: dict[str, str] = {}

    def _held(self, p: ir.Param) -> _Held:
        assert isinstance(p.type, Array)
        element, width = p.type.element, self.width
        vector = self.text.fresh(f"{p.name}{width}", f"{p.name}_vector")
        is_line, row = p.name in self.form.lines, self.form.rows.get(p.name, 0)
        is_pack = bool(row) or not (isinstance(element, Scalar) and _has_vector(element, width))
        # Elsewhere than in CUDA a component of a vector has no address to hand on.
        is_pack = is_pack or (not spoken().overloads and p.role != "in")
        if is_pack:
            kind = pack(self.text, element, width * max(1, row))
        else:
            assert isinstance(element, Scalar)
            kind = name_of(Vec(width, element))
        return _Held(p, vector, kind, is_pack, is_line, row)

    def flat(self) -> Written:
        """One number counts the elements, whatever the dimensions of the launch."""
        text, width = self.text, self.width
        total = flat_total(text.extents())
        first = text.fresh("first", "base")
        place = bracketed(launch_place())
        one = text.threads()[0] if len(text.kernel.threads) == 1 else _INDEX
        rest = {h.param.name: one for h in self.held}
        lines = [
            f"    const int {first} = {width} * {place};",
            *wrapped(4, f"if ({first} + {width - 1} < {total}) {{"),
            *self._loads({h.param.name: first for h in self.held}),
            *self._calls(first),
            *self._stores(first),
            "    } else {",
            *wrapped(8, f"for (int {one} = {first}; {one} < {total}; ++{one}) {{"),
            *self._alone(rest, one),
            "        }",
            "    }",
        ]
        grid = [flat_grid(text.formulas(), width * text.schedule.block[0])]
        return Written(lines, grid, self.lines)

    def by_rows(self) -> Written:
        """Vectors along the last dimension, where whole vectors make up its rows."""
        text, width = self.text, self.width
        names, extents = text.threads(), text.extents()
        *outer, last = names
        row = text.fresh("row", "base")
        extent = factor(extents[-1])
        before = " + ".join(
            [" * ".join([n, *map(factor, extents[k + 1 : -1])]) for k, n in enumerate(outer)]
        )
        place = bracketed(launch_place())
        lines = [f"    const int {last} = {width} * {place};"]
        lines += [place_of(n, axis) for n, axis in zip(outer[::-1], "yz", strict=False)]
        tests = zip(outer, extents[:-1], strict=True)
        lines += leaving(4, " || ".join(f"{n} >= {factor(e)}" for n, e in tests))
        start = f"({before})" if "+" in before else before
        lines += wrapped(4, f"const int {row} = {start} * {extent};")
        at = {h.param.name: last if h.is_line else f"{row} + {last}" for h in self.held}
        lines += wrapped(4, f"if ({extent} % {width} != 0) {{")
        lines += [
            *self._one_by_one(row, extents[-1]),
            *wrapped(4, f"}} else if ({last} < {extent}) {{"),
        ]
        lines += [*self._loads(at), *self._calls(last), *self._stores(f"{row} + {last}"), "    }"]
        blocks = [width * text.schedule.block[0], *text.schedule.block[1:]]
        return Written(lines, shaped_grid(text.formulas(), blocks), self.lines)

    def _one_by_one(self, row: str, extent: str) -> list[str]:
        """A block's part of a row that is no whole vectors: neighbouring threads take neighbouring
        elements."""
        text, width = self.text, self.width
        one = text.fresh("k", "column", "at")
        threads, first, end = (text.fresh(f"{n}", f"row_{n}") for n in ("threads", "first", "end"))
        rest = {h.param.name: one if h.is_line else f"{row} + {one}" for h in self.held}
        head = f"int {one} = {first} + {thread_at()}; {one} < {end}; {one} += {threads}"
        return [
            f"        const int {threads} = {block_extent()};",
            f"        const int {first} = {width} * {threads} * {block_at()};",
            *wrapped(8, f"const int {end} = min({first} + {width} * {threads}, {extent});"),
            *wrapped(8, f"for ({head}) {{"),
            *self._alone(rest, one),
            "        }",
        ]

    def _name(self, name: str) -> str:
        return self.text.names.get(name, name)

    def _own(self, h: _Held, place: str) -> str:
        """One element of an array in memory, or where its row starts."""
        name = self._name(h.param.name)
        return f"{name} + {h.place(place)}" if h.row else f"{name}[{place}]"

    def _call(self, elements: Mapping[str, str], place: str) -> str:
        """A call for one element; ``place`` is that along the last dimension."""
        given = {h.param.name: h for h in self.held}
        swaps = {
            self._name(name): e if given[name].is_input or given[name].row else reference_to(e)
            for name, e in elements.items()
        }
        swaps[self.text.threads()[-1]] = place
        return f"{self.function}({', '.join(swaps.get(name, name) for name in self.given)})"

    def _alone(self, at: Mapping[str, str], place: str) -> list[str]:
        """The lines that work on one element in memory, at a place of each array."""
        own = {h.param.name: self._own(h, at[h.param.name]) for h in self.held}
        if spoken().overloads:
            return wrapped(12, f"{self._call(own, place)};")
        # What the function takes by address lies in registers, as the elements of vectors do.
        before, behind = [], []
        for h in self.held:
            name = h.param.name
            if h.is_input and not h.row:
                continue
            copy = self._copy(h)
            kind = name_of(h.element)
            before.append(f"{kind} {copy}[{h.row}];" if h.row else f"{kind} {copy};")
            pairs = [(copy, own[name])]
            if h.row:
                pairs = [(f"{copy}[{k}]", f"({own[name]})[{k}]") for k in range(h.row)]
            if h.is_input or name in self.form.loaded:
                before += [f"{mine} = {theirs};" for mine, theirs in pairs]
            if not h.is_input:
                behind += [f"{theirs} = {mine};" for mine, theirs in pairs]
            own[name] = copy
        lines = [*before, f"{self._call(own, place)};", *behind]
        return [part for line in lines for part in wrapped(12, line)]

    def _copy(self, h: _Held) -> str:
        """The name of an element's copy."""
        name = h.param.name
        if name not in self.copies:
            self.copies[name] = self.text.fresh(f"{name}_element", f"one_{name}", f"own_{name}")
        return self.copies[name]

    def _calls(self, first: str) -> list[str]:
        if all(h.is_pack for h in self.held):
            turn = self.text.fresh("lane", "part")
            parts = {h.param.name: h.turn(turn) for h in self.held}
            head = f"for (int {turn} = 0; {turn} < {self.width}; ++{turn}) {{"
            call = f"{self._call(parts, f'{first} + {turn}')};"
            return ["#pragma unroll", f"        {head}", *wrapped(12, call), "        }"]
        lines = []
        for k in range(self.width):
            parts = {h.param.name: h.part(k) for h in self.held}
            lines += wrapped(8, f"{self._call(parts, f'{first} + {k}' if k else first)};")
        return lines

    def _loads(self, at: Mapping[str, str]) -> list[str]:
        lines = []
        for h in self.held:
            name = h.param.name
            if not h.is_input and name not in self.form.loaded:
                lines.append(f"        {h.kind} {h.vector};")
                continue
            place = f"{self._name(name)} + {h.place(at[name])}"
            source = seen_as(h.kind, True, place)
            const = "const " if h.is_input else ""
            lines += wrapped(8, f"{const}{h.kind} {h.vector} = {source};")
        return lines

    def _stores(self, at: str) -> list[str]:
        lines = []
        for h in self.held:
            if not h.is_input:
                place = f"{self._name(h.param.name)} + {h.place(at)}"
                target = seen_as(h.kind, False, place)
                lines += wrapped(8, f"{target} = {h.vector};")
        return lines

    def _device_function(self) -> tuple[list[str], list[str]]:
        """The work on one element, and the names of what it is given."""
        text = self.text
        body = _Element(text.library, text.names, text.shapes(), "return;")
        body.held = frozenset(h.param.name for h in self.held)
        body.rows = frozenset(self.form.rows)
        body.inputs = frozenset(h.param.name for h in self.held if h.is_input)
        extents = text.extents()
        known = flat_index(text.kernel.threads, extents, _INDEX)
        inner = body.run(text.kernel.body, text.given(), 1, known)
        inner = without_unread(inner, {*body.offsets.named.values()} - {_INDEX})
        if _INDEX in _words(inner):
            body.offsets.named = {}
            flat = body.flat(tuple(Var(n, INT32) for n in text.kernel.threads), extents[1:])
            inner = [f"    const int {_INDEX} = {flat.text};", *inner]
        words = _words(inner)
        shown = [(name, kind) for name, kind in self._choices(body.held) if name in words]
        listed = ", ".join(f"{kind} {name}" for name, kind in shown)
        head = f"{spoken().function}void {self.function}({listed})"
        return [*wrapped(0, head), "{", *inner, "}", ""], [name for name, _ in shown]

    def _choices(self, held: frozenset[str]) -> list[tuple[str, str]]:
        """Names and types of all that the work on an element may ask for."""
        found = []
        kind_of = self.text.library.type
        for p in self.text.kernel.params:
            if not isinstance(p.type, Array):
                kind = kind_of(computed(p.type))
            elif p.name in self.form.rows:
                kind = self.text.library.pointer(p.type.element, p.role == "in", "")
            elif p.name in held:
                sign = "" if p.role == "in" else "&" if spoken().overloads else "*"
                kind = f"{kind_of(p.type.element)}{sign}"
            else:
                kind = f"{self.text.library.pointer(p.type.element, True)} {spoken().restrict}"
            found.append((self._name(p.name), kind))
        sizes = [self.text.symbol_names[s] for s in self.text.used_symbols]
        given = {name for name, _ in found}
        places = [*self.text.threads(), *(name for name in sizes if name not in given)]
        return [*found, *((name, "int") for name in places)]


def _has_vector(scalar: Scalar, width: int) -> bool:
    """Whether CUDA has a vector of so many of a type."""
    return width <= len(LETTERS) and is_builtin_vector(Vec(width, scalar))


def _words(lines: Sequence[str]) -> set[str]:
    """Names in a text, those of members and in comments left out."""
    code = (line for line in lines if not line.lstrip().startswith("//"))
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", "\n".join(code)))


def _widths(form: Elementwise) -> tuple[int, ...]:
    return tuple(w for w in (form.width // 2, form.width) if w > 1)


_ROW_BLOCKS = {2: ((32, 8), (64, 4), (128, 2)), 3: ((32, 8, 1), (64, 4, 1))}


def _schedules(program: ir.Program) -> list[Schedule]:
    form = elementwise(program.kernel)
    if form is None or not _widths(form) or (not form.flat and is_narrow(program)):
        return []
    blocks = BLOCKS[1] if form.flat else _ROW_BLOCKS[len(program.kernel.launch_dim)]
    return [
        Schedule(VECTORS, block, vector_width=width) for width in _widths(form) for block in blocks
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    form = elementwise(program.kernel)
    assert form is not None
    same_dims(schedule, 1 if form.flat else len(program.kernel.launch_dim))
    widths = _widths(form)
    if schedule.vector_width not in widths:
        raise ValueError(
            f"vector_width {schedule.vector_width}: one of {', '.join(map(str, widths))}"
        )


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    width, form = schedule.vector_width, elementwise(program.kernel)
    assert form is not None
    if not form.flat and evaluate(program.kernel.launch_dim[-1], sizes) % width:
        turns = _TURN_INSTRUCTIONS * width
        return Plan(threads_an_element=1 / width, in_turn=True, along_row=width, instructions=turns)
    return Plan(
        threads_an_element=1 / width,
        vector_width=width,
        in_vectors=frozenset((*form.arrays, *form.lines, *form.rows)),
        independent=width,
    )


def _asks(schedule: Mapping[str, object]) -> str:
    width = schedule["vector_width"]
    return f"Let each thread take {width} elements at a time with vector loads and stores."


STYLES = (
    Style(
        VECTORS,
        _schedules,
        _check,
        write,
        _plan,
        _asks,
        "several elements a thread at a time",
    ),
)
