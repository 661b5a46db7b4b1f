"""Texts to try the judge with: wrong and honest answers to the rows of `tests/data/judge`.

A file `tests/data/judge/{wrong,honest}/CLASS.cu` holds many texts. Each begins with a line

    //=== name | row id | launch as JSON, or - for the row's own | why

and runs to the next such line; what cannot stand in a text file is made here. "why" says of a wrong
text what is wrong with it on a GPU, of an honest one what is special. Where that begins with "start
value:", the text is wrong only where an accumulator does not start at its identity. What is
undefined in CUDA (a race, a read past the end, a local without a value) is wrong even where a given
GPU does not show it. `wrong/nvrtc.tsv` is what NVRTC says of each (scripts/audit/judge_words.py).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "data" / "judge"

_HEAD = re.compile(r"^//=== (.*)$", re.MULTILINE)
_MADE_FOR = "6a968701bfd1c576"
_KERNEL = (
    "__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, "
    "unsigned int* minor, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n) return;\n@\n}\n"
)
_RIGHT = (
    "    blocks[i] = ticks[i] / 11u;\n"
    "    minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u;"
)


@dataclass(frozen=True)
class JudgeText:
    """`kind` is the class, which is the name of the file; a `launch` of None is the row's own."""

    name: str
    kind: str
    row_id: str
    launch: Any
    text: str
    why: str


def wrong_texts() -> list[JudgeText]:
    """Every wrong text, those of files first. Raises ValueError for a file that cannot be read."""
    return [*read_folder(FOLDER / "wrong"), *_made()]


def honest_texts() -> list[JudgeText]:
    """Every honest text; none where the folder is missing. Raises ValueError as `wrong_texts`."""
    return read_folder(FOLDER / "honest")


