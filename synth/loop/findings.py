"""Facts of an answer that was compiled: what its kernels need, and what its text tells."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from synth.loop.text_facts import text_facts
from synth.machine.records import records_of
from validate.errors import CompileUnavailable
from validate.nvrtc.lowered import PLAIN, Lowerer
from validate.row.archs import DEFAULT_ARCH
from validate.score.task import Task, task_of

_EMIT = frozenset({"resources"})
_NO_COLUMNS = {"idiom": None, "schedule": json.dumps({"style": None})}
_NEEDS = (
    *("kernel", "arch", "registers", "spill_bytes", "shared_bytes", "stack_bytes"),
    *("block_threads", "occupancy", "limited_by"),
)


class Findings:
    """Keeps one compiling child; a context manager. Several threads may use it, in turn."""

    def __init__(self, arch: str = DEFAULT_ARCH) -> None:
        self.arch = arch
        self._lowerer = Lowerer()
        self._working = threading.Lock()

    def __enter__(self) -> Findings:
        return self

    def __exit__(self, *exc: object) -> None:
        self._lowerer.close()

    def of(self, text: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """``needs`` of each kernel of an answer and ``facts`` of its text; both empty where there
        is no kernel to be read or NVRTC is not there."""
        read = task_of(text, row, None)
        if not isinstance(read, Task):
            return {"needs": [], "facts": []}
        facts = [str(fact) for fact in text_facts(read.reading.code)]
        launches = [asdict(launch) for launch in read.launches]
        for launch in launches:
            launch["shared_bytes"] = _whole(launch["shared_bytes"])
        told = {**row, **_NO_COLUMNS, PLAIN: _alone(read), "plain_launch": launches}
        try:
            with self._working:
                found = self._lowerer.lower(told, PLAIN, self.arch)
        except CompileUnavailable:
            return {"needs": [], "facts": facts}
        records = records_of(told, PLAIN, self.arch, found, _EMIT, None) if found.kernels else []
        needs = [
            {name: record[name] for name in _NEEDS if record.get(name) is not None}
            for record in records
        ]
        return {"needs": needs, "facts": facts}


def _alone(read: Task) -> str:
    """The text as a file of its own: with its headers, and kernels under their own names."""
    included = "".join(f"#include <{header}>\n" for header in read.reading.headers)
    code = read.reading.code
    return included + (code if "<" in read.reading.kernel else _named(code))


def _named(code: str) -> str:
    return re.sub(r"\b__global__\b", 'extern "C" __global__', code)


def _whole(formula: Any) -> int:
    """Dynamic shared memory, where it is the same at every size; else 0."""
    return int(formula) if str(formula).isdecimal() else 0


def said(findings: Mapping[str, Any]) -> str:
    """Findings in words, as a list; empty where there are none."""
    lines = [_needs(one) for one in findings.get("needs") or ()]
    lines += findings.get("facts") or ()
    return "\n".join(f"- {line}" for line in lines)


def _needs(one: Mapping[str, Any]) -> str:
    parts = [f"{one['registers']} registers a thread"]
    if one["spill_bytes"]:
        parts.append(f"{one['spill_bytes']} bytes of spills")
    if one["shared_bytes"]:
        parts.append(f"{one['shared_bytes']} bytes of shared memory a block")
    text = f"`{one['kernel']}` on {one['arch']}: {', '.join(parts)}"
    if "occupancy" in one:
        text += f"; an SM holds {one['occupancy']:.0%} of its warps, bounded by {one['limited_by']}"
    return text
