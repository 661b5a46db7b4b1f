"""`pairsmith::watch_t` of `cuda/watch.h`: who touched what in an arena, by barriers passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from validate.host.memory import Watch

_PLAIN_READ = 1

_MARK = np.dtype(
    [
        ("thread", np.uint32),
        ("barriers", np.uint32),
        ("meetings", np.uint32),
        ("scope", np.uint32),
    ]
)
_BYTE = np.dtype([("reader", _MARK), ("writer", _MARK), ("updater", _MARK), ("inside", np.uint32)])
_TROUBLE = [(n, np.uint32) for n in ("access", "thread", "earlier", "other", "shared", "unused")]
_WATCH = np.dtype(
    [
        ("base", np.uint64),
        ("size", np.uint64),
        ("bytes", np.uint64),
        ("trouble", np.dtype([*_TROUBLE, ("offset", np.uint64)])),
    ]
)


class PlainWatch(Watch):
    """Notices accesses outside arrays, and races, of global memory and of shared memory."""

    byte_type = _BYTE
    record_type = _WATCH

    def _place(self, found: Any) -> str:
        if not found["shared"]:
            return super()._place(found)
        unwritten = found["access"] == _PLAIN_READ and not found["earlier"]
        place = f"byte {found['offset']} of shared memory"
        return f"{place}, which nobody has written" if unwritten else place
