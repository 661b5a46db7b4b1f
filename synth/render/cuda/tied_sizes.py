"""Sizes that hang together: shares of others, entries of rows, lengths that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from generators.program import ir
from generators.program.dtypes import Array
from synth.render.cuda.named_sizes import Range
from synth.render.cuda.types import bytes_of
from validate.row.sizes import evaluate_all, symbols

_BITS_PER_KEY = 12
"""Of a Bloom filter: about one key of three hundred is found that was not put in."""
_FACES_PER_CELL = 3
"""Each face of a hexahedron belongs to two cells."""
_SHARES: Mapping[str, int] = {"capacity": 2}
"""What is kept of the elements: one of so many."""
_PER_ROW = 10
"""Entries of a sparse matrix in a row."""
_PER_LIST = 16
"""Entries of a ragged list for each of the points that have one."""
_LONG_RUN = 1024
"""Times as long as rows of a batch are two runs that are merged alone."""
_LONGEST_TABLE = (64, 512)
"""A thread fills the table of two such lengths alone."""
_COMPARED = ("chars", "samples")
"""Lengths of what is aligned, whose other side has ``cols``."""


def tied(
    program: ir.Program,
    found: Mapping[str, Range],
    counted: frozenset[str],
    looped: frozenset[str],
) -> dict[str, Range]:
    """The ranges of sizes that are shares of others, or hold so much for each of them.

    ``counted``: the launch counts these; ``looped``: loops run over these.
    """
    others = found.keys() - counted - looped
    rows = _product(found, counted)
    result: dict[str, Range] = {
        name: (max(rows[0] // share, 1), max(rows[1] // share, 1))
        for name, share in _SHARES.items()
        if name in others
    }
    if "words" in others and not {"num_keys", "blocks"}.isdisjoint(found):
        result["words"] = _filter_words(program, found)
    if "entries" in others:
        result["entries"] = (rows[0] * _PER_LIST, rows[1] * _PER_LIST)
    if "num_faces" in counted and "num_cells" in others:
        result["num_cells"] = (rows[0] // _FACES_PER_CELL, rows[1] // _FACES_PER_CELL)
    return result | _of_matrix(program, found, counted, others) | _lengths(found, counted, looped)


def _of_matrix(
    program: ir.Program, found: Mapping[str, Range], counted: frozenset[str], others: set[str]
) -> dict[str, Range]:
    """Rows and columns of a sparse matrix of which the launch counts the entries."""
    sides = [name for name in ("rows", "cols") if name in others]
    if "nnz" in counted:
        low, high = found["nnz"]
    elif counted == {"chunks"} and len(sides) == 2:
        entries = next(p.shape for p in program.kernel.params if p.shape and p.role == "in")
        low, high = _evaluated(entries, found)
    else:
        return {}
    return dict.fromkeys(sides, (low // _PER_ROW, high // _PER_ROW))


def _lengths(
    found: Mapping[str, Range], counted: frozenset[str], looped: frozenset[str]
) -> dict[str, Range]:
    """Lengths of what is compared or merged, alike; tokens in rows of a batch, half of it full."""
    result: dict[str, Range] = {}
    compared = next((name for name in _COMPARED if name in looped - counted), "")
    if compared and "cols" in looped - counted:
        length = min(found[compared], _LONGEST_TABLE, key=lambda span: span[1])
        result[compared] = result["cols"] = length
    if "len_a" in counted and "len_b" in found:
        low, high = found["len_a"]
        scale = _LONG_RUN if counted == {"len_a", "len_b"} else 1
        result["len_a"] = result["len_b"] = (scale * low, scale * high)
    queries = next((name for name in ("queries", "seq") if name in found), "")
    if queries and "keys" in found:
        # A causal mask needs no fewer keys than queries.
        asked = found[queries]
        for name in {queries, "keys"} - counted or {"keys"}:
            result[name] = max(found["keys"], asked)
    if {"batch", "max_len", "tokens"} <= found.keys():
        low, high = _product(found, {"batch", "max_len"})
        result["tokens"] = (low // 2, high // 2)
    return result


def _product(found: Mapping[str, Range], names: frozenset[str] | set[str]) -> Range:
    return prod(found[name][0] for name in names), prod(found[name][1] for name in names)


def _evaluated(shape: tuple[str, ...], found: Mapping[str, Range]) -> Range:
    """How many elements an array has at both ends."""
    low, high = (
        prod(evaluate_all(shape, {name: span[end] for name, span in found.items()}))
        for end in (0, 1)
    )
    return low, high


def _filter_words(program: ir.Program, found: Mapping[str, Range]) -> Range:
    """Words of a Bloom filter of its keys, or of all that the blocks hold."""
    bits = next(
        bytes_of(p.type.element) * 8
        for p in program.kernel.params
        if isinstance(p.type, Array) and p.role != "in" and "words" in symbols("*".join(p.shape))
    )
    keys: tuple[str, ...] = ("num_keys",)
    if "num_keys" not in found:
        keys = next(p.shape for p in program.kernel.params if p.shape and p.role == "in")
    low, high = _evaluated(keys, found)
    return low * _BITS_PER_KEY // bits, high * _BITS_PER_KEY // bits
