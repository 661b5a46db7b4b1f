"""Directives of a C++ text: which macros it defines, and which of them it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from validate.text.lexer import DIRECTIVE, LINE, WORD, Token, lex, significant

_DIRECTIVE = re.compile(r"#[ \t]*(\w*)[ \t]*(.*)", re.DOTALL)
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif"})
_OTHERS = frozenset(
    {"define", "undef", "pragma", "include", "else", "endif", "error", "warning", ""}
)


@dataclass(frozen=True)
class Directive:
    """`#name rest`, at a place among the tokens of a text."""

    place: int
    name: str
    rest: str

    @property
    def is_condition(self) -> bool:
        return self.name in _CONDITIONS


@dataclass(frozen=True)
class Macro:
    """`parameters` is None for one without brackets."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]

    @property
    def words(self) -> set[str]:
        return {text for kind, text in self.body if kind == WORD}


def without_dead(tokens: Sequence[Token]) -> list[Token]:
    """Tokens without what stands between `#if 0` and its other branch or its end."""
    left: list[Token] = []
    depth = 0  # of conditions inside of a dead one, which is the first
    for token in tokens:
        if token.kind == DIRECTIVE and (match := _DIRECTIVE.match(token.text)):
            name = match[1]
            if depth == 0 and name == "if" and match[2].strip() in ("0", "false"):
                depth = 1
                left.append(token)
                continue
            if depth and name in ("if", "ifdef", "ifndef"):
                depth += 1
            elif depth == 1 and name in ("else", "elif", "endif"):
                depth = 0
            elif depth and name == "endif":
                depth -= 1
        if depth == 0 or token.kind == LINE:
            left.append(token)
    return left


def directives(tokens: Sequence[Token]) -> Iterator[Directive]:
    """The directives of a text, in order."""
    for place, (kind, text) in enumerate(tokens):
        if kind == DIRECTIVE:
            match = _DIRECTIVE.match(text)
            assert match is not None  # the lexer sees to it that `#` comes first
            yield Directive(place, match[1], match[2].strip())


def unknown(found: Iterable[Directive]) -> str:
    """The name of a directive that no text may have; empty when there is none."""
    for directive in found:
        if directive.name not in _CONDITIONS and directive.name not in _OTHERS:
            return directive.name
    return ""


def macro(directive: Directive) -> Macro | None:
    """What a `#define` defines; None when it defines nothing. Raises Unreadable."""
    tokens = lex(directive.rest)
    if not tokens or tokens[0].kind != WORD:
        return None
    name, rest = tokens[0].text, tokens[1:]
    if not rest or rest[0].text != "(":
        return Macro(name, None, tuple(significant(rest)))
    end = next((place for place, token in enumerate(rest) if token.text == ")"), None)
    if end is None:
        return None
    parameters = tuple(t.text for t in significant(rest[1:end]) if t.text != ",")
    return Macro(name, parameters, tuple(significant(rest[end + 1 :])))


def words_of(tokens: Iterable[Token]) -> set[str]:
    """The words among tokens."""
    return {text for kind, text in tokens if kind == WORD}


def condition_words(found: Iterable[Directive]) -> set[str]:
    """What the `#if`s of a text ask for."""
    asked: set[str] = set()
    for directive in found:
        if directive.is_condition:
            asked |= words_of(lex(directive.rest))
    return asked


def reachable(start: set[str], macros: Mapping[str, Sequence[Macro]]) -> set[str]:
    """The words of `start` and all that they become by macros."""
    seen = set(start)
    left = [name for name in start if name in macros]
    while left:
        for one in macros[left.pop()]:
            fresh = one.words - seen
            seen |= fresh
            left += [name for name in fresh if name in macros]
    return seen


def reaching(goals: Iterable[str], macros: Mapping[str, Sequence[Macro]]) -> set[str]:
    """Names of macros that become one of the goals, by however many steps."""
    users: dict[str, list[str]] = {}
    for name, defined in macros.items():
        for one in defined:
            for word in one.words:
                users.setdefault(word, []).append(name)
    seen: set[str] = set()
    left = list(goals)
    while left:
        for name in users.get(left.pop(), ()):
            if name not in seen:
                seen.add(name)
                left.append(name)
    return seen
