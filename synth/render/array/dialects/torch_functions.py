"""Lines of PyTorch that are a function of its own together: softmax and its logarithms.

What decides is what the lines compute, not what a kernel is called: the maximum of a tensor along a
dimension, the sum of the exponentials of what it exceeds it by, and what is made of both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PEAK = re.compile(r" *(\w+) = (\S.*)\.amax\(dim=-1\)")
_LOG_SUM = re.compile(r" *(\w+) = torch\.logsumexp\((.*), dim=-1\)")
_ENCLOSED = re.compile(r"(?<!\w)\((torch\.(?:softmax|log_softmax|logsumexp)\([^()]*\))\)")


@dataclass(frozen=True)
class _Row:
    """The names of the parts: what is reduced, its maximum and sum, exponentials where they have a
    name, and the index that gives a reduced tensor its dimension back."""

    of: str
    peak: str
    total: str
    exponentials: str
    back: str


def with_functions(lines: Sequence[str]) -> list[str]:
    """The lines of a function's body with the functions of PyTorch that some of them are."""
    found = list(lines)
    for line in lines:
        match = _PEAK.fullmatch(line)
        row = _row(found, *match.groups()) if match else None
        if row is not None:
            found = [_softmax(text, row) for text in found]
    for line in list(found):
        match = _LOG_SUM.fullmatch(line)
        if match and all(_once(found, name) for name in _words(" ".join(match.groups()))):
            found = [_log_softmax(text, *match.groups()) for text in found]
    return [_ENCLOSED.sub(r"\1", line) for line in found]


def _row(lines: Sequence[str], peak: str, of: str) -> _Row | None:
    """What is known of a maximum; None where its sum of exponentials is not there."""
    text = "\n".join(lines)
    of = of[1:-1] if of.startswith("(") and _closes(of) else of
    for back in ("[:, None]", "[:, :, None]", "[..., None]", "[:, :, :, None]"):
        power = f"torch.exp({of} - {peak}{back})"
        named = re.search(rf"^ *(\w+) = {re.escape(power)}$", text, re.M)
        powers = [power, *([named.group(1)] if named else [])]
        sums = "|".join(re.escape(p) for p in powers)
        total = re.search(rf"^ *(\w+) = (?:{sums})\.sum\(dim=-1\)$", text, re.M)
        if total is None:
            continue
        names = {peak, total.group(1), *powers[1:], *_words(of)}
        if all(_once(lines, name) for name in names):
            return _Row(of, peak, total.group(1), named.group(1) if named else "", back)
    return None


def _closes(text: str) -> bool:
    """Whether the parenthesis that a text begins with is closed by its last character."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def _words(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w.])[a-z_]\w*", text)) - {"torch", "dim", "dtype"}


def _once(lines: Sequence[str], name: str) -> bool:
    """Whether a name is given to one value at most, and no part of it is changed."""
    assigned = re.compile(rf" *(?:for )?{name}(?:\[.*\])? (?:[-+*/]?=|in) ")
    return sum(bool(assigned.match(line)) for line in lines) <= 1


def _softmax(line: str, row: _Row) -> str:
    power = f"torch.exp({row.of} - {row.peak}{row.back})"
    whole = f"torch.softmax({row.of}, dim=-1)"
    log_sum = f"torch.logsumexp({row.of}, dim=-1)"
    for exponentials in filter(None, (power, row.exponentials)):
        line = _put(line, f"{exponentials} / {row.total}{row.back}", whole)
    line = _put(line, f"{row.peak} + torch.log({row.total})", log_sum)
    return _put(line, f"torch.log({row.total}) + {row.peak}", log_sum)


def _log_softmax(line: str, log_sum: str, of: str) -> str:
    whole = f"torch.log_softmax({of}, dim=-1)"
    for back in ("[:, None]", "[:, :, None]", "[..., None]"):
        line = _put(line, f"torch.exp({of} - {log_sum}{back})", f"torch.softmax({of}, dim=-1)")
        line = _put(line, f"{of} - {log_sum}{back}", whole)
    return line


def _put(line: str, old: str, new: str) -> str:
    """A line with one text for another where that stands as a factor, an argument or alone: an
    operator before it that binds tighter, or after it, would take a part of it."""
    before, after = r"(?<![\w.])(?<![-*/@+] )(?<!-)", r"(?![\w.\[(])(?! [*/@])"
    if "/" in old:
        before, after = r"(?<![\w.])(?<![/@*] )(?<!-)", r"(?![\w.\[(])"
    return re.sub(before + re.escape(old) + after, lambda _: new, line)
