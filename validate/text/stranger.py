"""Plain CUDA of strangers: made plain to read, and refused where it could mean something else.

`validate.text.plain.fault` reads a text with patterns; this makes sure that the compiler reads the
same. What the judge compiles is the cleaned text: lines joined, comments gone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from validate.text import plain as plain_unit

MOST_CHARACTERS = 65536

_SPLICE = re.compile(r"\\[ \t]*\n")
_LEXEME = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_HASH_INSIDE = re.compile(r"^(?![ \t]*#)[^\n#]*#|^[ \t]*#[^\n]*#", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b(.*)$", re.MULTILINE)
_INCLUDED = re.compile(r"\s*(?:<[\w./]+>|\"[\w./]+\")\s*")
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma\b[ \t]*(.*)$", re.MULTILINE)
_PRAGMAS = re.compile(r"(?:unroll|nounroll|once|nv_diag\w*)\b[\w \t()+*/,-]*")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_UNDEF = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
# Literals that a kernel may need; none of them can hide code, braces or a comment.
_LITERAL = re.compile(r"\"[\w ,.:;<>=()+-]*\"|'(?:[\w +.-]|\\[0nt])'")

# Each with what to say of it.
_REFUSED = (
    (re.compile(r"\\[uUN]"), "a character by its number"),
    (re.compile(r"<%|%>|<:|:>|%:"), "a digraph"),
    (re.compile(r"##"), "## (names made of pieces)"),
    (re.compile(r"\[\s*\["), "an attribute"),
    (re.compile(r"\w*pairsmith\w*", re.IGNORECASE), "a name of the judge's own"),
    (re.compile(r"\b__has_\w+"), "a question about files or the compiler"),
    (re.compile(r"\b_*(?:set|long|sigset|siglong)jmp\b"), "a jump out of the kernel"),
    (re.compile(r"\b(?:get|set|swap|make)context\b"), "a jump out of the kernel"),
    (re.compile(r"\b(?:malloc|free|calloc|realloc|alloca)\s*\("), "memory from the system"),
    (re.compile(r"\bgoto\s*\*"), "a jump to an address"),
    (re.compile(r"\b(?:import|module|module)\s*[<;]|\bnamespace\s+std\b"), "a module or std"),
    (re.compile(r"\b__(?:start|stop|tsan|sanitizer|cxa|gxx)_?\w*"), "a name of the machine's"),
    (
        re.compile(r"\b__(?:float128|int128)\b|\b__builtin\w*\s*\(\s*\"|\b_Pragma\b"),
        "what is no CUDA",
    ),
)


def cleaned(text: str) -> str:
    """The text without comments and with spliced lines joined."""
    joined = _SPLICE.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n"))
    return _LEXEME.sub(_without_comment, joined)


def _without_comment(match: re.Match[str]) -> str:
    lexeme = match[0]
    return " " + "\n" * lexeme.count("\n") if lexeme.startswith(("//", "/*")) else lexeme


def prepared(text: Any) -> tuple[str, str]:
    """The text to compile, and why it must not be (empty when it may).

    A kernel without C linkage is given it.
    """
    if not isinstance(text, str):
        return "", "error: is no text"
    if len(text) > MOST_CHARACTERS:
        return "", f"error: is longer than {MOST_CHARACTERS} characters"
    clean = cleaned(text)
    if not plain_unit.kernel_names(clean):
        clean = re.sub(r"\b__global__\b", 'extern "C" __global__', clean)
    problem = _problem(clean)
    return clean, f"error: {problem} cannot stand in a kernel's text" if problem else ""


def closed(text: str) -> bool:
    """Whether braces never close more than is open: such a text stays in its namespace."""
    depth = 0
    for brace in re.findall(r"[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _problem(text: str) -> str:
    bare = _LITERAL.sub(" ", _INCLUDE.sub(" ", text))
    if _CONTROL.search(text):
        return "a control character"
    if cleaned(text) != text or re.search(r"[\"'\\]|\?\?", bare):
        return "a string, backslash or trigraph"
    for pattern, what in _REFUSED:
        if pattern.search(text):
            return what
    return _bad_directive(text) or ("" if closed(text) else "a brace without its other")


def _bad_directive(text: str) -> str:
    if _HASH_INSIDE.search(text):
        return "# inside a line"
    for rest in _INCLUDE.findall(text):
        if not _INCLUDED.fullmatch(rest):
            return f"#include{rest}"
    for rest in _PRAGMA.findall(text):
        if not _PRAGMAS.fullmatch(rest.strip()):
            return f"#pragma {rest}"
    defined = set(_DEFINE.findall(text))
    for name in sorted(defined):
        if name in _reserved() or name.startswith("__"):
            return f"#define {name}"
    strange = set(_UNDEF.findall(text)) - defined
    return f"#undef {min(strange)}" if strange else ""


@lru_cache(maxsize=1)
def _reserved() -> frozenset[str]:
    """Names that macros must not change: those that the judge's own text uses after a kernel's."""
    row = {"cuda_plain": 'extern "C" __global__ void kernel() {}'}
    unit = plain_unit.translation_unit([row])
    shim, _, after = unit.partition('#line 1 "cuda_plain"')
    words = _WORD.findall(_LITERAL.sub("", after))
    inside = re.findall(r"\bpairsmith::(\w+)", shim)
    builtin = ("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize")
    return frozenset({*words, *inside, *builtin} - {"kernel"})
