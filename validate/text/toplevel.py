"""A C++ text split into its declarations at namespace scope."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from validate.text.lexer import BLANK, MARK, STRING, WORD, Token, Unreadable

FUNCTION, PROTOTYPE, TYPE, VARIABLE = "function", "prototype", "type", "variable"
ALIAS, SCOPE, CLOSE, OTHER = "alias", "scope", "close", "other"

# What stands before a bracket that is not a function's.
_NO_FUNCTION = frozenset(
    {"__align__", "alignas", "__attribute__", "__launch_bounds__", "decltype", "noexcept"}
    | {"requires", "explicit", "__maxnreg__", "__cluster_dims__", "__declspec", "sizeof"}
    | {"static_assert", "__block_size__"}
)
_CLASSES = frozenset({"struct", "class", "union", "enum"})
_ALIASES = frozenset({"using", "typedef", "static_assert", "friend"})
_MOST_ARGUMENTS = 64
_ANGLES = {"<": 1, ">": -1, "<<": 2, ">>": -2, "<<<": 3, ">>>": -3}


@dataclass(frozen=True)
class Declaration:
    """Tokens `first` to `end` (not taken in). `name` and `parameters` are a function's."""

    kind: str
    first: int
    end: int
    head: tuple[str, ...] = ()
    """The texts of the tokens before its body, its value and its parameters' bracket."""
    words: frozenset[str] = frozenset()
    """Everything at its outermost level before its body: what is promised of it."""
    name: str = ""
    parameters: tuple[int, int] = (0, 0)
    """Places of the brackets around its parameters."""
    body: int = -1
    """Where its body begins; -1 when it has none."""
    scope: tuple[str, ...] = ()
    """Names of the namespaces around it; `extern "C"` is one."""
    template: tuple[int, int] = (0, 0)
    """Places of the angle brackets after its (last) `template`."""


class _Splitter:
    def __init__(
        self, tokens: Sequence[Token], partner: Mapping[int, int], macros: Collection[str]
    ) -> None:
        self.tokens = tokens
        self.partner = partner
        self.macros = macros
        self.scope: list[str] = []

    def all(self) -> Iterator[Declaration]:
        place, end = 0, len(self.tokens)
        while (place := self.skip(place)) < end:
            found = self.next(place)
            yield found
            place = found.end

    def skip(self, place: int) -> int:
        while place < len(self.tokens) and self.tokens[place].kind in BLANK:
            place += 1
        return place

    def next(self, first: int) -> Declaration:
        text = self.tokens[first].text
        if text == "}":
            self.scope.pop()
            return Declaration(CLOSE, first, first + 1)
        if text == ";":
            return Declaration(OTHER, first, first + 1)
        if text in self.macros:
            opening = self.skip(first + 1)
            if opening < len(self.tokens) and self.tokens[opening].text == "(":
                end = self.partner[opening] + 1
                return Declaration(OTHER, first, end, (text,), scope=tuple(self.scope))
        return _Head(self, first).read()


