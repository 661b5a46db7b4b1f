"""What names around a launch mean, in a formula over a row's size symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from validate.text.formula import KNOWN_WORDS, MOST_CHARACTERS, bytes_of, evaluate, is_round_up
from validate.text.lexer import NUMBER, WORD, Token
from validate.text.macros import Macro
from validate.text.toplevel import split_at

_MOST_STEPS = 4000
_MOST_DEPTH = 20
_REAL = (".", "float", "double", "ceil", "floor")

Value = str | list[str]
"""A formula, or those of a dim3's components."""


class Unclear(ValueError):  # noqa: N818 - what is wrong with a text, not with us
    """A launch is said in a way that is not understood; the message quotes what."""


@dataclass(frozen=True)
class Function:
    """One that does nothing but return an expression."""

    parameters: tuple[str, ...]
    body: tuple[Token, ...]


@dataclass
class Meaning:
    """`names` are sizes by the row's and the kernel's names, `bound` those that a launch passes."""

    names: Mapping[str, str]
    macros: Mapping[str, Sequence[Macro]] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, Sequence[Token]] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Value | Unclear] = field(default_factory=dict)
    tensors: dict[str, list[str]] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    """Bytes of the types that the text itself names."""
    steps: int = 0
    depth: int = 0

    def formula(self, tokens: Sequence[Token], given: Mapping[str, str] | None = None) -> str:
        """An expression of a text in sizes and numbers alone. Raises Unclear.

        `given` holds the arguments of the function or macro whose body this is.
        """
        self.depth += 1
        try:
            if self.depth > _MOST_DEPTH:
                raise Unclear("a launch whose names lead too far")
            return _folded(self._expression(tokens, given or {}))
        finally:
            self.depth -= 1

    def _expression(self, tokens: Sequence[Token], given: Mapping[str, str]) -> str:
        parts: list[str] = []
        place = length = 0
        while place < len(tokens):
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise Unclear("a launch whose names lead too far")
            kind, text = tokens[place]
            if kind == WORD:
                piece, place = self._word(tokens, place, given)
            else:
                piece, place = text, place + 1
            parts.append(piece)
            length += 1 + len(piece)
            if length > MOST_CHARACTERS:
                raise Unclear(f"a launch of more than {MOST_CHARACTERS} characters")
        return " ".join(parts).replace("( ", "(").replace(" )", ")")

    def _word(
        self, tokens: Sequence[Token], place: int, given: Mapping[str, str]
    ) -> tuple[str, int]:
        name = tokens[place].text
        behind = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if name in given:
            return _whole(given[name]), place + 1
        if behind in (".", "->") and place + 2 < len(tokens):
            return self._member(tokens, place)
        if behind == "::" and name not in ("std", "cuda") and place + 2 < len(tokens):
            return self._word(tokens, place + 2, given)
        if name == "sizeof" and behind == "(":
            end = closing(tokens, place + 1)
            words = [t.text for t in tokens[place + 2 : end] if t.text not in ("struct", "const")]
            if len(words) == 1 and words[0] in self.types:
                return str(self.types[words[0]]), end + 1
        if behind == "(" and name not in self.bound:
            if (called := self._callable(name)) is not None:
                return self._call(called, tokens, place, given)
            if is_round_up(name):
                return name, place + 1
        return self._value(name), place + 1

    def _value(self, name: str) -> str:
        if name in self.bound:
            return _whole(self.bound[name])
        value = self.variables.get(name)
        if isinstance(value, str) and (name not in self.names or not value.isdigit()):
            return _whole(value)
        if (found := self.macros.get(name)) and len(found) == 1 and found[0].parameters is None:
            return _whole(self.formula(found[0].body))
        if name in self.names:
            return _whole(self.names[name])
        if name in self.constants:
            return _whole(self.formula(self.constants[name]))
        if name in KNOWN_WORDS or bytes_of((name,)) is not None:
            return name
        if isinstance(value, Unclear):
            raise value
        raise Unclear(f"{name} in the launch")

    def _callable(self, name: str) -> Function | None:
        if name in self.functions:
            return self.functions[name]
        found = self.macros.get(name, ())
        if len(found) == 1 and found[0].parameters is not None:
            return Function(found[0].parameters, found[0].body)
        return None

    def _call(
        self, called: Function, tokens: Sequence[Token], place: int, given: Mapping[str, str]
    ) -> tuple[str, int]:
        end = closing(tokens, place + 1)
        passed = [self.formula(part, given) for part in split_at(tokens[place + 2 : end])]
        if len(passed) != len(called.parameters):
            raise Unclear(f"{tokens[place].text} with {len(passed)} arguments")
        inside = self.formula(called.body, dict(zip(called.parameters, passed, strict=True)))
        return _whole(inside), end + 1

    def _member(self, tokens: Sequence[Token], place: int) -> tuple[str, int]:
        """`block.x`, `x.numel()`, `x.size(0)`, `x.sizes()[0]`."""
        name, member = tokens[place].text, tokens[place + 2].text
        value = self.variables.get(name)
        if (whole := f"{name}.{member}") in self.bound:
            return _whole(self.bound[whole]), place + 3
        if member in ("x", "y", "z"):
            axis = "xyz".index(member)
            if isinstance(value, list):
                return _whole(value[axis] if axis < len(value) else "1"), place + 3
            if isinstance(value, Unclear):
                raise value
        shape = self.tensors.get(name)
        rest = [token.text for token in tokens[place + 3 : place + 8]]
        if shape is not None and member in ("numel", "size", "sizes", "shape"):
            if member == "numel" and rest[:2] == ["(", ")"]:
                return f"({' * '.join(_whole(extent) for extent in shape)})", place + 5
            skip = 2 if rest[:2] == ["(", ")"] else 0
            index = rest[skip : skip + 3]
            if index[:1] in (["("], ["["]) and index[1:2] == ["-"] and len(rest) > skip + 3:
                index, skip = [index[0], "-" + rest[skip + 2], rest[skip + 3]], skip + 1
            if len(index) == 3 and index[0] in "([" and index[2] in ")]":
                axis = int(index[1]) if index[1].lstrip("-").isdecimal() else len(shape)
                if -len(shape) <= axis < len(shape):
                    return _whole(shape[axis]), place + 6 + skip
        raise Unclear(f"{name}.{member} in the launch")

    def dims(self, tokens: Sequence[Token]) -> list[str]:
        """One to three extents: `dim3(...)`, `{...}`, a variable or an expression."""
        for _ in range(_MOST_DEPTH):
            if not tokens:
                raise Unclear("a launch without a size")
            name, macro = tokens[0].text, self.macros.get(tokens[0].text, ())
            value = self.variables.get(name)
            if name == "(" and closing(tokens, 0) == len(tokens) - 1:
                tokens = tokens[1:-1]
            elif len(tokens) == 1 and isinstance(value, list):
                return list(value)
            elif len(tokens) == 1 and value is None and len(macro) == 1 and name not in self.bound:
                if macro[0].parameters is not None:
                    break
                tokens = macro[0].body
            else:
                break
        return self._extents(tokens)

    def _extents(self, tokens: Sequence[Token]) -> list[str]:
        opening = 1 if tokens[0].text == "dim3" else 0
        opened = tokens[opening].text if opening < len(tokens) else ""
        if opened != "{" and not (opening and opened == "("):
            return [self.formula(tokens)]
        if closing(tokens, opening) != len(tokens) - 1:
            raise Unclear("a dim3 in an expression")
        parts = split_at(tokens[opening + 1 : -1])
        if len(parts) > 3:
            raise Unclear("a dim3 of more than three extents")
        return [self.formula(part) for part in parts] or ["1"]


def closing(tokens: Sequence[Token], opening: int) -> int:
    """Where the bracket that opens there is closed. Raises Unclear when it is not."""
    depth = 0
    for place in range(opening, len(tokens)):
        if tokens[place].kind not in (WORD, NUMBER):
            depth += (tokens[place].text in "([{") - (tokens[place].text in ")]}")
            if depth == 0:
                return place
    raise Unclear("a launch whose brackets do not fit")


def _whole(formula: str) -> str:
    """A formula as an operand."""
    return formula if formula.isalnum() or formula.isidentifier() else f"({formula})"


def _folded(formula: str) -> str:
    """A formula without names as its number; those with a point stay as they are."""
    if any(word in formula for word in _REAL):
        return formula
    try:
        return str(evaluate(formula, {}))
    except ValueError:
        return formula
