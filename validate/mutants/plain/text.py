"""The functions of a plain CUDA text as tokens: brackets, operands, types, statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from validate.mutants.plain.tables import (
    ASSIGNMENTS,
    CASTS,
    FLOAT_FUNCTIONS,
    NO_OPERAND,
    PRECEDENCE,
    SCALARS,
    WORDS,
)

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


_DECLARED = re.compile(
    r"\b((?:unsigned |long |signed )?\w+)([*&]*) (?:__restrict__ )?(\w+)\b(?=[^\w])"
)
_STRUCT = re.compile(r"\bstruct \w+ \{(.*?)\n\};", re.DOTALL)
_FUNCTION = re.compile(r"__(?:device|global)__[^;{}]*?(\w+|operator\S+)\([^{;]*\{")
_RETURNS = re.compile(r"__device__ (?:__forceinline__ )?([\w ]+?) (\w+)\(")
_CLOSING = {")": "(", "]": "[", "}": "{"}
_OPENING = ("(", "[", "{")


@dataclass(frozen=True)
class Kinds:
    """What a whole text declares: types that functions return and that fields have."""

    returned: dict[str, str]
    fields: dict[str, str]
    structs: frozenset[str]


@dataclass(frozen=True)
class Code:
    """The body of one function; positions are those of `tokens`, the first is its brace."""

    name: str
    is_kernel: bool
    source: str
    head: str
    tokens: tuple[Token, ...]
    kinds: Kinds

    @cached_property
    def pair(self) -> dict[int, int]:
        """Each bracket's other one, both ways."""
        found: dict[int, int] = {}
        stack: list[int] = []
        for at, token in enumerate(self.tokens):
            if token.text in _OPENING:
                stack.append(at)
            elif token.text in _CLOSING:
                found[at] = stack.pop()
                found[found[at]] = at
        return found

    @cached_property
    def around(self) -> list[str]:
        """The innermost bracket that each token stands in."""
        found, stack = [], [""]
        for token in self.tokens:
            if token.text in _CLOSING:
                stack.pop()
            found.append(stack[-1])
            if token.text in _OPENING:
                stack.append(token.text)
        return found

    @cached_property
    def types(self) -> dict[str, str]:
        """The type of each parameter and local as written, without `const`."""
        text = f"{self.head} {self.text(0, len(self.tokens))}".replace("const ", "")
        return {
            name: f"{kind}{'*' if '*' in marks else ''}"
            for kind, marks, name in _DECLARED.findall(text)
            if kind not in WORDS and name not in WORDS
        }

    def text(self, first: int, end: int) -> str:
        """The source from one token to before another."""
        return (
            self.source[self.tokens[first].start : self.tokens[end - 1].end] if end > first else ""
        )

    def at(self, position: int) -> str:
        """A token's text; empty outside the function."""
        return self.tokens[position].text if 0 <= position < len(self.tokens) else ""

    def is_binary(self, at: int) -> bool:
        """Whether a token is an operator between two operands."""
        if self.at(at) not in PRECEDENCE or at == 0:
            return False
        before = self.tokens[at - 1]
        ends = before.kind in ("name", "number") or before.text in (")", "]")
        return ends and before.text not in NO_OPERAND

    def left_of(self, at: int) -> int:
        """Where the left operand of a binary operator starts."""
        level = PRECEDENCE[self.at(at)]
        while at > 0:
            before = self.at(at - 1)
            if before in (")", "]"):
                at = self.pair[at - 1]
                continue
            if self._stops(at - 1) or (self.is_binary(at - 1) and PRECEDENCE[before] < level):
                break
            at -= 1
        return at

    def right_of(self, at: int) -> int:
        """Where the right operand of a binary operator has ended."""
        level = PRECEDENCE[self.at(at)]
        at += 1
        while at < len(self.tokens):
            if self.at(at) in ("(", "["):
                at = self.pair[at] + 1
                continue
            if self._stops(at) or (self.is_binary(at) and PRECEDENCE[self.at(at)] <= level):
                break
            at += 1
        return at

    def _stops(self, at: int) -> bool:
        text = self.at(at)
        return text in NO_OPERAND or text in ASSIGNMENTS or text in ("{", "}", "(", "[", ")", "]")

    def split(self, first: int, end: int, sign: str = ",") -> list[tuple[int, int]]:
        """The parts of a range of tokens between signs that stand outside brackets."""
        parts, start, at = [], first, first
        while at < end:
            if self.at(at) in _OPENING:
                at = self.pair[at]
            elif self.at(at) == sign:
                parts.append((start, at))
                start = at + 1
            at += 1
        return [*parts, (start, end)] if end > first else []

    def calls(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Positions of the names that are called, with the arguments."""
        for at, token in enumerate(self.tokens):
            if token.kind == "name" and token.text not in WORDS and self.at(at + 1) == "(":
                yield at, self.split(at + 2, self.pair[at + 1])

    def statement(self, at: int) -> tuple[int, int]:
        """The range of the simple statement that a token stands in, its semicolon included."""
        first = at
        while self.at(first - 1) not in (";", "{", "}", "else", ""):
            first = self.pair[first - 1] if self.at(first - 1) in (")", "]") else first - 1
        end = at
        while self.at(end) not in (";", "}", ""):
            if self.at(end) == "{" and self.at(end - 1) != "=":
                break
            end = self.pair[end] + 1 if self.at(end) in _OPENING else end + 1
        return first, min(end + 1, len(self.tokens))

    def choices(self, at: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """What a `?` chooses between."""
        end, colon, depth = at + 1, 0, 0
        while self.at(end) not in (";", ",", ")", "]", ""):
            depth += self.at(end) == "?"
            if self.at(end) == ":":
                if depth == 0 and not colon:
                    colon = end
                depth -= 1
            end = self.pair[end] + 1 if self.at(end) in ("(", "[") else end + 1
        return (at + 1, colon), (colon + 1, end)

    def types_in(self, first: int, end: int) -> set[str]:
        """Types of what an expression names outside indices and arguments: `float`, `float3`."""
        found = set()
        at = first
        while at < end:
            token = self.tokens[at]
            if token.text == "[":
                at = self.pair[at]
            elif token.kind == "number":
                found.add("float" if token.is_real else "int")
            elif token.kind == "cast":
                found.add(token.text.strip("()"))
            elif token.kind == "name":
                type_, at = self._named(at)
                found.add(type_.rstrip("*"))
            at += 1
        return found - {""}

    def _named(self, at: int) -> tuple[str, int]:
        """The type of what starts at a name, and the last token that it takes."""
        name = self.at(at)
        if self.at(at + 1) == "(" and name not in WORDS:
            type_, at = self._returned(name), self.pair[at + 1]
        else:
            type_ = self.types.get(name, "")
        while self.at(at + 1) in (".", "[", "->"):
            if self.at(at + 1) == "[":
                at = self.pair[at + 1]
                continue
            type_, at = self._field(type_, self.at(at + 2)), at + 2
        return type_, at

    def _returned(self, name: str) -> str:
        if name in self.kinds.returned:
            return self.kinds.returned[name]
        if name.startswith("make_"):
            return name.removeprefix("make_")
        return "float" if name in FLOAT_FUNCTIONS else ""

    def _field(self, type_: str, field: str) -> str:
        base = type_.rstrip("*").rstrip("234")
        if base in ("float", "double") and len(field) == 1:
            return base
        return (
            "int"
            if len(field) == 1 and field not in self.kinds.fields
            else self.kinds.fields.get(field, "")
        )

    def is_float(self, first: int, end: int) -> bool:
        """Whether an expression computes with floats."""
        return any(t.startswith(("float", "double")) for t in self.types_in(first, end))

    def is_composite(self, first: int, end: int) -> bool:
        """Whether an expression has a vector, a matrix or a struct in it."""
        return bool(self.types_in(first, end) - SCALARS)


def codes(text: str) -> Iterator[Code]:
    """The kernel and the device functions of a text, in order."""
    structs = _STRUCT.findall(text)
    fields = {name: kind for body in structs for kind, _, name in _DECLARED.findall(body)}
    returned = {name: kind for kind, name in _RETURNS.findall(text)}
    kinds = Kinds(returned, fields, frozenset(re.findall(r"\bstruct (\w+)", text)))
    for match in _FUNCTION.finditer(text):
        tokens = body_tokens(text, match.end() - 1)
        yield Code(match[1], "__global__" in match[0], text, match[0], tokens, kinds)
