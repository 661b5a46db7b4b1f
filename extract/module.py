"""Take a CUDA module text apart: what comes first, what kernels share, and the kernels."""

import re
from dataclasses import dataclass
from functools import lru_cache

from extract.braces import brace_ends
from extract.clean import INNER_NEWLINE, MARK, clean
from extract.errors import ExtractError, line_of
from extract.headers import Span, find_kernels
from extract.lexer import Token, mask, tokens, tokens_within
from extract.names import kernel_renames, split_symbol, struct_renames

# A directive with the blank lines before it and its continuation lines; looked for in masked text.
_DIRECTIVE = re.compile(
    r"\s*(?=#[^\S\n]*(?:(?P<open>if)|(?P<close>endif))?)"
    r"(?:[^\n]*\\[^\S\n]*\n)*(?P<last>[^\n]*)\n?"
)
# The last line of one that can not end the prologue: a #line stands with the function it precedes.
_NO_END = re.compile(r"\s*#\s*line\b|.*\\\s*\Z")


@dataclass(frozen=True)
class Kernel:
    """One kernel.

    Attributes:
        name: without ``_cuda_kernel_forward``.
        forward: clean text of the forward kernel.
        backward: clean text of the adjoint kernel, None when the module has none.
        line_map: (Python line, line of ``forward``), both from 1, in order of ``forward``.
    """

    name: str
    forward: str
    backward: str | None
    line_map: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ModuleText:
    """A module in parts.

    For a module of one kernel ``prologue + helpers + forward + backward`` is a complete
    translation unit.

    Attributes:
        prologue: directives that precede the first declaration.
        helpers: structs and device functions, forward and adjoint; may be empty.
        kernels: in text order.
    """

    prologue: str
    helpers: str
    kernels: tuple[Kernel, ...]


def extract_module(text: str, *, strip_kernel_hash: bool = True) -> ModuleText:
    """Take the CUDA module text that Warp generates apart.

    Args:
        text: the whole module.
        strip_kernel_hash: take an 8-digit hash off kernel names. Pass False when the module was
            made without hashes, so that a kernel called ``frame_20240101`` keeps its name.

    Raises:
        ExtractError: something would be lost or changed in meaning: braces that do not balance,
            a ``__global__`` in a header of unknown form, names that collide without their hash.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    _refuse_control_characters(text)
    found = tokens(text)
    masked = mask(text, found)
    spans = find_kernels(masked, brace_ends(masked))
    renames = struct_renames(masked)
    if strip_kernel_hash:
        renames |= kernel_renames([span.symbol for span in spans])

    start = _prologue_end(masked)
    shared = _between(text, start, spans)
    return ModuleText(
        prologue=_clean_prologue(text[:start], renames),
        helpers=clean(shared, tokens(shared), renames).text,
        kernels=_pair(text, found, spans, renames),
    )


def _refuse_control_characters(text: str) -> None:
    offsets = [text.index(control) for control in (MARK, INNER_NEWLINE) if control in text]
    if offsets:
        raise ExtractError(f"line {line_of(text, min(offsets))}: a control character")


def _prologue_end(masked: str) -> int:
    """Return the offset behind the last directive, outside all ``#if``, before the first code."""
    at = end = depth = 0
    while directive := _DIRECTIVE.match(masked, at):
        at = directive.end()
        depth += bool(directive["open"]) - bool(directive["close"])
        if depth == 0 and not _NO_END.match(directive["last"]):
            end = at
    return end


def _between(text: str, start: int, spans: list[Span]) -> str:
    """Return all text from ``start`` on that is in no kernel."""
    shared, done = [], start
    for span in spans:
        shared.append(text[done : span.start])
        done = span.end
    shared.append(text[done:])
    return "".join(shared)


def _clean_prologue(text: str, renames: dict[str, str]) -> str:
    present = tuple((old, new) for old, new in renames.items() if old in text)
    return _clean_alone(text, present)


@lru_cache(maxsize=16)
def _clean_alone(text: str, renames: tuple[tuple[str, str], ...]) -> str:
    """Clean text that is the same in nearly all modules of one Warp version."""
    return clean(text, tokens(text), dict(renames)).text


def _pair(
    text: str, found: list[Token], spans: list[Span], renames: dict[str, str]
) -> tuple[Kernel, ...]:
    forwards: dict[str, Kernel] = {}
    backwards: dict[str, str] = {}
    for span in spans:
        name, is_backward = split_symbol(renames.get(span.symbol, span.symbol))
        inside = tokens_within(found, span.start, span.end)
        cleaned = clean(text[span.start : span.end], inside, renames)
        if is_backward:
            backwards[name] = cleaned.text
        elif name in forwards:
            raise ExtractError(f"two kernels are called {name}")
        else:
            forwards[name] = Kernel(name, cleaned.text, None, cleaned.line_map)
    lonely = backwards.keys() - forwards.keys()
    if lonely:
        raise ExtractError(f"backward kernels without a forward one: {', '.join(sorted(lonely))}")
    return tuple(
        Kernel(k.name, k.forward, backwards.get(k.name), k.line_map) for k in forwards.values()
    )
