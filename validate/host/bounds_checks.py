"""Which comparisons in machine code are checks of an index that Clang's sanitizer put there.

They look like a text's own; what tells them apart is where they jump to. x86-64 is read; elsewhere
comparisons of 64 bits with a constant are taken for checks.
"""

from __future__ import annotations

import ctypes
import platform

_WINDOW = 96
_HANDLER_WINDOW = 24
_CALL, _TWO_BYTES = 0xE8, 0x0F


def is_bounds_check(place: int, handler: int, span: tuple[int, int]) -> bool:
    """Whether the conditional jump after a comparison leads to a call of the handler.

    `place` is where the comparison's call returns to, `handler` the address of the function that
    is told of a bad index (0: none is in the object), `span` the memory of the object.
    """
    if not handler:
        return False
    if platform.machine() != "x86_64":
        return True
    code = _bytes(place, _WINDOW, span)
    for at in range(len(code) - 6):
        if code[at] == _TWO_BYTES and code[at + 1] & 0xF0 == 0x80:
            distance, length = _signed(code[at + 2 : at + 6]), 6
        elif code[at] & 0xF0 == 0x70:
            distance, length = _signed(code[at + 1 : at + 2]), 2
        else:
            continue
        after = place + at + length
        if _calls(after, handler, span) or _calls(after + distance, handler, span):
            return True
    return False


def _calls(start: int, handler: int, span: tuple[int, int]) -> bool:
    code = _bytes(start, _HANDLER_WINDOW, span)
    return any(
        code[at] == _CALL and start + at + 5 + _signed(code[at + 1 : at + 5]) == handler
        for at in range(len(code) - 5)
    )


def _bytes(start: int, count: int, span: tuple[int, int]) -> bytes:
    if not span[0] <= start < span[1]:
        return b""
    return ctypes.string_at(start, min(count, span[1] - start))


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)
