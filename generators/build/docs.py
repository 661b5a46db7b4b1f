"""Docstrings and first comments of kernels: what it does in short, how it is launched, shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from generators.build.draw import Draw
from generators.program import ir

LONGEST = 76
"""A sentence of more characters is no summary any more."""


def listed(phrases: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def clear(description: str) -> str:
    """A description in which "it" is not taken for what the sentence before has stored.

    "it" is the value that a kernel is about; after a sentence on another result it says so.
    """
    told = description.split(". ")
    for n, (before, now) in enumerate(pairwise(told), 1):
        if _STORED.match(before):
            now = re.sub(r"^It(?= is (?:added|multiplied)\b)", "The result", now)
            told[n] = re.sub(_IT, r"\1the result", now)
    return ". ".join(_at_once(told))


def _at_once(told: Sequence[str]) -> list[str]:
    """Sentences of which one names a value and the next what gets it, as one."""
    found: list[str] = []
    for sentence in told:
        taken, value = _TAKEN.match(sentence), _VALUE.match(found[-1]) if found else None
        if taken is None or value is None or _SAYS.match(found[-1]):
            found.append(sentence)
            continue
        noun = value[2] if value[1] in _ASKED else f"{value[1].lower()} {value[2]}"
        found[-1] = f"{taken[1]} gets {noun}{taken[2]}"
    return found


_TAKEN = re.compile(r"(\w+) gets it(\.?|(?:,|;) .*)$", re.DOTALL)
_VALUE = re.compile(r"(Take|Compute|Evaluate|The|Half) ((?:(?!, (?:then|and then)).)+)$", re.DOTALL)
_ASKED = ("Take", "Compute", "Evaluate")
_SAYS = re.compile(r"The (?:\w+ ){1,3}(?:is|are|goes|starts|has|lies|gets|holds)\b")
"""A sentence that already says something of what it names."""


_STORED = re.compile(r"\w+ gets (?!it\b)")
_IT = re.compile(r"^(\w+ (?:gets|becomes lerp\(\w+,) )it\b")


def first_sentence(description: str) -> str:
    """What a docstring can say of a kernel: the first sentence of its description.

    The plain CUDA text repeats a docstring, so that none may hold Warp's spelling of a function.
    """
    return description.split(". ")[0].rstrip(".").replace("wp.", "") + "."


def kernel_doc(
    draw: Draw,
    summary: str,
    params: Sequence[ir.Param],
    launch_dim: tuple[str, ...],
    block_dim: int = 0,
) -> str:
    """The docstring of a kernel; empty for six layouts of ten. One of tiles has a `block_dim`."""
    if not draw.layout.chance(0.4):
        return ""
    telling = not summary.startswith(("Let ", "With ", "At ", "Start "))
    if len(summary) <= LONGEST and draw.layout.chance(0.6) and telling:
        return summary
    launched = _launched(params, launch_dim)
    if block_dim:
        launched = f"over {_shape(launch_dim)} blocks of {block_dim} threads"
    about = f"Launch {launched}; {_written(params)}."
    arrays = [p for p in params if p.shape]
    if len(arrays) > 4 or len({p.shape for p in arrays}) < 2 or draw.layout.chance(0.6):
        return about
    lines = [f"    {p.name}: {_shape(p.shape)}{_ROLES[p.role]}" for p in arrays]
    return "\n".join([about, "", "Shapes:", *lines])


THREAD_A_ROW = "one thread for each row of "
"""How a comment starts that is true only where a row has one thread."""

_ROLES = {"in": "", "out": ", written", "inout": ", read and written"}


def first_comment(
    draw: Draw, params: Sequence[ir.Param], launch_dim: tuple[str, ...]
) -> tuple[ir.Comment, ...]:
    """What one thread works on where that is a whole row, for one layout in four."""
    rows = [p for p in params if p.shape[:-1] == launch_dim and p.role == "in"]
    if len(launch_dim) != 1 or not rows or not draw.layout.chance(0.25):
        return ()
    return (ir.Comment(f"{THREAD_A_ROW}{rows[0].name}"),)


def _shape(dims: tuple[str, ...]) -> str:
    return f"({dims[0]},)" if len(dims) == 1 else f"({', '.join(dims)})"


def _launched(params: Sequence[ir.Param], dims: tuple[str, ...]) -> str:
    """With which dim: an array's shape or the first sizes of one, or the sizes themselves."""
    rank = len(dims)
    whole = [p.name for p in params if p.shape == dims]
    if whole:
        return f"with dim={whole[0]}.shape"
    longer = [p.name for p in params if p.shape[:rank] == dims]
    if longer:
        part = "[0]" if rank == 1 else f"[:{rank}]"
        return f"with dim={longer[0]}.shape{part}"
    return f"over {_shape(dims)} threads"


def _written(params: Sequence[ir.Param]) -> str:
    outs = [p.name for p in params if p.role == "out"]
    changed = [p.name for p in params if p.role == "inout"]
    parts = [f"{verb} {_and(names)}" for verb, names in _verbs(outs, changed) if names]
    return " and ".join(parts) or "writes nothing"


def _verbs(outs: list[str], changed: list[str]) -> list[tuple[str, list[str]]]:
    return [("writes", outs), ("updates", changed)]


def _and(names: list[str]) -> str:
    return listed([*names[:2], f"{len(names) - 2} more"] if len(names) > 3 else names)
