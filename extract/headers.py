"""Find kernel headers, whatever attributes stand between their words."""

import re
from dataclasses import dataclass

from extract.braces import closing_brace
from extract.errors import ExtractError, line_of

_PARENS = r"\((?:[^(){};]|\((?:[^(){};]|\([^(){};]*\))*\))*\)"
_ATTRIBUTE = rf"(?:(?!__global__\b|void\b)[A-Za-z_]\w*(?:\s*{_PARENS})?|\[\[[^\[\]{{}};]*\]\])"
_HEADER = re.compile(
    rf'extern\s+"C"\s+(?:{_ATTRIBUTE}\s+)*__global__\s+(?:{_ATTRIBUTE}\s+)*void\s+'
    rf"(?:{_ATTRIBUTE}\s+)*(?P<name>[A-Za-z_]\w*)\s*{_PARENS}\s*(?P<brace>\{{)"
)
_GLOBAL = re.compile(r"\b__global__\b")


@dataclass(frozen=True)
class Span:
    """A kernel in the module text: its full symbol and where it starts and ends."""

    symbol: str
    start: int
    end: int


def find_kernels(masked: str) -> list[Span]:
    """Return every kernel of a masked module text, in text order.

    Args:
        masked: the module text as ``lexer.mask`` returns it.

    Raises:
        ExtractError: a ``__global__`` that is no kernel header known here (a kernel would be
            lost without a word), braces that do not balance, or two kernels of one name.
    """
    spans: list[Span] = []
    taken: list[tuple[int, int]] = []
    for match in _HEADER.finditer(masked):
        line = line_of(masked, match.start())
        if spans and match.start() < spans[-1].end:
            message = f"kernel {match['name']} opens inside the body of {spans[-1].symbol}"
            raise ExtractError(f"line {line}: {message}: its braces do not balance")
        if any(span.symbol == match["name"] for span in spans):
            raise ExtractError(f"line {line}: a second kernel named {match['name']}")
        end = closing_brace(masked, match.start("brace"), f"kernel {match['name']}")
        spans.append(Span(match["name"], match.start(), end))
        taken.append(match.span())
    _refuse_lost_kernels(masked, taken)
    return spans


def _refuse_lost_kernels(masked: str, taken: list[tuple[int, int]]) -> None:
    for match in _GLOBAL.finditer(masked):
        if not any(start <= match.start() < end for start, end in taken):
            line = line_of(masked, match.start())
            raise ExtractError(f"line {line}: __global__ in a kernel header of unknown form")
