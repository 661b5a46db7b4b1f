"""The table of a benchmark in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

Record = Mapping[str, Any]

_HEAD = (
    "| category | elements | rows | Warp µs | plain µs | Warp / plain | plain GB/s "
    "| of copy | NumPy / plain | CuPy / plain |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)


def markdown(records: Sequence[Record], about: Mapping[str, Any]) -> str:
    """Medians over rows by category and size: times, ratios side by side, achieved bandwidth."""
    device, peaks = about["devices"][0], about["peaks"]
    rates = ", ".join(
        f"{rate / 1e12:.1f} TFLOP/s {scalar}" for scalar, rate in peaks["operations_per_s"].items()
    )
    lines = [
        f"# {device['name']}\n",
        f"{device['arch']}, driver for CUDA {device['driver']}, CUDA runtime {device['cuda']}, "
        f"NVRTC {about['versions']['nvrtc']}, CuPy {device['cupy']}. Measured in the same run: "
        f"copy {peaks['copy_bytes_per_s'] / 1e12:.2f} TB/s, multiply-adds {rates}.\n",
        "Medians over rows of each row's median device time, L2 flushed, inputs rotated; ratios "
        "are row by row. NumPy and CuPy (fused) run the rows whose reference is elementwise; "
        "NumPy's time is the host's.\n",
    ]
    categories = sorted({record["category"] for record in records})
    body = "".join(_lines(records, category) for category in [*categories, "all"])
    return "\n".join(lines) + "\n" + _HEAD + body


def _lines(records: Sequence[Record], category: str) -> str:
    text = ""
    for elements in sorted({record["elements"] for record in records}):
        here = [
            r for r in records if r["elements"] == elements and category in (r["category"], "all")
        ]
        by_row: dict[str, dict[str, Record]] = {}
        for record in here:
            by_row.setdefault(record["id"], {})[record["contender"]] = record
        if by_row:
            text += _line(category, elements, list(by_row.values()))
    return text


def _line(category: str, elements: int, rows: Sequence[Mapping[str, Record]]) -> str:
    plain = [row["plain"] for row in rows if "plain" in row]
    cells = [
        category,
        f"{elements:,}",
        str(len(rows)),
        _median(row["warp"]["median_us"] for row in rows),
        _median(record["median_us"] for record in plain),
        _median(_ratios(rows, "warp"), digits=2),
        _median((record["gb_per_s"] for record in plain), digits=0),
        _median((100 * record["share_of_copy"] for record in plain), digits=1, unit=" %"),
        _median(_ratios(rows, "numpy"), digits=0),
        _median(_ratios(rows, "cupy"), digits=2),
    ]
    return f"| {' | '.join(cells)} |\n"


def _ratios(rows: Iterable[Mapping[str, Record]], contender: str) -> list[float]:
    return [
        row[contender]["median_us"] / row["plain"]["median_us"]
        for row in rows
        if contender in row and "plain" in row
    ]


def _median(values: Iterable[float], digits: int = 1, unit: str = "") -> str:
    there = list(values)
    return f"{median(there):,.{digits}f}{unit}" if there else ""
