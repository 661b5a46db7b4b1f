"""`pairsmith::watch_t` of `cuda_host/watch.h`: who touched what in an arena, by barriers passed."""

from __future__ import annotations

import numpy as np

from validate.host_memory import SEVERAL, VERBS, Arena

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


class PlainWatch:
    """Notices accesses outside arrays, and races, of global memory and of shared memory."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.bytes = np.zeros(arena.memory.size, _BYTE)
        for name, start in arena.start.items():
            self.bytes["inside"][start : start + arena.values[name].nbytes] = 1
        self.record = np.zeros((), _WATCH)
        self.record["base"] = arena.memory.ctypes.data
        self.record["size"] = arena.memory.size
        self.record["bytes"] = self.bytes.ctypes.data

    def trouble(self) -> tuple[str, str] | None:
        """The status and the reason of the first trouble, if there was any."""
        found = self.record["trouble"]
        access, earlier = int(found["access"]), int(found["earlier"])
        if not access:
            return None
        offset = int(found["offset"])
        place = f"byte {offset} of shared memory" if found["shared"] else self.arena.place(offset)
        here = f"thread {found['thread']} {VERBS[access]} {place}"
        if not earlier and found["shared"] and access == 1:
            return "read_out_of_bounds", f"{here}, which nobody has written"
        if not earlier:
            return "read_out_of_bounds" if access == 1 else "wrote_out_of_bounds", here
        alone = found["other"] < SEVERAL
        before = f"thread {found['other']}" if alone else "other threads"
        verb = VERBS[earlier] if alone else VERBS[earlier][:-1]
        return "data_race", f"{here}, which {before} {verb}"
