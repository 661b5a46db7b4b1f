"""Functions and constants of host code that a launch's formulas use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from validate.text import toplevel
from validate.text.lexer import MARK, WORD, Token, significant
from validate.text.meaning import Function, Unclear, closing
from validate.text.toplevel import Declaration, split_at

_MOST_TOKENS = 200
_MOST_NESTED = 8
_DECLARING = frozenset(
    {"const", "constexpr", "auto", "int", "unsigned", "long", "size_t", "static"}
)


def functions_of(
    tokens: Sequence[Token], declared: Sequence[Declaration]
) -> tuple[dict[str, Function], dict[str, Sequence[Token]]]:
    """Functions that amount to one expression, and constants, at namespace scope."""
    functions: dict[str, Function] = {}
    constants: dict[str, Sequence[Token]] = {}
    for one in declared:
        inside = significant(tokens[one.first : one.end])
        if one.kind == toplevel.FUNCTION:
            first, last = one.parameters
            body = significant(tokens[one.body : one.end])
            found = function(significant(tokens[first + 1 : last]), body)
            if found is not None:
                functions.setdefault(one.name, found)
        elif one.kind == toplevel.VARIABLE:
            for place, (_, text) in enumerate(inside):
                if text == "=" and place and inside[place - 1].kind == WORD:
                    constants.setdefault(inside[place - 1].text, value_at(inside, place + 1))
                    break
        elif one.kind == toplevel.TYPE and "enum" not in one.words:
            for name, value in _static_constants(inside):
                constants.setdefault(name, value)
        elif "enum" in one.words:
            for part in split_at(inside[brace(inside) + 1 : -2]):
                if len(part) > 2 and part[1].text == "=":
                    constants.setdefault(part[0].text, part[2:])
    return functions, constants


def brace(tokens: Sequence[Token]) -> int:
    return next((p for p, token in enumerate(tokens) if token.text == "{"), len(tokens))


def _static_constants(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """The `static constexpr` members of a struct."""
    for place, (_, text) in enumerate(tokens):
        if text == "static" and "constexpr" in (token.text for token in tokens[place : place + 3]):
            ahead = tokens[place : place + 8]
            equal = next((n for n, token in enumerate(ahead) if token.text == "="), 0)
            if equal > 2 and ahead[equal - 1].kind == WORD:
                yield ahead[equal - 1].text, value_at(tokens, place + equal + 1)


def function(parameters: Sequence[Token], body: Sequence[Token]) -> Function | None:
    """A function of `{ ... return ...; }` whose other statements name values or leave early."""
    if len(body) < 5 or len(body) > _MOST_TOKENS:
        return None
    names = [part[-1].text for part in split_at(parameters, angles=True) if part]
    result = _returned(list(body[1:-1]), 0)
    return None if result is None else Function(tuple(names), tuple(result))


def _returned(statements: list[Token], depth: int) -> list[Token] | None:
    """What statements return, as one expression; None where it is not that simple."""
    texts = [token.text for token in statements]
    if depth > _MOST_NESTED or ";" not in texts:
        return None
    end = texts.index(";")
    if texts[0] == "return":
        return statements[1:end] if end + 1 == len(texts) and end > 1 else None
    if texts[:2] == ["if", "("]:
        return _early(statements, depth)
    equal = texts.index("=") if "=" in texts[:end] else 0
    if equal < 2 or statements[equal - 1].kind != WORD or set(texts[: equal - 1]) - _DECLARING:
        return None
    name, value = texts[equal - 1], statements[equal + 1 : end]
    rest: list[Token] = []
    for token in statements[end + 1 :]:
        named = token.kind == WORD and token.text == name
        rest += _bracket(value) if named else [token]
        if len(rest) > _MOST_TOKENS:
            return None
    return _returned(rest, depth + 1)


def _early(statements: list[Token], depth: int) -> list[Token] | None:
    """`if (a) return b; ...` as a conditional."""
    texts = [token.text for token in statements]
    try:
        last = closing(statements, 1)
    except Unclear:
        return None
    braced = texts[last + 1 : last + 2] == ["{"]
    first = last + 1 + braced
    end = texts.index(";", first) if ";" in texts[first:] else len(texts)
    behind = end + 1 + braced
    closed = not braced or texts[end + 1 : end + 2] == ["}"]
    if texts[first : first + 1] != ["return"] or not closed:
        return None
    rest = statements[behind:]
    rest = rest[1:] if texts[behind : behind + 1] == ["else"] else rest
    other = _returned(rest, depth + 1)
    if other is None:
        return None
    asked, given = statements[2:last], statements[first + 1 : end]
    question, colon = Token(MARK, "?"), Token(MARK, ":")
    return [*_bracket(asked), question, *_bracket(given), colon, *_bracket(other)]


def _bracket(tokens: Sequence[Token]) -> list[Token]:
    return [Token(MARK, "("), *tokens, Token(MARK, ")")]


def value_at(tokens: Sequence[Token], start: int) -> list[Token]:
    """Tokens of a value up to `;`, `,` or the end of what is around it."""
    depth = 0
    for place in range(start, min(len(tokens), start + _MOST_TOKENS)):
        text = tokens[place].text if tokens[place].kind == MARK else ""
        if depth == 0 and text in (";", ",", ")", "]", "}"):
            return list(tokens[start:place])
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
    return list(tokens[start : start + _MOST_TOKENS])
