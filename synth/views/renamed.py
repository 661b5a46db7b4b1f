"""The view `renamed`: Warp Python to plain CUDA under names that say nothing of a purpose.

Names of one idiom go together, so a model can learn which name follows which instead of reading.
Here the program itself gets other names, each of them by what the thing is (an input, an output, a
size, a helper), and its texts are printed anew: a name is the same in code, shapes, ranges and
reasons, and none says what is not so. Docstrings and comments, which speak in the old words, are
left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from generators.program.serialise import from_json
from synth.reasons import ViewReason
from synth.render import warp as render_warp
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.views.exchange import Exchange
from synth.views.plain import needs, pick
from synth.views.texts import sft

Row = Mapping[str, Any]
Node = dict[str, Any]

KERNEL, FUNCTION, STRUCT, FIELD = "kernel", "function", "struct", "field"
INPUT, OUTPUT, IN_PLACE, SCALAR = "input", "output", "in_place", "scalar"
SIZE, THREAD, TURN, LOCAL = "size", "thread", "turn", "local"
KINDS = (
    *(KERNEL, FUNCTION, STRUCT, FIELD, INPUT, OUTPUT),
    *(IN_PLACE, SCALAR, SIZE, THREAD, TURN, LOCAL),
)
"""What things are; a name that stands for several is of the first."""

_FAMILIES: dict[str, Sequence[str]] = {
    KERNEL: ("kernel", "run", "compute", "step", "work"),
    FUNCTION: ("helper", "func", "part", "sub"),
    STRUCT: ("Record", "Item", "Entry", "Pack"),
    FIELD: ("field", "part", "slot", "member"),
    INPUT: ("src", "x", "arg", "given", "a"),
    OUTPUT: ("dst", "out", "y", "result", "z"),
    IN_PLACE: ("acc", "buf", "state", "io"),
    SCALAR: ("p", "c", "coef", "param"),
    SIZE: ("n", "len", "dim", "num"),
    THREAD: ("i", "tid", "idx", "t"),
    TURN: ("j", "it", "k", "turn"),
    LOCAL: ("v", "tmp", "val", "u"),
}
"""Stems, of which a row takes one of each kind and numbers them; no two of a kind are alike."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_STRUCT_IN_TYPE = re.compile(r"[A-Za-z_]\w*(?![\w\[])")
"""A word of a type that nothing in brackets follows: `quat[float32]` is no struct, whatever a
local is called."""
_NAMES = ("name", "function", "field", "symbol")
_SIZED = ("shape", "launch_dim", "init")
_TYPED = ("type", "result", "dtype")


def renamed(row: Row) -> Exchange:
    """The exchange of `sft` under other names. Raises what that raises."""
    needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    return sft(under_other_names(row, new_names(row)))


def new_names(row: Row) -> dict[str, str]:
    """A new name for each that the row chose, no two alike and none that its texts have already."""
    tree = json.loads(row["program"])
    kinds: dict[str, str] = {}
    for name, kind in sorted(_named(tree), key=lambda one: KINDS.index(one[1])):
        kinds.setdefault(name, kind)
    used = set(_WORD.findall(f"{row['python']}\n{row['cuda_plain']}"))
    found: dict[str, str] = {}
    for kind in KINDS:
        names = [name for name in kinds if kinds[name] == kind]
        stems = _FAMILIES[kind]
        stem = stems[pick(row, f"renamed/{kind}", len(stems))]
        for name, new in zip(names, _numbered(stem, len(names), used), strict=True):
            found[name] = new
            used.add(new)
    return found


def _numbered(stem: str, count: int, used: set[str]) -> list[str]:
    """``src`` of one, ``src0``, ``src1`` of more."""
    if count == 1 and stem not in used:
        return [stem]
    free = (f"{stem}{n}" for n in range(count + len(used)) if f"{stem}{n}" not in used)
    return [next(free) for _ in range(count)]


def _named(node: Any) -> Iterator[tuple[str, str]]:
    """Each name of a program as JSON, in order, and what it stands for."""
    if isinstance(node, list):
        for item in node:
            yield from _named(item)
    if not isinstance(node, dict):
        return
    kind = node.get("_")
    if kind in ("Kernel", "TiledKernel"):
        yield node["name"], KERNEL
        yield from ((name, THREAD) for name in node["threads"])
    elif kind == "Function":
        yield node["name"], FUNCTION
        yield from ((param["name"], LOCAL) for param in node["params"])
    elif kind == "Param":
        yield node["name"], _kind_of_param(node)
    elif kind == "Size":
        yield node["symbol"], SIZE
    elif kind == "For":
        yield node["name"], TURN
    elif kind in ("Assign", "AugAssign", "Sample", "TileMatmul"):
        yield node["name"], LOCAL
    elif kind is None and {*node} == {"name", "fields"}:
        yield node["name"], STRUCT
        yield from ((name, FIELD) for name, _ in node["fields"])
    for item in node.values():
        yield from _named(item)


def _kind_of_param(node: Node) -> str:
    if not node["shape"]:
        return SCALAR
    return {"in": INPUT, "out": OUTPUT}.get(node["role"], IN_PLACE)


def under_other_names(row: Row, names: Mapping[str, str]) -> dict[str, Any]:
    """The row with its texts, arguments and sizes under other names, without comments."""
    program = from_json(json.dumps(_renamed(json.loads(row["program"]), names)))
    schedule = Schedule.from_json(row["schedule"])
    plain = render(program, replace(schedule, limits=""))
    columns = {name: _renamed(row[name], names) for name in ("args", "sizes", "regime")}
    launch = {**row["launch"], "dim": [_said(dim, names) for dim in row["launch"]["dim"]]}
    made = {
        **{**row, **columns, **plain.columns()},
        **{"launch": launch, "schedule": row["schedule"]},
        "kernel_name": names[row["kernel_name"]],
        "python": render_warp.render(program),
    }
    made["program"] = json.dumps(_renamed(json.loads(row["program"]), names))
    return made


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A tree or column with its names replaced and its comments gone."""
    if isinstance(node, list):
        kept = [i for i in node if not (isinstance(i, dict) and i.get("_") == "Comment")]
        return [_renamed(item, names) for item in kept]
    if not isinstance(node, dict):
        return node
    found: Node = {}
    for key, value in node.items():
        if key in _NAMES and isinstance(value, str):
            found[key] = names.get(value, value)
        elif key == "threads":
            found[key] = [names[name] for name in value]
        elif key in (*_SIZED, *_TYPED) and value is not None:
            texts = value if isinstance(value, list) else [value]
            changed = [_changed(key, text, names) for text in texts]
            found[key] = changed if isinstance(value, list) else changed[0]
        elif key == "fields" and value and isinstance(value[0], list):
            found[key] = [[names[name], _typed(of, names)] for name, of in value]
        else:
            found[key] = "" if key == "doc" else _renamed(value, names)
    return found


def _changed(key: str, text: str, names: Mapping[str, str]) -> str:
    if key == "init":
        return _init(text, names)
    return _typed(text, names) if key in _TYPED else _said(text, names)


def _typed(text: str, names: Mapping[str, str]) -> str:
    return _STRUCT_IN_TYPE.sub(lambda word: names.get(word[0], word[0]), text)


def _init(text: str, names: Mapping[str, str]) -> str:
    kind, colon, size = text.partition(":")
    return f"{kind}{colon}{_said(size, names)}"


def _said(text: str, names: Mapping[str, str]) -> str:
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text)
