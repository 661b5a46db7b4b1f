"""Take a CUDA module text apart: what comes first, what kernels share, and the kernels."""

import re
from dataclasses import dataclass

from extract.braces import check_balance
from extract.clean import INNER_NEWLINE, MARK, clean
from extract.errors import ExtractError, line_of
from extract.headers import Span, find_kernels
from extract.lexer import mask
from extract.names import kernel_renames, split_symbol, struct_renames

_CONTROL = re.compile(f"[{MARK}{INNER_NEWLINE}]")
_CONDITIONAL = re.compile(r"\s*#\s*(?:(?P<open>if)|(?P<close>endif))")
_LINE_DIRECTIVE = re.compile(r"\s*#\s*line\b")


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
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    control = _CONTROL.search(text)
    if control:
        raise ExtractError(f"line {line_of(text, control.start())}: a control character")
    masked = mask(text)
    check_balance(masked)
    spans = find_kernels(masked)
    renames = struct_renames(masked)
    if strip_kernel_hash:
        renames |= kernel_renames([span.symbol for span in spans])

    start = _prologue_end(text, masked)
    shared, done = [], start
    for span in spans:
        shared.append(text[done : span.start])
        done = span.end
    shared.append(text[done:])
    return ModuleText(
        prologue=clean(text[:start], renames).text,
        helpers=clean("".join(shared), renames).text,
        kernels=_pair(text, spans, renames),
    )


def _prologue_end(text: str, masked: str) -> int:
    """Return the offset behind the last directive, outside all ``#if``, before the first code."""
    offset = end = depth = 0
    in_directive = False
    for line in masked.split("\n"):
        next_offset = min(offset + len(line) + 1, len(text))
        directive = in_directive or line.lstrip().startswith("#")
        if line.strip() and not directive:
            break
        if directive:
            conditional = None if in_directive else _CONDITIONAL.match(line)
            if conditional:
                depth += 1 if conditional["open"] else -1
            in_directive = line.rstrip().endswith("\\")
            # a #line stands with the function it precedes
            if depth == 0 and not in_directive and not _LINE_DIRECTIVE.match(line):
                end = next_offset
        offset = next_offset
    return end


def _pair(text: str, spans: list[Span], renames: dict[str, str]) -> tuple[Kernel, ...]:
    forwards: dict[str, Kernel] = {}
    backwards: dict[str, str] = {}
    for span in spans:
        name, is_backward = split_symbol(renames.get(span.symbol, span.symbol))
        cleaned = clean(text[span.start : span.end], renames)
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
