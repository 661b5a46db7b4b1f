"""Launches in host code, `kernel<<<grid, block, shared>>>(...)`, their names followed back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate.text.host_functions import brace, function, value_at
from validate.text.lexer import MARK, NUMBER, WORD, Token, brackets
from validate.text.meaning import Meaning, Unclear, closing
from validate.text.toplevel import split_at

MOST_LAUNCHES = 16
_ASSIGNING = frozenset({"+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "++", "--"})
_SCALAR = frozenset({"int", "unsigned", "long", "short", "auto", "size_t", "float", "double"})
_REAL_TYPES = frozenset({"float", "double"})
_DATA = frozenset({"data_ptr", "mutable_data_ptr", "const_data_ptr", "data"})
_SAME = frozenset({"contiguous", "to", "view"})
_STEPS = {"++": "+", "--": "-", "+=": "+", "-=": "-", "*=": "*", "/=": "/"}


@dataclass(frozen=True)
class Launch:
    """One `<<<>>>`: tokens of what is launched, how, and with what (None: not said)."""

    kernel: str
    template: tuple[Token, ...]
    config: tuple[tuple[Token, ...], ...]
    arguments: tuple[tuple[Token, ...], ...] | None
    place: int


def launches(tokens: Sequence[Token]) -> Iterator[Launch]:
    """The first launches among significant tokens; those without an end are none."""
    found = 0
    for place, (kind, text) in enumerate(tokens):
        if kind != MARK or text != "<<<" or found == MOST_LAUNCHES:
            continue
        found += 1
        end = place + 1
        while end < len(tokens) and tokens[end].text != ">>>" and end - place < 400:
            end += 1
        if end == len(tokens) or tokens[end].text != ">>>":
            continue
        name, template = _launched(tokens, place)
        arguments = None
        if end + 1 < len(tokens) and tokens[end + 1].text == "(":
            try:
                last = closing(tokens[: end + 4000], end + 1)
            except Unclear:
                continue
            arguments = tuple(tuple(part) for part in split_at(tokens[end + 2 : last]))
        config = tuple(tuple(part) for part in split_at(tokens[place + 1 : end]))
        yield Launch(name, template, config, arguments, place)


def _launched(tokens: Sequence[Token], place: int) -> tuple[str, tuple[Token, ...]]:
    before = place - 1
    if before >= 0 and tokens[before].text == ">":
        depth = 0
        for opening in range(before, max(-1, before - 64), -1):
            depth += (tokens[opening].text == ">") - (tokens[opening].text == "<")
            if depth == 0:
                inside = tuple(tokens[opening + 1 : before])
                return (tokens[opening - 1].text if opening else ""), inside
    known = before >= 0 and tokens[before].kind == WORD
    return (tokens[before].text if known else ""), ()


def bind(meaning: Meaning, launch: Launch, row: Mapping[str, Any], tokens: Sequence[Token]) -> None:
    """Learn from what a launch passes which of its names are sizes and which tensors arrays."""
    shapes = {arg["name"]: arg["shape"] for arg in row["args"] if arg["kind"] == "array"}
    pointers = dict(_pointers(tokens[: launch.place]))
    for given, arg in zip(launch.arguments or (), row["plain_args"], strict=False):
        inside = _without_casts(given)
        if not inside or inside[0].kind != WORD:
            continue
        name = inside[0].text
        if arg["size"] and len(inside) == 1:
            meaning.bound.setdefault(name, str(arg["size"]))
        elif arg["size"] and len(inside) == 3 and inside[1].text in (".", "->"):
            meaning.bound.setdefault(f"{name}.{inside[2].text}", str(arg["size"]))
        elif arg["name"] in shapes:
            if len(inside) > 3 and inside[2].text in _DATA:
                meaning.tensors.setdefault(name, shapes[arg["name"]])
            elif name in pointers:
                meaning.tensors.setdefault(pointers[name], shapes[arg["name"]])
    for name, other in pointers.items():
        if name in meaning.tensors:
            meaning.tensors.setdefault(other, meaning.tensors[name])


def _pointers(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Names of pointers into tensors, and of tensors that are others made contiguous."""
    for place in range(1, len(tokens) - 3):
        if tokens[place].text != "=" or tokens[place - 1].kind != WORD:
            continue
        inside = _without_casts(value_at(tokens, place + 1))
        texts = [token.text for token in inside[:3]]
        if len(texts) == 3 and texts[1] in (".", "->") and texts[2] in _DATA | _SAME:
            yield tokens[place - 1].text, texts[0]


