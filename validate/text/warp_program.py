"""The CUDA text of several rows as one program, and what in a row's text forbids sharing one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

COLUMNS = ("cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward")

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_SPLICE = re.compile(r"\\[ \t\r]*\n")
_DIRECTIVE_START = r"(?:#|%:|\?\?=)(?:\s|/\*.*?\*/)*"
_INCLUDE = re.compile(
    _DIRECTIVE_START + r"(include|include_next|import|embed)\b([^\n]*)", re.DOTALL
)
_PLAIN_INCLUDE = re.compile(r'\s*"(?!/)(?!.*\.\.)[\w./-]+"\s*')
# Everything by which a text could reach beyond its own namespace, or hide its braces.
_NOT_PLAIN = re.compile(
    r"#|%:|\?\?|\\|<%|%>|/\*|[\"']|\b(?:extern|namespace|using|asm|__asm__|__asm|template|friend)\b"
    r"|\bpairsmith_|_Pragma|__attribute__|\[\["
)
# In nearly all texts there is none of these; looking for them is quick.
_HINTS = (
    "#",
    "%:",
    "??",
    "\\",
    "<%",
    "%>",
    "/*",
    '"',
    "'",
    "[[",
    "_Pragma",
    "__attribute__",
    "asm",
    "extern",
    "namespace",
    "using",
    "template",
    "friend",
    "pairsmith_",
)
_COMMENT = re.compile(r"//[^\n]*")
_ANY_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_STRUCT = re.compile(r"\bstruct\s+(\w+)")
_FUNCTION = re.compile(r"(\w+)\s*\(")
# Overloads that Warp makes for a struct; their parameters are of the row's own types.
_FOR_STRUCTS = {"add", "adj_atomic_add"}


def fault(row: Mapping[str, Any]) -> str:
    """Why the texts of a row must not reach a compiler at all; empty when they may."""
    if not isinstance(row["kernel_name"], str) or not _IDENTIFIER.fullmatch(row["kernel_name"]):
        return "kernel_name is not an identifier"
    for column in COLUMNS:
        text = row[column]
        if text is None and column == "cuda_backward":
            continue
        if not isinstance(text, str):
            return f"{column} is not a text"
        if "\0" in text:
            # A C string ends here, and what follows would never be read.
            return f"{column} holds a NUL character"
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"{column} is not valid Unicode: {error}"
        for match in _INCLUDE.finditer(_SPLICE.sub("", text)):
            if column != "cuda_prologue" or not _PLAIN_INCLUDE.fullmatch(match[2]):
                line = text.count("\n", 0, match.start()) + 1
                return (
                    f"{column}({line}): error: {match[1]}{match[2].rstrip()}: "
                    "only the prologue may include, and only Warp's headers"
                )
    return ""


def words_of(include_dir: Path) -> frozenset[str]:
    """Every identifier in the code of a folder's headers; their comments are prose."""
    found: set[str] = set()
    for path in include_dir.glob("*.h"):
        text = path.read_text(encoding="utf-8", errors="replace")
        found.update(_WORD.findall(_ANY_COMMENT.sub(" ", text)))
    return frozenset(found)


def is_plain(row: Mapping[str, Any], header_words: frozenset[str]) -> bool:
    """Whether the row means the same among others, in a namespace, as it does alone.

    True for the form that Warp writes. Any other row is compiled alone, where nothing of its
    neighbours can help or harm it.
    """
    helpers = _COMMENT.sub("", row["cuda_helpers"])
    return stays_inside(row) and _names_are_its_own(helpers, header_words)


def stays_inside(row: Mapping[str, Any]) -> bool:
    """Whether nothing in a row's texts can reach beyond the namespace that they are put in."""
    kernels = [("forward", row["cuda_forward"]), ("backward", row["cuda_backward"])]
    bare = [_COMMENT.sub("", row["cuda_helpers"])]
    for way, text in kernels:
        if text is not None:
            start = f'extern "C" __global__ void {row["kernel_name"]}_cuda_kernel_{way}('
            bare.append(_COMMENT.sub("", text).replace(start, "(", 1))
    return all(_closed(text) and not _reaches_out(text) for text in bare)


def _reaches_out(text: str) -> bool:
    hinted = any(hint in text for hint in _HINTS)
    return hinted and _NOT_PLAIN.search(text) is not None


def _names_are_its_own(helpers: str, header_words: frozenset[str]) -> bool:
    """Whether no name of the helpers is one of the headers: alone, the two would collide."""
    structs = set(_STRUCT.findall(helpers))
    if structs & header_words:
        return False
    outermost = _outside_braces(helpers)
    own = structs | {f"adj_{name}" for name in structs} | (_FOR_STRUCTS if structs else set())
    return all(
        name in own or (re.search(r"_\d+$", name) and name not in header_words)
        for name in _FUNCTION.findall(outermost)
    )


def _outside_braces(text: str) -> str:
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            if depth == 0:
                parts.append(text[start : match.start()])
            depth += 1
        else:
            depth -= 1
            start = match.end()
    return ";".join([*parts, text[start:]])


def entry_names(rows: Sequence[Mapping[str, Any]], position: int) -> list[str]:
    """The names that the kernels of a row bear in `program`."""
    row = rows[position]
    ways = ["forward"] if row["cuda_backward"] is None else ["forward", "backward"]
    if len(rows) == 1:
        return [f"{row['kernel_name']}_cuda_kernel_{way}" for way in ways]
    return [f"pairsmith_kernel_{position}_{way}" for way in ways]


def program(rows: Sequence[Mapping[str, Any]]) -> str:
    """One program for rows that share a prologue; rows that are not plain only ever alone.

    Several rows get a namespace each and their kernels other names (extern "C" functions of one
    name are one function whatever their namespace); a row alone is as it stands. `#line` names
    `<position>/<column>`, for a row alone the column.
    """
    # The precompiled header ends at the pragma; `#line` before it would forbid one.
    parts = [rows[0]["cuda_prologue"], "\n#pragma nv_hdrstop\n"]
    for position, row in enumerate(rows):
        if len(rows) == 1:
            parts.append(_columns(row, ""))
            continue
        names = [f"{row['kernel_name']}_cuda_kernel_{way}" for way in ("forward", "backward")]
        for name, own in zip(names, ("forward", "backward"), strict=True):
            parts.append(f"#define {name} pairsmith_kernel_{position}_{own}\n")
        parts.append(f"namespace pairsmith_row_{position} {{\n")
        parts.append(_columns(row, f"{position}/"))
        parts.append("}\n")
        parts += [f"#undef {name}\n" for name in names]
    return "".join(parts)


def _columns(row: Mapping[str, Any], prefix: str) -> str:
    return "".join(
        f'#line 1 "{prefix}{column}"\n{row[column]}\n'
        for column in COLUMNS[1:]
        if row[column] is not None
    )


def rows_named(log: str) -> list[int]:
    """The positions that a log of several rows names, in order."""
    found = re.findall(r"\b(\d+)/cuda_(?:help|for|back|plain)", log)
    return sorted({int(number) for number in found})


def _closed(text: str) -> bool:
    """Whether braces never close more than is open: such a text stays in its namespace."""
    depth = 0
    for brace in re.findall(r"[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0
