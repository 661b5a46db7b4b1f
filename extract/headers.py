"""Find kernel headers, whatever attributes stand between their words."""

import re
from dataclasses import dataclass

from extract.errors import ExtractError, line_of

_FLAT = r"[^(){};]*"
_INNER = rf"\({_FLAT}(?:\({_FLAT}\){_FLAT})*\)"
_PARENS = rf"\({_FLAT}(?:{_INNER}{_FLAT})*\)"
_ATTRIBUTE = rf"(?:(?!__global__\b|void\b)[A-Za-z_]\w*(?:\s*{_PARENS})?|\[\[[^\[\]{{}};]*\]\])"
_HEADER = re.compile(
    rf'extern\s+"C"\s+(?:{_ATTRIBUTE}\s+)*__global__\s+(?:{_ATTRIBUTE}\s+)*void\s+'
    rf"(?:{_ATTRIBUTE}\s+)*(?P<name>[A-Za-z_]\w*)\s*{_PARENS}\s*(?P<brace>\{{)"
)
# a pattern that starts with plain text is searched several times faster than one with \b
_GLOBAL = re.compile(r"__global__\b(?<=\b__global__)")


@dataclass(frozen=True)
class Span:
    """A kernel in the module text: its full symbol and where it starts and ends."""

    symbol: str
    start: int
    end: int


def find_kernels(masked: str, brace_ends: dict[int, int]) -> list[Span]:
    """Return every kernel of a masked module text, in text order.

    Args:
        masked: the module text as ``lexer.mask`` returns it.
        brace_ends: what ``braces.brace_ends`` returns for it.

    Raises:
        ExtractError: a ``__global__`` that is no kernel header known here (a kernel would be
            lost without a word), a kernel inside another, or two kernels of one name.
    """
    spans: list[Span] = []
    taken: list[tuple[int, int]] = []
    for match in _HEADER.finditer(masked):
        _refuse_overlap(masked, match, spans)
        spans.append(Span(match["name"], match.start(), brace_ends[match.start("brace")]))
        taken.append(match.span())
    _refuse_lost_kernels(masked, taken)
    return spans


def _refuse_overlap(masked: str, match: re.Match[str], spans: list[Span]) -> None:
    name = match["name"]
    if spans and match.start() < spans[-1].end:
        line = line_of(masked, match.start())
        message = f"kernel {name} opens inside the body of {spans[-1].symbol}"
        raise ExtractError(f"line {line}: {message}: its braces do not balance")
    if any(span.symbol == name for span in spans):
        line = line_of(masked, match.start())
        raise ExtractError(f"line {line}: a second kernel named {name}")


def _refuse_lost_kernels(masked: str, taken: list[tuple[int, int]]) -> None:
    for match in _GLOBAL.finditer(masked):
        if not any(start <= match.start() < end for start, end in taken):
            line = line_of(masked, match.start())
            raise ExtractError(f"line {line}: __global__ in a kernel header of unknown form")
