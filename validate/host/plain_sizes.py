"""Shapes at which plain CUDA is tried beyond the usual ones: past a block, a warp and a tile.

A row's own shapes are smaller than most blocks, so that a launch of them shows nothing of what
several blocks, or several turns of a loop that threads share out, do to one another.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from math import ceil, prod
from typing import Any

from validate.host.plain_launch import SMALL_BLOCK, SMALL_GRID
from validate.host.plain_steps import grids_of
from validate.row.sizes import awkward_sizes, symbols
from validate.text.launches import launches_of

_WARP = 32
# Threads that meet take a microsecond each, and some.
_MOST_THREADS = 30_000
_SMALL = (3, 2, 5, 4, 7, 6)
_FEW = {1: (70,), 2: (19, 10), 3: (10, 9, 5)}
"""Elements along each axis, by how many axes blocks have: more than two small blocks take."""
_MANY = 40
_KEPT = re.compile(r"const int \w+ = min\(([^,;]+), (\d+)\);")
"""How many bins of an array a block keeps."""
_VECTORS = re.compile(r"reinterpret_cast<(?:const )?[A-Za-z]\w*?(2|4|8|16)\*>")
_BROKEN_ROWS = re.compile(r"% (\d+) != 0\) \{")
"""The test for rows that are no whole vectors."""
_WHOLE = re.compile(r"^    if \(\w+ \+ (1|3|7|15) < ", re.MULTILINE)
"""The test for a whole vector of elements."""
_LOOPED = 7
"""Elements along an axis that threads also loop along, where there are others to be many."""
_LONG = 29
"""Of a shape that is short along all other sizes: longer than most filters and tables."""
_TURNS = re.compile(r"for \(int (\w+) = [^;]*; \1 < (\w+); \+\+\1\)")
"""The loops of a thread by itself."""
_SHARED_TURNS = re.compile(r"for \(int \w+ = [^;]*; \w+ < (\w+); \w+ \+= ")
_QUOTIENT = re.compile(r".*\) / (\d+)", re.DOTALL)


def wide_sizes(row: Mapping[str, Any]) -> list[dict[str, int]]:
    """Shapes of more than one block and, one symbol at a time, of more turns than are shared out.

    None for a text whose threads do not meet, if it asks for the size of its block along every
    axis: it can be run in small blocks. The row needs `sizes`, `launch`, `plain_launch` and
    `cuda_plain`. Every shape respects `min` and `multiple_of`.
    """
    turns, loops = _turns_at_once(row), _loops(row)
    if not turns and _asks_for_blocks(row):
        return []
    dims = [sorted(symbols(extent)) for extent in row["launch"]["dim"]]
    over = _over_blocks(dims, launches_of(row)[0].grid)
    looped = _looped_axes(row, dims)
    if not looped.isdisjoint(dims[-1][:1]):
        over = _moved(over, dims, looped)
    if not turns:
        return [_shape(row["sizes"], over)]
    # Threads that share out the elements of the launch share out no loop over them.
    shared = loops if _by_grid(row) else [e["symbol"] for e in row["sizes"]]
    kept = _past_kept(row)
    many = {s: max(turns + turns // 2 + 3, kept.get(s, 0)) for s in shared}
    wanted = [over, *({s: many[s]} for s in shared if over.get(s, 0) <= turns)]
    vectors = dict.fromkeys(loops, _past_vectors(row)) if _vector_width(row) > 1 else {}
    shapes = [_shape(row["sizes"], {**vectors, **large}) for large in wanted if large]
    return [
        *shapes[:1],
        *(shape for shape in shapes[1:] if threads_started(row, shape) <= _MOST_THREADS),
    ]


def small_sizes(row: Mapping[str, Any]) -> list[dict[str, int]]:
    """Shapes for small blocks (`in_small_blocks`), where the row's own and primes do not do.

    Along each axis of the launch there are more elements than two small blocks and two turns of
    a loop over the grid take. Where threads take vectors, the innermost axis is whole vectors, and
    loops are longer than two vectors and end between two; where a text has another way for rows
    that are no whole vectors, one more shape has such rows in several blocks.
    """
    width = _vector_width(row)
    dims = [sorted(symbols(extent)) for extent in row["launch"]["dim"]][::-1]
    wanted: dict[str, int] = {}
    for axis, names in enumerate(dims):
        for name in names[:1]:
            strides = f"gridDim.{'xyz'[min(axis, 2)]}" in row["cuda_plain"]
            taken = SMALL_BLOCK[min(axis, 2)] * (SMALL_GRID if strides else 1)
            wanted.setdefault(name, (taken + 1) * (1 if axis else width))
    kept = _past_kept(row)
    primes = awkward_sizes(row["sizes"])[-1]
    if width == 1 and not kept and all(primes[name] >= wanted[name] for name in wanted):
        return []
    vectors = dict.fromkeys(_loops(row), _past_vectors(row)) if width > 1 else {}
    large = {**vectors, **wanted, **kept}
    shapes = [large]
    if _BROKEN_ROWS.search(row["cuda_plain"]):
        shapes += [{**large, name: large[name] + 1} for name in dims[0][:1]]
    return [_shape(row["sizes"], shape) for shape in shapes]


def in_few_threads(row: Mapping[str, Any]) -> dict[str, int]:
    """A shape of several blocks of 32 threads along each axis of the launch's blocks, where a
    thread of a vectorised text takes a whole vector."""
    axes = sum(int(size) > 1 for size in launches_of(row)[0].block) or 1
    dims = [sorted(symbols(extent)) for extent in row["launch"]["dim"]][::-1]
    wanted: dict[str, int] = {}
    for axis, names in enumerate(dims):
        for name in names[:1]:
            each = 1 if axis else _vector_width(row)
            wanted.setdefault(name, each * [*_FEW[axes], 2, 2, 2][axis])
    return _shape(row["sizes"], wanted)


def crossing_sizes(row: Mapping[str, Any]) -> list[dict[str, int]]:
    """Shapes that reach what a text does for many bins or for whole vectors, in few threads."""
    found = []
    innermost = sorted(symbols(row["launch"]["dim"][-1]))[:1]
    if _KEPT.search(row["cuda_plain"]):
        found.append({**dict.fromkeys(innermost, _MANY), **_past_kept(row)})
    if _vector_width(row) == 4:
        found += [dict.fromkeys(innermost, size) for size in (12, 10)]
    return [_shape(row["sizes"], large) for large in found if large]


def lopsided_sizes(row: Mapping[str, Any]) -> list[dict[str, int]]:
    """Shapes that are long along one size and as short as a row allows along all others: where a
    filter is longer than what it goes along, and a table than what looks things up in it."""
    names = [e["symbol"] for e in row["sizes"]]
    if len(names) == 1:
        return []
    return [_shape(row["sizes"], {**dict.fromkeys(names, 2), name: _LONG}) for name in names]


def thin(row: Mapping[str, Any], shape: Mapping[str, int]) -> dict[str, int]:
    """The shape with all sizes but its largest at two, or their least."""
    longest = max(shape, key=lambda symbol: shape[symbol])
    return _shape(row["sizes"], {**dict.fromkeys(shape, 2), longest: shape[longest]})


def _asks_for_blocks(row: Mapping[str, Any]) -> bool:
    """Whether a text asks for the size of its block along each axis that has more than a thread."""
    block = zip("xyz", launches_of(row)[0].block, strict=False)
    return "blockDim" in row["cuda_plain"] and all(
        str(size) == "1" or f"blockDim.{axis}" in row["cuda_plain"] for axis, size in block
    )


def _past_kept(row: Mapping[str, Any]) -> dict[str, int]:
    """A size of more bins than a block of the text keeps, by its symbol."""
    kept = _KEPT.search(row["cuda_plain"])
    if not kept:
        return {}
    formulas = {arg["name"]: arg["size"] for arg in row["plain_args"]}
    names = [name for name in re.findall(r"[A-Za-z_]\w*", kept[1]) if formulas.get(name)]
    sizes = [symbol for name in names[:1] for symbol in sorted(symbols(formulas[name]))[:1]]
    # Of a square matrix of bins the root of their number is enough.
    alike = max(1, names.count(names[0])) if names else 1
    return dict.fromkeys(sizes, ceil((1.5 * int(kept[2])) ** (1.0 / alike)))


def _loops(row: Mapping[str, Any]) -> list[str]:
    """The sizes along which nothing is launched."""
    launched = {name for extent in row["launch"]["dim"] for name in symbols(extent)}
    return [e["symbol"] for e in row["sizes"] if e["symbol"] not in launched]


def _past_vectors(row: Mapping[str, Any]) -> int:
    """Turns of two whole vectors and a part, so that the next row starts between two."""
    return 3 * _vector_width(row) - 1


def _vector_width(row: Mapping[str, Any]) -> int:
    """Elements that a thread of the text loads at once."""
    text = row["cuda_plain"]
    # Of structs the name of a vector counts the numbers, not the elements.
    tested = [*map(int, _BROKEN_ROWS.findall(text)), *(int(n) + 1 for n in _WHOLE.findall(text))]
    return max(tested or map(int, _VECTORS.findall(text)), default=1)


def _looped_axes(row: Mapping[str, Any], dims: Sequence[Sequence[str]]) -> set[str]:
    """The sizes of a launch along which each thread loops by itself, where blocks take the elements
    along all of its axes as one and it has others."""
    (grid, *others) = map(str, launches_of(row)[0].grid)
    launched = {name for names in dims for name in names[:1]}
    formulas = {arg["name"]: arg["size"] for arg in row["plain_args"]}
    if (others and set(others) != {"1"}) or not launched <= _symbols_of(grid, formulas):
        return set()
    text = row["cuda_plain"]
    alone = _symbols_of(" ".join(end for _, end in _TURNS.findall(text)), formulas)
    shared = _symbols_of(" ".join(_SHARED_TURNS.findall(text)), formulas)
    along = (alone - shared) & launched
    return along if launched - along else set()


def _symbols_of(text: str, formulas: Mapping[str, str | None]) -> set[str]:
    """The sizes that names in a text stand for."""
    names = re.findall(r"[A-Za-z_]\w*", text)
    return {symbol for name in names for symbol in symbols(formulas.get(name) or name)}


def _moved(
    over: Mapping[str, int], dims: Sequence[Sequence[str]], looped: Collection[str]
) -> dict[str, int]:
    """As many elements as along the innermost axis, most of them along one that no thread loops
    along: twice the blocks are then twice the work, and not four times."""
    inner = dims[-1][0]
    other = next(name for names in dims[::-1] for name in names[:1] if name not in looped)
    few = min(over[inner], _LOOPED)
    return {**over, inner: few, other: max(over.get(other, 0), over[inner] // few + 1)}


def _over_blocks(dims: Sequence[Sequence[str]], grid: Sequence[str | int]) -> dict[str, int]:
    """Sizes that need two blocks along each axis of the grid."""
    found: dict[str, int] = {}
    for axis, (names, formula) in enumerate(zip(dims[::-1], grid, strict=False)):
        quotient = _QUOTIENT.fullmatch(str(formula))
        elements = int(quotient[1]) if quotient else 1
        for name in names[:1]:
            found.setdefault(name, elements + elements // 4 + 3 + 2 * axis)
    return found


def _turns_at_once(row: Mapping[str, Any]) -> int:
    """How many turns of a loop the threads of a warp or of a block take at once; 0: one."""
    if "__shared__" in row["cuda_plain"]:
        return int(launches_of(row)[0].block[0])
    return _WARP if "__shfl" in row["cuda_plain"] else 0


def threads_started(row: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    """How many threads the launches of a row's plain kernels start at a shape."""
    try:
        grids = grids_of(row, shape)
    except ValueError:
        return sys.maxsize
    return sum(prod(grid.grid) * prod(grid.block) for grid in grids)


def _by_grid(row: Mapping[str, Any]) -> bool:
    return "gridDim" in row["cuda_plain"]


def _shape(entries: Sequence[Mapping[str, Any]], large: Mapping[str, int]) -> dict[str, int]:
    shape = {}
    for position, entry in enumerate(entries):
        size = large.get(entry["symbol"], _SMALL[position % len(_SMALL)])
        multiple = max(1, entry["multiple_of"])
        shape[entry["symbol"]] = -(-max(size, entry["min"]) // multiple) * multiple
    return shape
