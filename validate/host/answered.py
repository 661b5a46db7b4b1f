"""What the process of a kernel hands back: a line of JSON, then the bytes of its outputs.

It comes from a process that a text has had to itself: it is read as data that may say anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Written = Mapping[str, bytes]
"""The outputs of one launch by name, as they lie in memory."""

_END_BYTES = 8
_OF_A_BRANCH = 7


@dataclass(frozen=True)
class Answered:
    """`status` and `reason` of the last launch, "ran" when all ran; by launch, as far as they ran,
    the outputs (None for one that was left out) and the records of its comparisons."""

    status: str
    reason: str
    outputs: Sequence[Written | None]
    branches: Sequence[Sequence[Sequence[int]]] = ()

    def to_bytes(self) -> bytes:
        """The form in which a process hands it to its parent."""
        sizes = [
            None if w is None else {name: len(data) for name, data in w.items()}
            for w in self.outputs
        ]
        head = {"status": self.status, "reason": self.reason, "outputs": sizes}
        line = json.dumps({**head, "branches": self.branches}).encode() + b"\n"
        parts = [line, *(data for w in self.outputs if w is not None for data in w.values())]
        return b"".join([*parts, sum(map(len, parts)).to_bytes(_END_BYTES, "little")])

    @classmethod
    def from_bytes(cls, data: bytes) -> Answered:
        """The inverse; what is of another form comes back with an empty status."""
        try:
            return cls._read(data)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls("", "", ())

    @classmethod
    def _read(cls, data: bytes) -> Answered:
        start = data.index(b"\n") + 1
        head = json.loads(data[:start])
        outputs: list[Written | None] = []
        for sizes in head["outputs"]:
            if sizes is None:
                outputs.append(None)
                continue
            written = {}
            for name, size in sizes.items():
                # Else one part could be asked for over and over.
                if int(size) < 0:
                    raise ValueError(f"{size} bytes of {name}")
                written[name], start = data[start : start + int(size)], start + int(size)
            outputs.append(written)
        branches = [[_record(record) for record in trial] for trial in head["branches"]]
        return cls(str(head["status"]), str(head["reason"]), outputs, branches)


def _record(said: Sequence[Any]) -> list[int]:
    record = [int(value) for value in said]
    if len(record) != _OF_A_BRANCH:
        raise ValueError(f"{len(record)} values of a comparison")
    return record


def is_whole(data: bytes) -> bool:
    """Whether a process came to the end of what it wrote."""
    return int.from_bytes(data[-_END_BYTES:], "little") == len(data) - _END_BYTES > 0
