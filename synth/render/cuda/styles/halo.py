"""Stencils: a block loads the surroundings of its elements into shared memory, once for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod

from generators.program import ir
from generators.program.dtypes import INT32, Array, Type
from generators.program.expr import Const, Expr, Load, Var
from synth.render.cuda.body import Body
from synth.render.cuda.dialect.current import block_at, spoken, thread_at
from synth.render.cuda.find.halos import Halo, Offset, Stencil, stencil_of
from synth.render.cuda.kernel import KernelText, Written, factor
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.offsets import without_unread
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style, same_dims
from synth.render.cuda.styles.threads import shaped_grid
from synth.render.cuda.text import Text
from synth.render.cuda.types import bytes_of
from validate.row.archs import MOST_SHARED_BYTES

_BLOCKS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((128,), (256,)),
    2: ((32, 8), (16, 16), (32, 16)),
    3: ((32, 8, 1), (16, 16, 1)),
}
_FILL_INSTRUCTIONS = 48.0
"""Of a turn in which a thread loads an element of a tile, its place and edges among them."""


class _Around(Body):
    """Prints a body; the loads of a stencil are read from tiles."""

    tiles: Mapping[int, tuple[str, Sequence[tuple[str, Offset, int]]]]
    """By id of a load: the tile, and of each axis the thread's name in the block, the offset and
    the least offset that the tile holds."""

    def _load(self, e: Load) -> Text:
        found = self.tiles.get(id(e))
        if found is None:
            return super()._load(e)
        tile, axes = found
        places = [f"[{self._place_in(*axis)}]" for axis in axes]
        return self.widened(Text(tile + "".join(places)), e.type)

    def _place_in(self, own: str, offset: Offset, low: int) -> str:
        text, number = own, -low
        for sign, e in offset.terms:
            if isinstance(e, Const):
                number += sign * int(e.value)
            else:
                text += f" {'+' if sign > 0 else '-'} {self.show(e).text}"
        return f"{text} {'+' if number > 0 else '-'} {abs(number)}" if number else text


def write(text: KernelText) -> Written:
    """The kernel with a tile and its border for each array of the stencil."""
    return _Halos(text).written()


class _Halos:
    def __init__(self, text: KernelText) -> None:
        self.text = text
        found = stencil_of(text.kernel)
        assert found is not None, "the schedule asks for a form that the kernel does not have"
        self.found: Stencil = found
        self.axes = "yx"[-min(2, len(text.kernel.threads)) :]
        self.block = dict(zip("xyz", text.schedule.block, strict=False))
        self.own = {a: text.fresh(f"t{a}", f"thread_{a}") for a in self.axes}
        self.first = {a: text.fresh(f"first_{a}", f"block_{a}") for a in self.axes}
        self.at = {a: text.fresh(a, f"tile_{a}") for a in self.axes}
        self.load = {a: text.fresh(f"load_{a}", f"from_{a}") for a in self.axes}
        self.tiles = {name: text.fresh(f"{name}_tile") for name in found.halos}
        self.plain = Body(text.library, text.names, text.shapes(), "return;")

    def written(self) -> Written:
        text, names, extents = self.text, self.text.threads(), self.text.extents()
        lines = [f"    {spoken().shared}{self._tile(name)};" for name in self.found.halos]
        for axis in self.axes:
            lines.append(f"    const int {self.own[axis]} = {thread_at(axis)};")
        for axis in self.axes:
            lines.append(
                f"    const int {self.first[axis]} = {block_at(axis)} * {self.block[axis]};"
            )
        outer, own = names[: -len(self.axes)], names[-len(self.axes) :]
        lines += [f"    const int {name} = {block_at('z')};" for name in outer]
        for alike in self._alike():
            lines += self._fill(alike)
        lines.append(f"    {spoken().barrier}")
        pairs = list(zip(own, self.axes, strict=True))
        lines += [f"    const int {n} = {self.first[a]} + {self.own[a]};" for n, a in pairs]
        ends = zip(own, extents[-len(own) :], strict=True)
        lines += leaving(4, " || ".join(f"{n} >= {factor(e)}" for n, e in ends))
        body = _Around(text.library, text.names, text.shapes(), "return;")
        body.tiles = self._served()
        inner = body.run(self.found.body, text.given(), 1)
        inner = without_unread(inner, set(body.offsets.named.values()))
        return Written([*lines, *inner], shaped_grid(text.formulas(), text.schedule.block))

    def _served(self) -> dict[int, tuple[str, list[tuple[str, Offset, int]]]]:
        found = {}
        for load, (name, offsets) in self.found.offsets.items():
            own = [self.own[a] for a in self.axes]
            axes = zip(own, offsets, self.found.halos[name].lows, strict=True)
            found[load] = (self.tiles[name], list(axes))
        return found

    def _extents(self, halo: Halo) -> list[int]:
        spans = zip(self.axes, halo.lows, halo.highs, strict=True)
        return [self.block[a] + high - low for a, low, high in spans]

    def _tile(self, name: str) -> str:
        kind = self.text.library.type(_element(self.text.kernel, name))
        extents = "".join(f"[{e}]" for e in self._extents(self.found.halos[name]))
        return f"{kind} {self.tiles[name]}{extents}"

    def _alike(self) -> list[list[str]]:
        """The arrays, those together whose tiles have the same places."""
        groups: dict[object, list[str]] = {}
        for name, halo in self.found.halos.items():
            place = (halo.lows, halo.highs, halo.edges, self._sizes(name))
            groups.setdefault(place, []).append(name)
        return list(groups.values())

    def _sizes(self, name: str) -> tuple[str, ...]:
        param = next(p for p in self.text.kernel.params if p.name == name)
        return tuple(self.text.size(s) for s in param.shape[-len(self.axes) :])

    def _fill(self, alike: list[str]) -> list[str]:
        """The block's threads load tiles and their borders, past the ends as the kernel does."""
        halo = self.found.halos[alike[0]]
        lines, depth = [], 1
        sizes, extents = self._sizes(alike[0]), self._extents(halo)
        axes = zip(self.axes, extents, halo.lows, halo.edges, sizes, strict=True)
        for axis, extent, low, edge, size in axes:
            at, step = self.at[axis], self.block[axis]
            head = f"for (int {at} = {self.own[axis]}; {at} < {extent}; {at} += {step}) {{"
            lines += wrapped(4 * depth, head)
            depth += 1
            place = f"{self.first[axis]} + {at}"
            place += f" {'+' if low > 0 else '-'} {abs(low)}" if low else ""
            value = f"min(max({place}, 0), {size} - 1)" if low < 0 else f"min({place}, {size} - 1)"
            if edge == "wrap":
                value = f"(({place}) % {factor(size)} + {size}) % {factor(size)}"
            lines += wrapped(4 * depth, f"const int {self.load[axis]} = {value};")
        place = "".join(f"[{self.at[a]}]" for a in self.axes)
        for name in alike:
            lines += wrapped(4 * depth, f"{self.tiles[name]}{place} = {self._source(name)};")
        return [*lines, *("    " * k + "}" for k in range(depth - 1, 0, -1))]

    def _source(self, name: str) -> str:
        halo = self.found.halos[name]
        indices: list[Expr] = [*halo.outer, *(Var(self.load[a], INT32) for a in self.axes)]
        return self.plain.index(Var(name, _array(self.text.kernel, name)), indices).text


