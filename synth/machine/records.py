"""What became of a text of a row, as records of the configuration `lowered`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any

from validate.nvrtc.lowered import GRADIENT, PLAIN, WARP, Kernel, Lowered
from validate.row.occupancy import occupancy
from validate.text.launches import listed

Row = Mapping[str, Any]

EMITS = ("ptx", "sass", "resources")
"""What can be asked for."""

_LAUNCHES = {PLAIN: "plain_launch", GRADIENT: "backward_launch"}
_SCHEDULES = {PLAIN: "schedule", GRADIENT: "backward_schedule"}


def records_of(
    row: Row, column: str, arch: str, found: Lowered, emit: frozenset[str], nvdisasm: str | None
) -> list[dict[str, Any]]:
    """A record for each kernel of a column, one without figures for a text that failed."""
    schedule = row[_SCHEDULES[column]] if column in _SCHEDULES else None
    common = {
        **{name: row[name] for name in ("id", "category", "idiom", "level")},
        "arch": arch,
        "column": column,
        "style": None if schedule is None else json.loads(schedule)["style"],
        "status": str(found.status),
        "reason": found.reason or None,
        "nvrtc": found.nvrtc or None,
        "nvdisasm": nvdisasm,
    }
    if not found.kernels:
        return [common]
    launches = _launches(row, column)
    return [
        {
            **common,
            "kernel": kernel.name,
            "ptx": found.ptx if "ptx" in emit else None,
            **_code(kernel),
            **(_needs(kernel, arch, launches) if "resources" in emit else {}),
        }
        for kernel in found.kernels
    ]


def _code(kernel: Kernel) -> dict[str, Any]:
    if kernel.sass is None:
        return {}
    return {
        "sass": kernel.sass.text,
        "lines": [{"offset": at, "line": line} for at, line in kernel.sass.lines],
        "instructions": kernel.sass.instructions,
    }


def _needs(kernel: Kernel, arch: str, launches: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Resources of a kernel, and its occupancy where it is launched."""
    used = kernel.usage
    needs = {
        "registers": used.registers,
        "spill_stores": used.spill_stores,
        "spill_loads": used.spill_loads,
        "spill_bytes": used.spill_stores + used.spill_loads,
        "shared_bytes": used.shared_bytes,
        "stack_bytes": used.stack_bytes,
        "constant_bytes": kernel.constant_bytes,
        "barriers": used.barriers,
    }
    launched = launches.get(kernel.name) or launches.get("")
    if launched is None:
        return needs
    threads, dynamic = launched
    found = occupancy(
        arch,
        threads=threads,
        registers=used.registers,
        shared_bytes=used.shared_bytes + dynamic,
        barriers=used.barriers,
    )
    return {
        **needs,
        "block_threads": threads,
        "dynamic_shared_bytes": dynamic,
        "blocks_per_sm": found.blocks,
        "occupancy": found.share,
        "limited_by": found.limited_by,
    }


def _launches(row: Row, column: str) -> dict[str, tuple[int, int]]:
    """Threads of a block and dynamic shared bytes by kernel, of the first launch of each; under the
    empty name those of a kernel that launches do not name."""
    if column == WARP:
        threads = row["launch"]["block_dim"] if row["launch"] else None
        return {"": (threads, 0)} if threads else {}
    found: dict[str, tuple[int, int]] = {}
    for launch in listed(row[_LAUNCHES[column]]):
        size = prod(launch["block"]), launch["shared_bytes"] or 0
        found.setdefault(launch.get("kernel") or "", size)
    return found
