"""What cannot stand in a kernel's text, and why. Nothing here compiles or runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from validate.text import vocabulary
from validate.text.lexer import CHAR, MARK, STRING, WORD, Token, lex, significant
from validate.text.macros import Directive, Macro, condition_words
from validate.text.toplevel import split_at

_PRAGMA = re.compile(
    r"(?:unroll|nounroll|once|nv_diag\w*|diag_\w+|nv_exec_check_disable|hd_warning_disable)\b"
    r"[\w \t()+*/,<>-]*"
)
_ATTRIBUTES = frozenset(
    {"always_inline", "noinline", "unused", "aligned", "packed", "flatten", "hot", "cold"}
    | {"warn_unused_result"}
)
_STANDARD = frozenset(
    {"maybe_unused", "nodiscard", "likely", "unlikely", "fallthrough", "noreturn", "deprecated"}
    | {"no_unique_address", "carries_dependency"}
)
_BY_NUMBER = re.compile(r"\\[uUN]")
# Before a name that is being declared stands its type; these are words, and no types.
_NO_TYPES = frozenset(
    {"return", "case", "goto", "else", "do", "sizeof", "alignof", "and", "or", "not", "xor"}
    | {"bitand", "bitor", "compl", "throw", "decltype", "using", "defined", "operator"}
)


class Refused(ValueError):  # noqa: N818 - what is wrong with a text, not with us
    """A text has something that no kernel's text may have; the message names it."""


def check_tokens(tokens: Sequence[Token], own_macros: Iterable[str]) -> None:
    """Refuse what the words and marks of a text, without spaces and directives, must not be.

    Raises Refused.
    """
    own = {name for name in own_macros if vocabulary.may_be_own(name)}
    asked: list[str] = []
    for place, (kind, text) in enumerate(tokens):
        if kind == WORD:
            _check_word(tokens, place)
            strange = text[0] == "_" and vocabulary.is_reserved(text) and text not in own
            if strange and text not in vocabulary.cuda_names():
                if vocabulary.may_be_own(text) and _declares(tokens, place):
                    own.add(text)
                elif not _may_be_called(tokens, place):
                    asked.append(text)
        elif kind == MARK:
            if text in ("#", "##"):
                raise Refused(f"{text} (names made of pieces)")
            if text == "[" and _text(tokens, place + 1) == "[":
                _check_standard(tokens, place)
        elif kind in (STRING, CHAR) and _BY_NUMBER.search(text):
            raise Refused("a character by its number")
    if left := [name for name in asked if name not in own]:
        raise Refused(f"{left[0]} (neither CUDA's nor declared in the text)")


def _may_be_called(tokens: Sequence[Token], place: int) -> bool:
    """Whether it stands as a function of CUDA's would that is not known here: compilers know."""
    text = tokens[place].text
    called = _text(tokens, place + 1) == "(" and vocabulary.may_be_own(text)
    return called and not text.startswith("__is_")


def _check_word(tokens: Sequence[Token], place: int) -> None:
    text = tokens[place].text
    problem = vocabulary.why_refused(text)
    if problem and not (text == "delete" and _text(tokens, place - 1) == "="):
        raise Refused(problem)
    if text == "__attribute__":
        _check_attribute(tokens, place)
    if text == "goto" and _text(tokens, place + 1) == "*":
        raise Refused("a jump to an address")


def _text(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""


def _declares(tokens: Sequence[Token], place: int) -> bool:
    """Whether the word there is being declared, by what stands before and behind it."""
    before = place - 1
    while _text(tokens, before) in ("*", "&", "&&", "..."):
        before -= 1
    if before < 0:
        return False
    kind, text = tokens[before]
    typed = (kind == WORD and text not in _NO_TYPES) or (text == ">" and before == place - 1)
    return typed and _text(tokens, place + 1) in ("(", "=", ";", ",", ")", "[", "{", ":", ">", "<")


def _check_attribute(tokens: Sequence[Token], place: int) -> None:
    words, depth = [], 0
    for kind, text in tokens[place + 1 : place + 60]:
        depth += (text == "(") - (text == ")")
        if kind == WORD and depth == 2:
            words.append(text)
        if depth == 0:
            break
    else:
        raise Refused("an attribute of this length")
    for word in words:
        if word.strip("_") not in _ATTRIBUTES:
            raise Refused(f"the attribute {word}")


def _check_standard(tokens: Sequence[Token], place: int) -> None:
    inside: list[Token] = []
    depth = 0
    for token in tokens[place : place + 60]:
        depth += (token.text == "[") - (token.text == "]")
        if depth == 0:
            break
        inside.append(token)
    else:
        raise Refused("an attribute of this length")
    for part in split_at(inside[2:-1]):
        if not part or part[0].text not in _STANDARD or _text(part, 1) == "::":
            raise Refused(f"the attribute {_text(part, 0) or '[[]]'}")


def check_directives(found: Sequence[Directive], macros: Mapping[str, Sequence[Macro]]) -> None:
    """Refuse directives that no kernel's text may have, of those that stay. Raises Refused."""
    own = frozenset(macros)
    for name in sorted(condition_words(found) - {"defined"}):
        if problem := vocabulary.why_not_asked(name, own):
            raise Refused(problem)
    for directive in found:
        if directive.name == "pragma" and not _PRAGMA.fullmatch(directive.rest):
            raise Refused(f"#pragma {directive.rest[:60]}")
        if directive.name == "undef":
            names = [token.text for token in significant(lex(directive.rest))]
            if len(names) != 1 or names[0] not in own:
                raise Refused(f"#undef {' '.join(names)[:60]}")
    for name in sorted(macros):
        if problem := vocabulary.why_not_defined(name):
            raise Refused(problem)