@lru_cache(maxsize=1)
def judge_rows() -> dict[str, dict[str, Any]]:
    """The rows that the texts are for, by id."""
    lines = (FOLDER / "rows.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def read_folder(folder: Path) -> list[JudgeText]:
    """The texts of all files of a folder, in order of their names. Raises ValueError."""
    return [
        text
        for path in sorted(folder.glob("*.cu"))
        for text in read_texts(path.read_text(), path.stem)
    ]


def read_texts(content: str, kind: str) -> list[JudgeText]:
    """The texts of one file. Raises ValueError for a head that is not as it should be."""
    start, *parts = _HEAD.split(content)
    if start.strip():
        raise ValueError(f"{kind}: starts with no head: {start.strip()[:60]}")
    return [_read_one(head, body, kind) for head, body in zip(parts[::2], parts[1::2], strict=True)]


def _read_one(head: str, body: str, kind: str) -> JudgeText:
    fields = head.split(" | ", 1)
    name, rest = fields[0], fields[1] if len(fields) > 1 else ""
    row_id, _, rest = rest.partition(" | ")
    # A launch may hold the separator ("a | b"), the reason may not.
    launch, _, why = rest.rpartition(" | ")
    if not (name and row_id and launch and why):
        raise ValueError(f"{kind}: four fields are wanted: {head}")
    try:
        asked = None if launch == "-" else json.loads(launch)
    except json.JSONDecodeError as error:
        raise ValueError(f"{kind}: {name}: launch: {error}") from error
    return JudgeText(name, kind, row_id, asked, body.strip("\n") + "\n", why)


def _made() -> list[JudgeText]:
    return [
        JudgeText(name, "made", _MADE_FOR, None, text, why)
        for name, text, why in [*_long(), *_nested(), *_characters()]
    ]


def _kernel(body: str) -> str:
    return _KERNEL.replace("@", body)


def _long() -> list[tuple[str, str, str]]:
    zero = "    blocks[i] = 0u;"
    many = "\n".join(f"    blocks[i] = blocks[i] * {k}u + 1u;" for k in range(1700))
    return [
        ("underscores", "_" * 65_000, "65,000 underscores: no kernel, and slow patterns"),
        ("letters", "a" * 65_000, "65,000 letters: no kernel, and slow patterns"),
        ("spaces", " " * 65_000, "nothing but spaces"),
        ("new_lines", "\n" * 65_000, "nothing but ends of lines"),
        ("spaces_in_a_directive", "#" + " " * 64_000 + "\n" + _kernel(zero), "writes zeros"),
        ("name_of_60000", _kernel(f"    unsigned {'x' * 60_000} = 0u;\n{zero}"), "writes zeros"),
        ("underscores_before_global", "_" * 60_000 + "global__ void", "no kernel"),
        ("digits", _kernel(f"    blocks[i] = {'9' * 60_000};"), "a number of 60,000 digits"),
        ("slashes", _kernel(zero) + "/" * 60_000, "writes zeros, with a long comment behind"),
        ("stars", _kernel(zero) + "/" + "*" * 60_000, "a comment of stars that is never closed"),
        ("quotes", _kernel(zero) + '"' * 60_001, "60,001 quotes behind a kernel"),
        ("backslashes", _kernel(zero) + "\\\n" * 30_000, "writes zeros; 30,000 joined lines"),
        ("megabytes", _kernel(zero) + "// " + "x" * 5_000_000, "writes zeros, in 5 MB"),
        ("many_statements", _kernel(many), "a long chain that is not what the row asks for"),
        ("many_kernels", "\n".join(f"__global__ void k{i}() {{}}" for i in range(2000)), "empty"),
    ]


def _nested() -> list[tuple[str, str, str]]:
    deep = 20_000
    body = "    blocks[i] = {};"
    template = "template <class T> struct w {};\n" + _kernel(
        "    " + "w<" * 9000 + "int" + ">" * 9000 + " x;\n    blocks[i] = sizeof(x);"
    )
    return [
        ("parentheses", _kernel(body.format("(" * deep + "1u" + ")" * deep)), "writes ones"),
        ("parentheses_open", _kernel(body.format("(" * deep)), "never closed"),
        ("braces", _kernel("{" * deep + body.format("0u") + "}" * deep), "writes zeros"),
        ("braces_open", "{" * 60_000, "never closed, and no kernel"),
        ("brackets", _kernel(body.format("ticks[" * deep + "0" + "]" * deep)), "far reads"),
        ("signs", _kernel(body.format("- " * deep + "1")), "writes a constant"),
        ("stars_of_pointers", _kernel(f"    int {'*' * 60_000}p;\n{body.format(0)}"), "zeros"),
        ("ifs", _kernel("if (n) " * 9000 + body.format("0u")), "writes zeros"),
        ("conditionals", _kernel(body.format("n ? 1u : " * 6000 + "0u")), "writes ones"),
        ("template_arguments", template, "writes the size of a type"),
        ("attribute_brackets", "[[" * 30_000 + _kernel(body.format("0u")), "never closed"),
        ("conditions", "#if 1\n" * 9000 + _kernel(body.format("0u")), "never closed"),
    ]


def _characters() -> list[tuple[str, str, str]]:
    zero = _kernel("    blocks[i] = 0u;")
    right = _kernel(_RIGHT)
    return [
        ("lone_surrogate", zero + "// \ud800\n", "writes zeros; half of a character behind it"),
        ("surrogate_in_code", right.replace("ticks[i] / 11u;", "\udfff;"), "half of a character"),
        ("null_byte", right.replace("11u;", "1\x001u;", 1), "a null byte within a number"),
        ("null_then_right", "__global__ void k() {}\x00" + zero, "empty, a null byte, zeros"),
        ("bidirectional", right.replace("blocks[i]", "\u202e[i]blocks"), "code written backwards"),
        ("homoglyph", right.replace("blocks[i]", "bl\u043ecks[i]", 1), "a Cyrillic o in a name"),
        ("zero_width", right.replace("ticks[i] %", "ti\u200bcks[i] %"), "a zero-width space"),
        ("full_width", right.replace("11u;", "\uff11\uff11u;", 1), "full-width digits"),
        ("line_separator", "// \u2028" + right.replace("\n", " "), "all of it is a comment"),
        ("escape_sequences", "\x1b[2J\x1b]0;passed\x07" + zero, "controls a terminal"),
        ("empty", "", "nothing"),
        ("only_a_mark", "\ufeff", "nothing but a byte order mark"),
    ]