def _array(kernel: ir.Kernel, name: str) -> Array:
    type_ = next(p.type for p in kernel.params if p.name == name)
    assert isinstance(type_, Array)
    return type_


def _element(kernel: ir.Kernel, name: str) -> Type:
    return _array(kernel, name).element


def _tile_bytes(kernel: ir.Kernel, found: Stencil, block: Sequence[int]) -> int:
    """Shared memory of all tiles."""
    total = 0
    for name, halo in found.halos.items():
        spans = zip(block, halo.lows[::-1], halo.highs[::-1], strict=False)
        total += prod(b + high - low for b, low, high in spans) * bytes_of(_element(kernel, name))
    return total


def _schedules(program: ir.Program) -> list[Schedule]:
    found = stencil_of(program.kernel)
    if found is None:
        return []
    return [
        Schedule("halo_tiled", block)
        for block in _BLOCKS[len(program.kernel.launch_dim)]
        if _tile_bytes(program.kernel, found, block) <= MOST_SHARED_BYTES
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    found = stencil_of(program.kernel)
    assert found is not None
    same_dims(schedule, len(program.kernel.launch_dim))
    if schedule.block[2:] not in ((), (1,)):
        raise ValueError(f"block {list(schedule.block)}: halo_tiled takes 1 along the third axis")
    if _tile_bytes(program.kernel, found, schedule.block) > MOST_SHARED_BYTES:
        raise ValueError(f"block {list(schedule.block)}: more than 48 KiB of shared memory")


def _plan(program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    found = stencil_of(program.kernel)
    assert found is not None
    staged, fills = {}, 0.0
    for name, halo in found.halos.items():
        spans = zip(schedule.block, halo.lows[::-1], halo.highs[::-1], strict=False)
        loaded = prod(b + high - low for b, low, high in spans)
        staged[name] = found.reads[name] * schedule.threads / loaded
        fills += ceil(loaded / schedule.threads)
    shared = _tile_bytes(program.kernel, found, schedule.block)
    return Plan(
        staged=staged, barriers=1.0, shared_bytes=shared, instructions=_FILL_INSTRUCTIONS * fills
    )


STYLES = (
    Style(
        "halo_tiled",
        _schedules,
        _check,
        write,
        _plan,
        lambda _s: "Stage the surroundings of a block's elements in shared memory.",
        "staging neighbours in shared memory",
    ),
)
