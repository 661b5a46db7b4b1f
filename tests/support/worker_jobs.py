"""Jobs for worker processes, which load nothing to do them."""

from __future__ import annotations

import os
import signal
import time

LARGE_BYTES = 30_000_000
"""So long an answer is under way when the worker is ended."""
ASLEEP_S = 300


class Unsaid(Exception):  # noqa: N818
    """An error that pickles and does not come back."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def answer(job: tuple[str, int]) -> bytes:
    """What a worker gives for a job."""
    kind, number = job
    if kind == "large":
        return bytes(number)
    if kind == "raises":
        raise ValueError(f"job {number}")
    if kind == "unsaid":
        raise Unsaid(number, number)
    if kind == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "counts":
        from synth.run.worker import say_made

        for keys in range(1, number + 1):
            say_made(keys)
    if kind == "sleeps":
        time.sleep(ASLEEP_S)
    return f"{kind} {number} {os.getpid()}".encode()
