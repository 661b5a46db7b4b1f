"""The tokens of plain CUDA: names, numbers, casts and signs, in their places."""

from __future__ import annotations

import re
from dataclasses import dataclass

from validate.mutants.plain.tables import CASTS

_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*)"
    rf"|(?P<cast>\((?:{'|'.join(CASTS)})\)(?=[\w(.+-])|\w+_cast<[^<>]*>)"
    r"|(?P<number>0x[0-9a-f]+u?l*|(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[+-]?\d+)?f?|\d+u?l*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Token:
    """A piece of code; `kind` is name, number, cast or sign, `start` its place in the text."""

    text: str
    kind: str
    start: int

    @property
    def end(self) -> int:
        """The place behind its last character."""
        return self.start + len(self.text)

    @property
    def is_real(self) -> bool:
        """Whether it is a literal of a float."""
        hexadecimal = self.text.startswith("0x")
        return self.kind == "number" and not hexadecimal and ("." in self.text or "e" in self.text)


def body_tokens(text: str, start: int) -> tuple[Token, ...]:
    """The tokens from an opening brace to its closing one, without comments and directives."""
    tokens, depth = [], 0
    for match in _TOKEN.finditer(text, start):
        kind = str(match.lastgroup)
        if kind == "skip":
            continue
        tokens.append(Token(match[0], kind, match.start()))
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0:
            break
    return tuple(tokens)