class _Head:
    """Reads one declaration."""

    def __init__(self, splitter: _Splitter, first: int) -> None:
        self.tokens, self.partner = splitter.tokens, splitter.partner
        self.splitter = splitter
        self.first = first
        self.head: list[str] = []
        self.words: list[str] = []
        self.name = ""
        self.parameters = (0, 0)
        self.template = (0, 0)
        self.valued = False
        self.classed = False

    def read(self) -> Declaration:
        place, end = self.first, len(self.tokens)
        while place < end:
            kind, text = self.tokens[place]
            if kind in BLANK:
                place += 1
            elif kind == MARK and text == ";":
                return self.found(place + 1, -1)
            elif kind == MARK and text == "}":
                return self.found(place, -1)
            elif kind == MARK and text == "{":
                if self.opens_scope():
                    return self.scope(place)
                if self.is_function():
                    return self.found(self.partner[place] + 1, place)
                place = self.partner[place] + 1
            elif kind == MARK and text in "([":
                self.bracket(place)
                place = self.partner[place] + 1
            elif text == "template":
                place = self.skip_template(place)
            elif text == "concept" and self.template[1] and not self.words:
                raise Unreadable("a concept is no CUDA C++17")
            else:
                self.piece(kind, text)
                place += 1
        return self.found(end, -1)

    def piece(self, kind: str, text: str) -> None:
        if text == "=" and self.words[-1:] != ["operator"]:
            self.valued = True
        if text in _CLASSES and not self.parameters[1]:
            self.classed = True
        if kind in (WORD, STRING) or not self.parameters[1]:
            self.words.append(text)
        if not self.parameters[1] and not self.valued:
            self.head.append(text)

    def bracket(self, place: int) -> None:
        before = self.words[-1] if self.words else ""
        latest = self.words[-_MOST_ARGUMENTS:]
        if before == ">" and "<" in latest[1:]:  # a specialisation: name<...>(
            before = latest[len(latest) - 2 - latest[::-1].index("<")]
        named = before.isidentifier() or (len(self.words) > 1 and "operator" in self.words[-3:])
        if self.tokens[place].text != "(" or self.parameters[1] or self.valued:
            return
        if before in _NO_FUNCTION or not named:
            if before in ("__launch_bounds__", "__attribute__"):
                return
            self.head.append("()")
            return
        if before == "operator":
            self.words.append("()")
            return
        self.name = before
        self.parameters = (place, self.partner[place])

    def skip_template(self, place: int) -> int:
        """Past the angle brackets after `template`, where there are any."""
        opening = self.splitter.skip(place + 1)
        if opening >= len(self.tokens) or self.tokens[opening].text != "<":
            self.words.append("template")
            return place + 1
        depth, at = 0, opening
        while at < len(self.tokens):
            kind, text = self.tokens[at]
            if kind == MARK and text in _ANGLES:
                depth += _ANGLES[text]
                if depth <= 0:
                    self.template = (opening, at)
                    return at + 1
            elif kind == MARK and text in "([{":
                at = self.partner[at]
            elif kind == MARK and text in (";", ")", "]", "}"):
                break
            at += 1
        raise Unreadable("template < without its >")

    def opens_scope(self) -> bool:
        words = self.words
        if words[:1] == ["extern"] and len(words) == 2 and words[1].endswith('"'):
            return True
        return "namespace" in words[:2] and not self.valued and not self.parameters[1]

    def scope(self, place: int) -> Declaration:
        words = self.words
        names = words[words.index("namespace") + 1 :] if "namespace" in words else ['extern "C"']
        name = "".join(names)
        self.splitter.scope.append(name)
        return Declaration(SCOPE, self.first, place + 1, tuple(words), frozenset(words), name)

    def is_function(self) -> bool:
        return bool(self.parameters[1]) and not self.valued

    def kind(self, body: int) -> str:
        words = self.words
        if body >= 0:
            return FUNCTION
        if words[:1] and (words[0] in _ALIASES or words[0] == "namespace"):
            return ALIAS
        if self.parameters[1] and not self.valued:
            return PROTOTYPE
        if self.classed and not self.valued:
            return TYPE
        return VARIABLE

    def found(self, end: int, body: int) -> Declaration:
        return Declaration(
            self.kind(body),
            self.first,
            end,
            tuple(self.head),
            frozenset(self.words),
            self.name,
            self.parameters,
            body,
            tuple(self.splitter.scope),
            self.template,
        )


def declarations(
    tokens: Sequence[Token], partner: Mapping[int, int], macros: Collection[str] = ()
) -> list[Declaration]:
    """The declarations of a text, in order; `macros` names those with parameters of its own.

    A namespace and a block of `extern "C"` are not declarations but two: SCOPE and CLOSE. Raises
    Unreadable for a `template <` without its end.
    """
    return list(_Splitter(tokens, partner, macros).all())


def split_at(tokens: Sequence[Token], mark: str = ",", angles: bool = False) -> list[list[Token]]:
    """Tokens between marks that stand in no bracket; no part at all of no tokens.

    With `angles`, `<` and `>` are brackets too, as they are among parameters.
    """
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == MARK:
            if token.text in "([{":
                depth += 1
            elif token.text in ")]}":
                depth -= 1
            elif angles and token.text in _ANGLES:
                depth += _ANGLES[token.text]
            elif token.text == mark and depth == 0:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts if parts != [[]] else []