def _without_casts(tokens: Sequence[Token]) -> list[Token]:
    """`(int)n`, `static_cast<int>(n)`, `(n)` and `int(n)` as `n`."""
    inside = list(tokens)
    for _ in range(6):
        texts = [token.text for token in inside]
        if texts[:1] == ["("]:
            end = next((p for p, text in enumerate(texts) if text == ")"), 0)
            inside = inside[1:-1] if end == len(inside) - 1 else inside[end + 1 :]
        elif texts[-1:] == [")"] and "(" in texts and texts[0].endswith("_cast"):
            inside = inside[texts.index("(") + 1 : -1]
        elif texts[-1:] == [")"] and texts[:1] and texts[0] in _SCALAR and texts[1] == "(":
            inside = inside[2:-1]
        else:
            break
    return inside


class _Follower:
    """Goes through the statements before a launch and learns what its names are."""

    def __init__(self, meaning: Meaning, tokens: Sequence[Token], end: int) -> None:
        self.meaning = meaning
        self.tokens = tokens
        self.end = end
        self.partner = brackets(tokens)
        self.chosen: dict[str, tuple[str, str]] = {}
        self.blocks: list[int] = []

    def follow(self) -> None:
        for place in range(self.end):
            kind, text = self.tokens[place]
            if text == "{" and self.partner[place] < self.end:
                self.blocks.append(place)
            elif text == "}" and self.blocks and self.partner[place] == self.blocks[-1]:
                self.blocks.pop()
            elif text == "=":
                self.assignment(place)
            elif text in _STEPS and self.step(place, _STEPS[text]):
                continue
            elif text in _ASSIGNING:
                for near in (place - 1, place + 1):
                    if near >= 0 and self.tokens[near].kind == WORD:
                        self.forget(self.tokens[near].text)
            elif text == "dim3":
                self.dim3(place)
            elif kind == WORD and not self.blocks and self.text(place + 1) in ("(", "{"):
                self.construction(place)

    def text(self, place: int) -> str:
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def step(self, place: int, mark: str) -> bool:
        """`a++;`, `++a;` and `a += b;` as assignments; False for anything else."""
        name = place - 1
        if self.tokens[place].text in ("++", "--"):
            name = place + 1 if self.text(place + 2) == ";" else place - 1
            if self.text(max(name, place) + 1) != ";":
                return False
            value = [Token(NUMBER, "1")]
        else:
            value = value_at(self.tokens, place + 1)
        if name < 0 or self.tokens[name].kind != WORD or self.text(name - 1) in (".", "->"):
            return False
        changed = [self.tokens[name], Token(MARK, mark), Token(MARK, "(")]
        self.change(self.text(name), [*changed, *value, Token(MARK, ")")], min(name, place) - 1)
        return True

    def construction(self, place: int) -> None:
        """`int a(1)` and `int a{1}`."""
        if self.text(place - 1) in _SCALAR:
            inside = self.tokens[place + 2 : self.partner[place + 1]]
            self.learn(self.text(place), inside, self.text(place - 1))

    def forget(self, name: str) -> None:
        if name in self.meaning.variables:
            self.meaning.variables[name] = Unclear(f"{name}, which changes, in the launch")

    def dim3(self, place: int) -> None:
        """`dim3 a(1, 2), b;`"""
        if place + 1 >= self.end or self.tokens[place + 1].kind != WORD or self.blocks:
            return
        at = place + 1
        while at < self.end and self.tokens[at].kind == WORD:
            name, behind = self.text(at), self.text(at + 1)
            if behind in ("(", "{"):
                last = self.partner[at + 1]
                inside = [Token(MARK, "{"), *self.tokens[at + 2 : last], Token(MARK, "}")]
                self.extents(name, inside)
                at = last
            elif behind == "=":
                return
            else:
                self.meaning.variables[name] = ["1", "1", "1"]
            at += 1
            if self.text(at) != ",":
                return
            at += 1

    def extents(self, name: str, tokens: Sequence[Token]) -> None:
        try:
            self.meaning.variables[name] = [*self.meaning.dims(tokens), "1", "1"][:3]
        except Unclear as unclear:
            self.meaning.variables[name] = unclear

    def assignment(self, place: int) -> None:
        value = value_at(self.tokens, place + 1)
        name, before = self.text(place - 1), self.text(place - 2)
        if place < 1 or self.tokens[place - 1].kind != WORD:
            return
        if before == "." and name in ("x", "y", "z"):
            self.component(self.text(place - 3), "xyz".index(name), value)
            return
        if value[:1] and value[0].text == "[":
            self.closure(name, value)
            return
        known = self.meaning.variables.get(name)
        if isinstance(known, list) or [t.text for t in value[:1]] in (["dim3"], ["{"]):
            if self.blocks:
                self.forget(name)
            else:
                self.extents(name, value)
            return
        declares = before == "," or before in (">", "*", "&")
        declares = declares or (place > 1 and self.tokens[place - 2].kind == WORD)
        if declares and before not in ("else", "do"):
            if not self.blocks:
                self.learn(name, value, before)
            return
        self.change(name, value, place - 2)

    def closure(self, name: str, value: Sequence[Token]) -> None:
        opening = next((p for p, t in enumerate(value) if t.text == "("), 0)
        opened = brace(value)
        if 0 < opening < opened < len(value):
            last = closing(value, opening)
            found = function(value[opening + 1 : last], value[opened:])
            if found is not None:
                self.meaning.functions[name] = found

    def component(self, name: str, axis: int, value: Sequence[Token]) -> None:
        known = self.meaning.variables.get(name)
        if self.blocks or not isinstance(known, list):
            self.forget(name)
            return
        try:
            known[axis] = self.meaning.formula(value)
        except Unclear as unclear:
            self.meaning.variables[name] = unclear

    def learn(self, name: str, value: Sequence[Token], kind: str) -> None:
        try:
            found = self.meaning.formula(value)
        except Unclear as unclear:
            self.meaning.variables[name] = unclear
            return
        real = kind in _REAL_TYPES
        if real or any(word in found for word in (".", "ceil", "float", "double")):
            found = f"({'double' if real else 'int64_t'})({found})" if kind != "auto" else found
        self.meaning.variables[name] = found

    def change(self, name: str, value: Sequence[Token], before: int) -> None:
        """An assignment to what is declared before, perhaps under one condition."""
        old = self.meaning.variables.get(name)
        condition = self.condition(before)
        if name in self.meaning.bound:
            return
        if name in self.chosen and self.is_else(before):
            asked, first = self.chosen.pop(name)
            self.learn(name, value, "")
            if isinstance(new := self.meaning.variables[name], str):
                self.meaning.variables[name] = f"({asked}) ? ({first}) : ({new})"
            return
        if condition is None:
            self.forget(name)
            self.meaning.variables.setdefault(
                name, Unclear(f"{name}, which changes, in the launch")
            )
            return
        try:
            asked = self.meaning.formula(condition) if condition else ""
        except Unclear as unclear:
            self.meaning.variables[name] = unclear
            return
        self.learn(name, value, "")
        new = self.meaning.variables[name]
        if not asked or not isinstance(new, str):
            return
        self.chosen[name] = asked, new
        if isinstance(old, str):
            self.meaning.variables[name] = f"({asked}) ? ({new}) : ({old})"
        else:
            self.meaning.variables[name] = Unclear(
                f"{name}, which one condition sets, in the launch"
            )

    def is_else(self, before: int) -> bool:
        if len(self.blocks) == 1 and self.text(before) in ("{", ";"):
            before = self.blocks[-1] - 1
            return self.text(before) == "else"
        return not self.blocks and self.text(before) == "else"

    def condition(self, before: int) -> list[Token] | None:
        """What an assignment depends on: nothing ([]), or one `if`; None: on more than that."""
        if len(self.blocks) > 1:
            return None
        if self.blocks:
            if self.text(before) == ")" or self.text(before) in ("else", "do"):
                return None
            before = self.blocks[-1] - 1
        elif self.text(before) in (";", "{", "}", ""):
            return []
        if self.text(before) != ")":
            return None
        opening = self.partner[before]
        if self.text(opening - 1) != "if" or self.text(opening - 2) == "else":
            return None
        return list(self.tokens[opening + 1 : before])


def follow(meaning: Meaning, tokens: Sequence[Token], launch: Launch) -> None:
    """Learn the variables before a launch. Raises Unreadable when brackets do not fit."""
    _Follower(meaning, tokens, launch.place).follow()
