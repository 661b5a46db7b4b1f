"""`extern` in a kernel's text: what may bear it, and dynamic shared memory in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from validate.text.lexer import BLANK, MARK, NUMBER, STRING, WORD, Token
from validate.text.refusal import Refused

_MOST_TOKENS = 60
_ALIGNING = frozenset({"__align__", "alignas", "__attribute__"})


def normalised(tokens: Sequence[Token], place: int) -> tuple[int, str]:
    """The end of the declaration that begins with `extern` there, and the form to put for it.

    It is `[__align__(n)] extern __shared__ type name[];`: the host run can make it a pointer of
    that alignment. Raises Refused for any other `extern`.
    """
    end = place
    while end < len(tokens) and tokens[end].text != ";":
        end += 1
        if end - place > _MOST_TOKENS:
            raise Refused("extern of something else than __shared__")
    inside = [token for token in tokens[place + 1 : end] if token.kind not in BLANK]
    words = [token.text for token in inside]
    if "__shared__" not in words:
        raise Refused("extern of something else than __shared__")
    align, left = _without_alignment([t for t in inside if t.text != "__shared__"])
    texts = [token.text for token in left]
    if texts[-2:] != ["[", "]"] or len(texts) < 4 or left[-3].kind != WORD:
        raise Refused("extern __shared__ that is no array without a size")
    name, kind = texts[-3], [text for text in texts[:-3] if text != "extern"]
    if any(token.kind not in (WORD, MARK) for token in left) or {*kind} & {"(", ",", "=", "["}:
        raise Refused("extern __shared__ that is no array without a size")
    return end + 1, f"{align}extern __shared__ {_joined(kind)} {name}[];"


def _joined(texts: Sequence[str]) -> str:
    return " ".join(texts).replace(" :: ", "::").replace(":: ", "::")


def _without_alignment(tokens: Sequence[Token]) -> tuple[str, list[Token]]:
    """`__align__(n) ` of what is aligned, and the tokens without that."""
    left: list[Token] = []
    align, place = "", 0
    while place < len(tokens):
        if tokens[place].text not in _ALIGNING:
            left.append(tokens[place])
            place += 1
            continue
        depth, start = 0, place + 1
        place += 1
        while place < len(tokens):
            depth += (tokens[place].text == "(") - (tokens[place].text == ")")
            place += 1
            if depth == 0:
                break
        inside = [t for t in tokens[start:place] if t.text not in ("(", ")", "aligned")]
        if len(inside) != 1 or inside[0].kind not in (NUMBER, WORD):
            raise Refused("an alignment that is no number")
        align = f"__align__({inside[0].text}) "
    return align, left


def drop_linkage(tokens: Sequence[Token], first: int, end: int, changed: dict[int, str]) -> bool:
    """Blank `extern "C"` at the start of a declaration, and say whether it was there.

    Raises Refused for another language.
    """
    seen = [place for place in range(first, end) if tokens[place].kind not in BLANK][:2]
    if len(seen) < 2 or tokens[seen[0]].text != "extern" or tokens[seen[1]].kind != STRING:
        return False
    if tokens[seen[1]].text != '"C"':
        raise Refused(f"extern {tokens[seen[1]].text}")
    changed[seen[0]] = changed[seen[1]] = ""
    return True


def code_of(tokens: Sequence[Token], changed: Mapping[int, str]) -> str:
    """The text of tokens, those that were changed in their new form."""
    return "".join(changed.get(place, token.text) for place, token in enumerate(tokens))
