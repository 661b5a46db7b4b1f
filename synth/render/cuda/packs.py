"""Several neighbouring elements as one value: the struct that is loaded and stored at once."""

from __future__ import annotations

from generators.program.dtypes import Type
from synth.render.cuda.dialect.current import pointer, spoken
from synth.render.cuda.kernel import KernelText
from synth.render.cuda.types import MOST_ALIGNMENT, size_of, stored_name, struct


def pack(text: KernelText, element: Type, count: int) -> str:
    """The struct of so many values, aligned for the widest loads; its definition joins the text."""
    text.library.type(element)
    kind = stored_name(element)
    name = text.library.spelled(f"{_capital(kind)}Pack{count}")
    size = size_of(element) * count
    align = next(a for a in (MOST_ALIGNMENT, 8, 4, 2, 1) if size % a == 0)
    text.library.types.setdefault(name, struct(name, [f"{kind} v[{count}]"], align))
    return name


def seen_as(kind: str, const: bool, place: str) -> str:
    """What lies in memory from a place on, seen as one value of a wider type."""
    target = pointer(kind, const, spoken().global_)
    if spoken().overloads:
        return f"*reinterpret_cast<{target}>({place})"
    return f"*({target})({place})"


def _capital(kind: str) -> str:
    """A type's name within that of a struct: ``UnsignedChar``, ``Float3``, ``Half``."""
    return "".join(word[:1].upper() + word[1:] for word in kind.strip("_").split())
