"""The dialect of the text that is being written, and its words.

A text has one dialect from its first line to its last, and whoever prints a part of it asks for
words here. So it is a context of the whole text, as precision is one of decimal arithmetic, and no
parameter of every printer; nothing of it is looked up in finished text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from synth.render.cuda.dialect.table import Dialect, NoForm
from synth.render.cuda.dialect.words import CUDA

_SPOKEN: ContextVar[Dialect] = ContextVar("dialect", default=CUDA)


def spoken() -> Dialect:
    """The dialect of the text that is being written: CUDA unless :func:`speaking` says another."""
    return _SPOKEN.get()


@contextmanager
def speaking(dialect: Dialect) -> Iterator[None]:
    """Have all that is printed within be of a dialect."""
    token = _SPOKEN.set(dialect)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def thread_at(axis: str = "x") -> str:
    """A thread's place in its block."""
    return spoken().at(spoken().thread, axis)


def block_at(axis: str = "x") -> str:
    """A block's place in the grid."""
    return spoken().at(spoken().block, axis)


def block_extent(axis: str = "x") -> str:
    """Threads of a block along an axis."""
    return spoken().at(spoken().block_size, axis)


def launch_place(axis: str = "x") -> str:
    """A thread's place in the launch."""
    return spoken().at(spoken().place, axis)


def launch_extent(axis: str = "x") -> str:
    """Threads of the launch along an axis."""
    return spoken().at(spoken().all_threads, axis)


def bracketed(text: str) -> str:
    """A word of a place as an operand of anything."""
    return f"({text})" if " " in text else text


def pointer(kind: str, const: bool, space: str) -> str:
    """The type of a pointer; ``space`` is ``spoken().global_``, ``.local`` or ``""``."""
    return f"{space}{'const ' if const else ''}{kind}*"


def need_shuffles(what: str) -> None:
    """:class:`NoForm` in a dialect whose threads cannot join values within a warp of 32."""
    if not spoken().shuffles:
        raise NoForm(f"{what} shuffles values between the 32 threads of a warp")
