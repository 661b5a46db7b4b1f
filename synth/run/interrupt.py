"""Ctrl-C that is not lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def kept_interrupt() -> Iterator[Callable[[], None]]:
    """Remember Ctrl-C: Python drops a KeyboardInterrupt that is raised in a finaliser or callback.

    Gives a function that raises it again when there was one.
    """
    asked = False

    def handler(_signal: int, _frame: object) -> None:
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    def stop_if_asked() -> None:
        if asked:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stop_if_asked
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield stop_if_asked
    finally:
        signal.signal(signal.SIGINT, before)
