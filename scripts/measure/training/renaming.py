"""Conversations of the view `sft` under the names of other rows, in the words of their texts.

Each name that a row chose is replaced, everywhere in question and answer, by one that other rows
gave to a thing of the same kind, or by a mark for a name that is drawn later. What is computed
stays as it is, and so do layout, comments and all that is known of the row but its names; the view
`renamed` prints the program anew instead, under names that say nothing.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from generators.build.draw import Stream
from synth.views.exchange import Exchange
from synth.views.texts import sft

Row = Mapping[str, Any]
Pools = Mapping[str, Sequence[str]]
"""By kind of thing, the names that rows give to it, in order."""

ARRAY, SCALAR, SIZE = "array", "scalar", "size"
LOCAL, FUNCTION, KERNEL = "local", "function", "kernel"

_WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_SHORT_IN_PROSE = 2
"""A name of so few letters may be a word there, unless it is a size: formulas hold those."""


def pools(rows: Iterable[Row]) -> Pools:
    """The names of rows that have plain CUDA, by kind; of locals those that CUDA has as well."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["cuda_plain"] is None:
            continue
        words = set(_WORD.findall(row["cuda_plain"]))
        for name, kind in names_of(row).items():
            if name in words:
                found[kind].add(name)
    return {kind: sorted(names) for kind, names in sorted(found.items())}


def names_of(row: Row) -> dict[str, str]:
    """What a row chose names for, and of which kind each is; structs and fields are left out."""
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(row["python"])):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = KERNEL if node.name == row["kernel_name"] else FUNCTION
            found |= {arg.arg: LOCAL for arg in node.args.args if arg.arg not in found}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, LOCAL)
    arrays = {arg["name"] for arg in row["args"] if arg["kind"] == ARRAY}
    params = {arg["name"] for arg in row["args"]}
    found |= {arg["name"]: SIZE for arg in row["plain_args"] if arg["name"] not in params}
    return found | {name: ARRAY if name in arrays else SCALAR for name in sorted(params)}


def renamed(row: Row, known: Pools) -> Exchange:
    """The exchange of `sft`, with its names replaced. Raises what that raises."""
    exchange = sft(row)
    mapping = _mapping(row, exchange, known)
    kinds = names_of(row)
    prose = {
        old: new
        for old, new in mapping.items()
        if kinds.get(old) not in (LOCAL, None)
        and (len(old) > _SHORT_IN_PROSE or kinds[old] == SIZE)
    }
    question, answer, reasons = (
        _replaced(text, mapping, prose)
        for text in (exchange.question, exchange.answer, exchange.reasons)
    )
    return Exchange(question, answer, reasons)


def _mapping(row: Row, exchange: Exchange, known: Pools) -> dict[str, str]:
    """New names by old ones, no two alike and none that either text has already."""
    text = f"{exchange.question}\n{exchange.answer}\n{exchange.reasons}"
    # What stands behind a point is a part of something, and a struct declares it without the point.
    parts = set(re.findall(r"\.\s*([A-Za-z_]\w*)", text))
    parts |= {field["name"] for arg in row["args"] for field in arg["fields"] or ()}
    used = set(_WORD.findall(text))
    stream = Stream(f"renamed/{row['id']}")
    mapping: dict[str, str] = {}
    for name, kind in names_of(row).items():
        if name not in parts and (free := [n for n in known.get(kind, ()) if n not in used]):
            mapping[name] = stream.choice(free)
            used.add(mapping[name])
    # C++ has `half_` where Python has `half`: one thing, whose name is free in both from now on.
    plain = {name: name.removesuffix("_") for name in mapping}
    mapping |= {name: mapping[other] for name, other in plain.items() if other in mapping}
    return mapping | _derived(exchange.answer, mapping, used, parts)


def _derived(
    answer: str, mapping: Mapping[str, str], used: set[str], parts: set[str]
) -> dict[str, str]:
    """Names that the CUDA made of others, as `x_tile`, `next_x` or `x2`."""
    found: dict[str, str] = {}
    words = {word for word in _WORD.findall(answer) if not word.startswith("__")}
    for word in sorted(words - mapping.keys() - parts):
        for old, new in mapping.items():
            part = rf"(^|_){old}(?=\d?(_|$))"
            if len(old) > _SHORT_IN_PROSE and re.search(part, word):
                made = re.sub(part, rf"\g<1>{new}", word)
                if made not in used:
                    found[word] = made
                    used.add(made)
                break
    return found


def _replaced(text: str, code: Mapping[str, str], prose: Mapping[str, str]) -> str:
    pieces = _CODE.split(text)
    return "".join(
        _WORD.sub(lambda m, table=code if k % 2 else prose: table.get(m[0], m[0]), piece)
        for k, piece in enumerate(pieces)
    )
