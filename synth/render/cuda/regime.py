"""What a program is for: the sizes that matter in use, drawn for each of its size symbols.

A row is checked at small sizes; its schedule follows from these. A symbol's range follows from what
the kernel does with it: whether the launch counts it, whether loops run over it, or neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod, sqrt

from generators.build.draw import Stream
from generators.program import ir
from generators.program.dtypes import INT32, Array, Vec
from generators.program.expr import Const, Expr, Extent, Load, Op, Var
from generators.program.walk import expressions, parts, statements
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.named_sizes import CALLED, FACES, POINTS, SEARCHED, SHARING, SIDES, ranges_of
from synth.render.cuda.tied_sizes import tied
from synth.render.cuda.types import bytes_of
from validate.row.sizes import evaluate_all, middle, symbols

_Range = tuple[int, int]

MOST_BYTES = 1 << 30
"""Of all arrays together."""
MOST_TURNS = 4e9
"""Threads times turns of their loops."""

_THREADS = ((30_000, 300_000), (300_000, 3_000_000), (2_000_000, 20_000_000))
_THREAD_WEIGHTS = (1, 3, 4)
_LOOPS = ((8, 32), (32, 128), (64, 512), (512, 4096))
_LOOP_WEIGHTS = (2, 4, 4, 2)
_TABLES = ((4, 16), (16, 64), (64, 256), (256, 4096), (4096, 65_536), (65_536, 1_000_000))
_TABLE_WEIGHTS = (1, 3, 4, 3, 2, 2)
_GATHERED = ((64, 256), (256, 4096), (4096, 65_536), (65_536, 1_000_000))
"""Of arrays that threads read at places of their own."""
_GATHERED_WEIGHTS = (1, 2, 3, 3)
_PLACES = ((4096, 65_536), (65_536, 1_000_000))
"""The same, of vectors: points, particles, vertices."""
_PLACES_WEIGHTS = (1, 2)
_ENTRIES = (4, 8, 16, 32)
"""Of a row, where rows are of several lengths and lie one after the other."""
_INNER = ((8, 64), (64, 256), (256, 1024), (1024, 4096))
"""Of a launch dimension beside others."""
_FEWEST_THREADS = 30_000
MOST_BLOCKS_YZ = 65_535
"""Blocks of a grid along y or z."""
_HANDFUL = 16
_FEW = 4
"""A symbol that a row tries at no more than this stands for a handful."""


@dataclass(frozen=True)
class Span:
    """The least and greatest value of one size symbol in use."""

    symbol: str
    low: int
    high: int

    @property
    def middle(self) -> int:
        """The geometric mean."""
        return middle(self.low, self.high)


@remembered
def regime_of(program: ir.Program) -> tuple[Span, ...]:
    """The sizes in use of each symbol, in the order of the program's; from its seed alone."""
    stream = Stream(f"{program.input_seed}/regime")
    counted = [s.symbol for s in program.sizes if s.symbol in _counted(program)]
    looped, gathered = _looped(program), _gathered(program)
    found, every = {}, frozenset(size.symbol for size in program.sizes)
    for size in program.sizes:
        name, others = size.symbol, every - {size.symbol}
        named = ranges_of(name, others, counted == [name], name in counted)
        table, weights = named, (1,) * len(named)
        if not named:
            table, weights = _choices(size, counted, looped, gathered)
        drawn = stream.weighted(dict(zip(table, weights, strict=True)))
        found[size.symbol] = drawn
    found = _widened(found, counted)
    rows = [prod(found[name][end] for name in counted) for end in (0, 1)]
    others = frozenset(found.keys() - {*counted} - looped)
    for name in sorted(others & POINTS):
        found[name] = _points_of(found, counted, rows)
    starts = _starts(program) & {*counted}
    lists = [prod(found[name][end] for name in starts) for end in (0, 1)] if starts else rows
    for name in sorted(others & gathered.keys() & _shared_out(program)):
        each = stream.choice(_ENTRIES)
        found[name] = (each * lists[0], each * lists[1])
    if "num_active" in counted and "num_edges" in others and "num_nodes" in found:
        found["num_edges"] = (_EACH * found["num_nodes"][0], _EACH * found["num_nodes"][1])
    found |= tied(program, found, frozenset(counted), frozenset(looped))
    return _within_limits(program, found)


_LIKE: Mapping[str, str] = {"acc_height": "height", "acc_width": "width"}
"""What is as large as another: the places for the centres of circles as the image."""
_EACH = 8
"""Edges that a node of a graph has, of which some nodes are active."""


def _starts(program: ir.Program) -> set[str]:
    """Symbols of the lists of which an array tells where each begins, and where the last ends."""
    ends = [p.shape[-1] for p in program.kernel.params if p.shape and p.role == "in"]
    return {name for end in ends if end.endswith("+1") for name in symbols(end)}


