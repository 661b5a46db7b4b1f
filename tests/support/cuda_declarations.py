"""Functions that CUDA's headers declare for device code, as their text says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADERS = (
    *("sm_20_intrinsics.h", "sm_30_intrinsics.h", "sm_32_intrinsics.h", "sm_35_intrinsics.h"),
    *("sm_61_intrinsics.h", "device_atomic_functions.h", "sm_20_atomic_functions.h"),
    *("sm_32_atomic_functions.h", "sm_60_atomic_functions.h", "vector_functions.h"),
    *("cuda_fp16.h", "cuda_bf16.h"),
)
"""Those of CUDA's wheel that declare functions; its `crt` folder has a wheel of its own."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_WORDS = re.compile(
    r"\b(?:__\w+__|__NV_SILENCE_\w+|extern|static|inline|constexpr|__THROW|__CUDA_MATH_CRTIMP|_CRTIMP|__cdecl|throw\s*\(\s*\))\s+"
)
_DECLARATION = re.compile(r"^([\w ]+?[ *]+)(\w+)\s*\(([^()]*)\)")
_BUILTIN = {"unsigned", "signed", "int", "long", "short", "char", "float", "double", "size_t"}
_NO_TYPES = {"return", "else", "typedef", "using", "struct", "class", "if", "template", "operator"}


@dataclass(frozen=True, order=True)
class Declaration:
    """`arguments` are types; `result` is one too."""

    name: str
    result: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.result} {self.name}({', '.join(self.arguments)})"


def declarations(header: str) -> Iterator[Declaration]:
    """What a header's text declares, member functions and operators left out."""
    text = _DIRECTIVE.sub("", _COMMENT.sub(" ", header))
    text = re.sub(r'extern\s*"C(?:\+\+)?"\s*\{?', " ", text)
    for statement in re.split(r"[;{}]|__DEF_IF_HOST", text):
        bare = " ".join(statement.split()) + " "
        while (shorter := _WORDS.sub("", bare)) != bare:
            bare = shorter
        match = _DECLARATION.match(bare.strip())
        if match and not _NO_TYPES & set(bare.split()):
            arguments = [a.strip() for a in match[3].split(",") if a.strip() not in ("", "void")]
            yield Declaration(match[2], match[1].strip(), tuple(map(_argument_type, arguments)))


def read(line: str) -> Declaration:
    """The declaration of a line that `str` made."""
    result, name, arguments = _DECLARATION.match(line).groups()  # type: ignore[union-attr]
    types = tuple(argument.strip() for argument in arguments.split(",") if argument.strip())
    return Declaration(name, result.strip(), types)


def declared_in(folder: Path, names: tuple[str, ...] = HEADERS) -> set[Declaration]:
    """What the named headers of a folder declare."""
    return {d for name in names for d in declarations((folder / name).read_text(errors="replace"))}


def _argument_type(argument: str) -> str:
    argument = argument.partition("=")[0]
    if "*" in argument:
        pointed, _, _ = argument.rpartition("*")
        return f"{' '.join(pointed.replace('*', ' * ').split())} *"
    words = argument.split()
    if len(words) > 1 and words[-1] not in _BUILTIN and words[-2] not in ("const", "volatile"):
        words.pop()
    return " ".join(words)
