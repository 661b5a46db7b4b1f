"""What lowering the texts of a dataset has shown, read from the configuration `lowered`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from synth.card.tables import table
from synth.dataset.lowered import lowered_records, stale_files
from synth.dataset.manifest import Manifest

Record = Mapping[str, Any]

ALL = "all"
_COLUMNS = ["id", "arch", "column", "style", "status", "registers", "spill_bytes", "occupancy"]
_COLUMNS += ["shared_bytes", "instructions", "nvrtc"]
_NAMES = {
    "cuda_plain": "plain CUDA",
    "cuda_plain_backward": "backward kernel of ours",
    "cuda_forward": "Warp's forward kernel",
}
_HEADS = (
    *("style", "kernels", "registers", "90 %", "most", "spilling", "shared memory"),
    *("occupancy", "instructions"),
)


def lowered(out: Path, manifest: Manifest | None = None) -> list[dict[str, Any]]:
    """One entry for each architecture and column: rows, kernels, texts that failed, and by style
    (under "all" for all of them) what kernels need. `manifest` is the one to be, where it is not
    written yet.

    Raises SettingsError for a file that cannot be read.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in lowered_records(out, _COLUMNS, manifest):
        groups.setdefault((record["arch"], record["column"]), []).append(record)
    return [
        {
            "arch": arch,
            "column": column,
            "nvrtc": max(record["nvrtc"] or "" for record in records),
            "rows": len({record["id"] for record in records}),
            "failed": sum(record["status"] != "compiles" for record in records),
            "styles": _styles(records),
        }
        for (arch, column), records in sorted(groups.items())
    ]


def _styles(records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    """What kernels need, by style; nothing where resources were not asked for."""
    there = [record for record in records if record["registers"] is not None]
    by_style: dict[str, list[Record]] = {ALL: there} if there else {}
    for record in there:
        if record["style"] is not None:
            by_style.setdefault(record["style"], []).append(record)
    return {style: _needs(mine) for style, mine in sorted(by_style.items())}


def _needs(records: Sequence[Record]) -> dict[str, Any]:
    registers = sorted(record["registers"] for record in records)
    return {
        "kernels": len(records),
        "registers": {
            "median": median(registers),
            "90 %": registers[9 * (len(registers) - 1) // 10],
            "most": registers[-1],
        },
        "spilling": sum(record["spill_bytes"] > 0 for record in records),
        "with_shared_memory": sum(record["shared_bytes"] > 0 for record in records),
        "occupancy_median": _median(record["occupancy"] for record in records),
        "instructions_median": _median(record["instructions"] for record in records),
    }


def _median(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return median(there) if there else None


def lowered_title(one: Record) -> str:
    """What an entry is of, in a line."""
    failed = f", {one['failed']} failed" if one["failed"] else ""
    column = _NAMES.get(one["column"], one["column"])
    return f"{column} of {one['rows']:,} rows for {one['arch']}, NVRTC {one['nvrtc']}{failed}"


def lowered_cells(one: Record) -> list[list[str]]:
    """Lines of a table under `lowered_heads`."""
    return [[style, *_cells(needs)] for style, needs in one["styles"].items()]


def lowered_heads() -> tuple[str, ...]:
    """Heads of that table: medians where nothing else is said, shares of the kernels for spills
    and shared memory, and of an SM's warps for the occupancy."""
    return _HEADS


def _cells(needs: Record) -> list[str]:
    kernels, registers = needs["kernels"], needs["registers"]
    occupancy, instructions = needs["occupancy_median"], needs["instructions_median"]
    return [
        str(kernels),
        *(f"{registers[name]:g}" for name in ("median", "90 %", "most")),
        f"{needs['spilling'] / kernels:.1%}",
        f"{needs['with_shared_memory'] / kernels:.0%}",
        "" if occupancy is None else f"{occupancy:.0%}",
        "" if instructions is None else f"{instructions:g}",
    ]


def lowered_part(out: Path, manifest: Manifest | None = None) -> str:
    """The part of the card on machine code; empty where nothing was lowered."""
    parts = [
        f"{_upper(lowered_title(one))}:\n\n{table(lowered_heads(), lowered_cells(one))}"
        for one in lowered(out, manifest)
        if one["styles"]
    ]
    if not parts:
        return ""
    head = (
        "Texts were compiled to machine code (configuration `lowered`: PTX, SASS with the lines it "
        "comes from, registers, spills, memory, occupancy by the architecture's rules). Registers "
        "a thread, occupancy and instructions are medians; nothing of this was run."
    )
    return "\n\n".join([head, *parts])


def stale_line(out: Path) -> str:
    """What to say of files that belong to other shards; empty where there are none."""
    count = len(stale_files(out))
    files = "a file" if count == 1 else f"{count} files"
    return f"lowered: {files} of other shards left out; run `compile` again" if count else ""


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
