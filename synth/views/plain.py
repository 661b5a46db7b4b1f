"""What is asked of plain CUDA, and how an answer gives it: reasons, the text, its launch."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from synth.reasons import ViewReason
from synth.render.cuda.style import styles
from synth.render.cuda.styles.vectors import VECTORS
from synth.views.accesses import wide_request
from synth.views.layout import choice_of
from synth.views.promise import promise_clause
from synth.views.sizes import regime_clause, said, shapes_clause, size_names
from validate.text.launches import FORMULA

Row = Mapping[str, Any]


_STRUCT = re.compile(r"^struct (__align__\(\d+\) )?(\w+) \{(.*?)^\};", re.DOTALL | re.MULTILINE)


class LeftOut(Exception):  # noqa: N818 - no error: a row that a view has no use for
    """A row has nothing for a view; ``reason`` is counted."""

    def __init__(self, reason: ViewReason) -> None:
        super().__init__(reason)
        self.reason = reason


def needs(row: Row, column: str, reason: ViewReason) -> str:
    """A text of the row. Raises :class:`LeftOut` where it has none."""
    text = row[column]
    if text is None:
        raise LeftOut(reason)
    return str(text)


def pick(row: Row, what: str, count: int) -> int:
    """A number below ``count`` that follows from the row's id and what it is for."""
    digest = hashlib.sha256(f"{what}/{row['id']}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count


def fenced(language: str, text: str) -> str:
    """A text as a block of Markdown."""
    return f"```{language}\n{text.strip(chr(10))}\n```"


def plain_answer(row: Row) -> str:
    """The plain CUDA of a row, and its launch as JSON."""
    return f"{fenced('cuda', row['cuda_plain'])}\n\n{fenced('json', launch_json(row))}"


def is_free(row: Row) -> bool:
    """Whether questions on a row leave blocks and style to the answer: about every second one. A
    layout that is more than one thread an element without being quicker is always asked for."""
    if pick(row, "free", 4) == 0:
        return False
    choice = choice_of(row)
    return choice is None or not choice.is_for_nothing


def wanted(row: Row, free: bool | None = None) -> str:
    """What is asked of plain CUDA beyond what it computes: the signature, and where it is not
    ``free``, by default as the row is, the block and the style."""
    free = is_free(row) if free is None else free
    args = ", ".join(f"{arg['type']} {arg['name']}" for arg in row["plain_args"])
    asked = [_signature(row, args, free)]
    asked += [
        structs_clause(row, args),
        shapes_clause(row),
        regime_clause(row),
        promise_clause(row),
    ]
    if not free:
        asked.append(_layout(row))
    return " ".join(part for part in asked if part)


def _signature(row: Row, args: str, free: bool) -> str:
    block = " x ".join(map(str, row["plain_launch"][0]["block"]))
    if free:
        if len(row["plain_launch"]) > 1:
            return (
                f"Take of `{args}` what is needed; several kernels are allowed. End with the "
                "launches in order and their scratch memory as JSON."
            )
        return (
            f"The signature is `{row['kernel_name']}({args})`. Choose blocks and grid, and end "
            "with the launch as JSON."
        )
    if len(row["plain_launch"]) > 1:
        return (
            f"The kernels have blocks of {block} threads and take of `{args}` what they need. "
            "Tell their launches in order and their scratch memory as JSON."
        )
    return (
        f"The signature is `{row['kernel_name']}({args})`, for blocks of {block} threads. End "
        "with the launch as JSON."
    )


def _layout(row: Row) -> str:
    """The style that is asked for."""
    schedule = json.loads(row["schedule"])
    width = schedule.get("vector_width", 1)
    asked = [
        wide_request(row, width)
        if schedule["style"] == VECTORS
        else styles()[schedule["style"]].asks(schedule)
    ]
    if schedule.get("launch_bounds"):
        asked.append("Declare the launch bounds.")
    return " ".join(part for part in asked if part)


def structs_clause(row: Row, signature: str) -> str:
    """The structs that a signature needs, in a sentence."""
    structs = " and ".join(f"`{struct}`" for struct in _structs(row, signature))
    return f"There, {structs}." if structs else ""


def _structs(row: Row, signature: str) -> list[str]:
    """Declarations of the structs that a signature needs, each in one line, in the text's order."""
    found = re.findall(_STRUCT, row["cuda_plain"] or "")
    declared = {name: " ".join(body.split()) for _, name, body in found}
    aligned = {name: align for align, name, _ in found}
    needed: set[str] = set()
    left = [signature]
    while left:
        words = {word for word in re.findall(r"\w+", left.pop()) if word in declared}
        left += [declared[name] for name in words - needed]
        needed |= words
    return [
        f"struct {aligned[name]}{name} {{ {body} }};"
        for name, body in declared.items()
        if name in needed
    ]


def launch_json(row: Row) -> str:
    """The launches of a row, with parameters' names for sizes, as `pairsmith score` reads them: one
    object for a kernel; of several an entry a line, and their scratch memory."""
    names = size_names(row)
    if len(row["plain_launch"]) == 1:
        (one,) = row["plain_launch"]
        return json.dumps(_extents(one, names))
    launches = [
        {
            "kernel": one["kernel"],
            "args": [said(a, names) if a.startswith(FORMULA) else a for a in one["args"]],
            **_extents(one, names),
        }
        for one in row["plain_launch"]
    ]
    scratch = [{**entry, "count": said(entry["count"], names)} for entry in row["plain_scratch"]]
    lists = [("launches", launches), ("scratch", scratch)]
    parts = [
        f'  "{key}": [\n' + ",\n".join(f"    {json.dumps(entry)}" for entry in entries) + "\n  ]"
        for key, entries in lists
        if entries
    ]
    return "{\n" + ",\n".join(parts) + "\n}"


def _extents(launch: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    shared = launch["shared_bytes"]
    return {
        "grid": [said(extent, names) for extent in launch["grid"]],
        "block": launch["block"],
        **({"shared_bytes": shared} if shared else {}),
    }