def _points_of(found: Mapping[str, _Range], counted: list[str], rows: list[int]) -> _Range:
    """How many points there are for what shares them; of a list of active ones, more than these."""
    if counted == ["num_active"]:
        return 4 * rows[0], 4 * rows[1]
    of = next((name for name in SHARING if name in found), "")
    low, high = found.get(of, (rows[0], rows[1]))
    share = 2 if of in FACES else 4
    return max(low // share, 4), max(high // share, 4)


def _widened(drawn: dict[str, _Range], counted: list[str]) -> dict[str, _Range]:
    """The spans, those that the launch counts and whose names say nothing doubled in turn until it
    fills a device: the handfuls last, once the others are as long as an inner dimension gets."""
    if len(counted) == 1:
        return drawn
    found = dict(drawn)
    while counted and prod(found[name][0] for name in counted) < _FEWEST_THREADS:
        free = [name for name in counted if name not in CALLED]
        if not free:
            break
        short = [name for name in free if _HANDFUL < found[name][1] < _INNER[-1][1]]
        name = min(short or free, key=lambda name: found[name])
        found[name] = (2 * found[name][0], 2 * found[name][1])
    return found


def middle_sizes(program: ir.Program) -> dict[str, int]:
    """The middle of each symbol's span, as a size that the program allows."""
    return {span.symbol: span.middle for span in regime_of(program)}


def upper_sizes(program: ir.Program) -> dict[str, int]:
    """Half way from the middle of each symbol's span to its upper end.

    Of launches at all sizes of a regime the larger ones take most of the time.
    """
    return {span.symbol: middle(span.middle, span.high) for span in regime_of(program)}


def highest_sizes(program: ir.Program) -> dict[str, int]:
    """The upper end of each symbol's span."""
    return {span.symbol: span.high for span in regime_of(program)}


def _choices(
    size: ir.Size, counted: list[str], looped: set[str], gathered: Mapping[str, bool]
) -> tuple[tuple[_Range, ...], tuple[int, ...]]:
    """What may be drawn for one symbol, with weights."""
    name = size.symbol
    if name not in counted:
        if size.value <= _FEW:
            return (((8, 32), (32, 128)) if name in looped else ((4, 16), (16, 64))), (1, 1)
        if name in looped:
            return _LOOPS, _LOOP_WEIGHTS
        if name not in gathered:
            return _TABLES, _TABLE_WEIGHTS
        if gathered[name]:
            return _PLACES, _PLACES_WEIGHTS
        return _GATHERED, _GATHERED_WEIGHTS
    if len(counted) == 1:
        if name in looped:
            return ((1_000, 4_000), (4_000, 20_000)), (1, 1)
        return _THREADS, _THREAD_WEIGHTS
    if size.value <= _FEW:
        return ((8, 64), (64, 256)), (1, 1)
    return _INNER, (0, 2, 3, 3)


def _counted(program: ir.Program) -> set[str]:
    """Symbols that the launch counts."""
    return {name for extent in program.kernel.launch_dim for name in symbols(extent)}


def _looped(program: ir.Program) -> set[str]:
    """Symbols that a loop of the kernel runs up to."""
    shapes = {p.name: p.shape for p in program.kernel.params}
    sized = {
        p.name: p.init.partition(":")[2]
        for p in program.kernel.params
        if p.init.startswith("size:")
    }
    found: set[str] = set()
    given = {s.name: s.value for s in statements(program.kernel.body) if isinstance(s, ir.Assign)}
    for s in statements(program.kernel.body):
        if isinstance(s, ir.For) and not _is_window(s):
            # Of `stop = min(count[i], width)` the loop runs up to the width.
            stop = given.get(s.stop.name, s.stop) if isinstance(s.stop, Var) else s.stop
            for e in (stop, *parts(stop)):
                found |= _symbols_of(e, shapes, sized)
        elif isinstance(s, ir.While):
            for e in expressions((ir.While(s.condition, ()),)):
                if isinstance(e, Op) and e.op in ("lt", "le"):
                    found |= _symbols_of(e.args[1], shapes, sized)
    return found


def _is_window(s: ir.For) -> bool:
    """Whether a loop runs over a few places around one, as far as they lie within an axis."""
    ends = (s.start, s.stop)
    return all(isinstance(e, Op) for e in ends) and [e.op for e in ends if isinstance(e, Op)] == [
        "max",
        "min",
    ]


def _gathered(program: ir.Program) -> dict[str, bool]:
    """Symbols of arrays that are read, and whether one of these is of vectors; bins, which are
    written alone, are not there."""
    named = [
        (isinstance(p.type.element, Vec), name)
        for p in program.kernel.params
        if isinstance(p.type, Array) and p.role == "in"
        for extent in p.shape
        for name in symbols(extent)
    ]
    return {name: (True, name) in named for _, name in named}


def _shared_out(program: ir.Program) -> set[str]:
    """Symbols of arrays along which loops run from where one row begins to where it ends: all rows
    together have the entries."""
    found: set[str] = set()
    shapes = {p.name: p.shape for p in program.kernel.params}
    for s in statements(program.kernel.body):
        if isinstance(s, ir.For) and not isinstance(s.start, Const):
            index = Var(s.name, INT32)
            for e in expressions(s.body):
                if isinstance(e, Load) and index in e.indices:
                    found |= symbols(shapes[e.array.name][e.indices.index(index)])
    return found


def _symbols_of(
    e: Expr, shapes: Mapping[str, tuple[str, ...]], sized: Mapping[str, str]
) -> set[str]:
    if isinstance(e, Extent):
        return symbols(shapes[e.array.name][e.axis])
    if isinstance(e, Var) and e.name in sized:
        return symbols(sized[e.name])
    return set()


def _within_limits(program: ir.Program, drawn: dict[str, _Range]) -> tuple[Span, ...]:
    """The spans, some halved until arrays and work stay within what a device has in use."""
    factors = {size.symbol: max(1, size.multiple_of) for size in program.sizes}
    least = {size.symbol: size.min for size in program.sizes}
    spans = {name: _allowed(r, least[name], factors[name]) for name, r in drawn.items()}
    looped = _looped(program)
    while (excess := _excess(program, spans, looped)) > 1.0:

        def left(name: str) -> tuple[float, bool, int, str]:
            """What halving one leaves, and what is rather halved of those that leave as much."""
            halved = {**spans, name: _halved(spans, name, least, factors)}
            named = name in CALLED or spans[name][1] <= _FEWEST_LEFT
            share = round(4 * _excess(program, halved, looped) / excess) / 4
            return share, named, -spans[name][1], name

        best = min(spans, key=left)
        halved = _halved(spans, best, least, factors)
        if halved == spans[best]:
            break
        spans[best] = halved
    counted = [name for name in spans if name in _counted(program)]
    rows = [prod(spans[name][end] for name in counted) for end in (0, 1)]
    for name in POINTS & spans.keys() - {*counted} - looped:
        spans[name] = min(spans[name], _points_of(spans, counted, rows))
    spans |= _in_proportion(program, spans)
    for name, other in _LIKE.items():
        if {name, other} <= spans.keys():
            spans[name] = spans[other] = min(spans[name], spans[other])
    if {"queries", "keys"} <= spans.keys():
        spans["queries"] = min(spans["queries"], spans["keys"])
    even = {name: (_even(low), _even(high)) for name, (low, high) in spans.items()}
    return tuple(
        Span(name, *_allowed(span, least[name], factors[name])) for name, span in even.items()
    )


def _in_proportion(program: ir.Program, spans: Mapping[str, _Range]) -> dict[str, _Range]:
    """Sides of images and planes as cameras and solvers have them, their area kept."""
    found: dict[str, _Range] = {}
    for down, across in SIDES:
        if {down, across} <= spans.keys():
            ratio = Stream(f"{program.input_seed}/sides").choice(_RATIOS)
            areas = [spans[down][end] * spans[across][end] for end in (0, 1)]
            low, high = (round(sqrt(area / ratio)) for area in areas)
            found |= {down: (low, high), across: (round(low * ratio), round(high * ratio))}
    return found


def _excess(program: ir.Program, spans: Mapping[str, _Range], looped: set[str]) -> float:
    """How many times too much memory, work or blocks the upper ends ask for; at most 1 is none."""
    high = {name: span[1] for name, span in spans.items()}
    turns = prod(evaluate_all(program.kernel.launch_dim, high))
    turns *= prod(high[name] for name in looped - SEARCHED)
    blocks = 0.0
    if isinstance(program.kernel, ir.TiledKernel):
        # A kernel of tiles has a block for each place.
        places = evaluate_all(program.kernel.launch_dim, high)[:-1]
        blocks = max((n / MOST_BLOCKS_YZ for n in places), default=0.0)
    return max(bytes_of_arrays(program, high) / MOST_BYTES, turns / MOST_TURNS, blocks)


_RATIOS = (1.0, 1.0, 4 / 3, 16 / 9)
"""Widths by heights."""
_FEWEST_LEFT = 512
"""Sizes whose names say nothing are halved first, as far as this."""
_ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
"""What a size that is no power of two begins with, before its zeros."""


def _even(size: int) -> int:
    """The size as people write it: by a power of two or a round number, not above it."""
    if size < 20 or 0 in (size & (size - 1), size & (size + 1), size % 32):
        return size
    unit = 10 ** (len(str(size)) - 1)
    return max(int(r * unit) for r in _ROUND if r * unit <= size)


def _halved(
    spans: Mapping[str, _Range], name: str, least: Mapping[str, int], factors: Mapping[str, int]
) -> _Range:
    """Half the span of a size, as far as the program allows it."""
    low, high = spans[name]
    return _allowed((low // 2, high // 2), least[name], factors[name])


def _allowed(span: _Range, least: int, multiple_of: int) -> _Range:
    low, high = (max(1, least, -(-end // multiple_of) * multiple_of) for end in span)
    return low, max(low, high)


def bytes_of_arrays(program: ir.Program, sizes: Mapping[str, int]) -> int:
    """Bytes of all array arguments."""
    return sum(
        bytes_of(p.type.element) * prod(evaluate_all(p.shape, sizes))
        for p in program.kernel.params
        if isinstance(p.type, Array)
    )
