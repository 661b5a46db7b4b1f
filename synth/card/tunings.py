"""What tunings of a dataset have shown, read from `gpu/` beside its shards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.names import GPU
from synth.errors import SettingsError

Record = Mapping[str, Any]
WITHIN = (1.1, 1.25)
_COLUMNS = ["id", "contender", "own", "sizes", "elements", "status", "time_us"]


def tunings(out: Path) -> list[dict[str, Any]]:
    """One entry for each device: its name, rows, trials, how good the published schedules are in
    the middle of their regimes, and how much longer Warp's text takes there (a median).

    Raises SettingsError for a file that cannot be read.
    """
    found = []
    for path in sorted((out / GPU).glob("tune-*.parquet")):
        try:
            table = pq.read_table(path, columns=_COLUMNS)
            about = json.loads(table.schema.metadata[b"pairsmith"])
        except (pa.ArrowInvalid, OSError, KeyError, TypeError, ValueError) as error:
            raise SettingsError(f"{path} cannot be read: {error}; delete it") from None
        records = table.to_pylist()
        plain = [record for record in records if record["contender"] == "plain"]
        found.append(
            {
                "device": about["devices"][0]["name"],
                "rows": len({record["id"] for record in records}),
                "trials": len(plain),
                "failed": sum(record["status"] != "passed" for record in plain),
                "within": shares_within(own_over_best(records)),
                "warp_over_plain": _median(warp_over_own(records)),
            }
        )
    return found


def own_over_best(records: Iterable[Record]) -> list[float]:
    """For each row, the time of its own schedule over the best time of any, in the middle of the
    sizes that it was timed at."""
    return [
        own["time_us"] / min(r["time_us"] for r in timed if r["contender"] == "plain")
        for own, timed in _in_the_middle(records)
    ]


def warp_over_own(records: Iterable[Record]) -> list[float]:
    """For each row, the time of Warp's text over that of the row's own schedule, at the same."""
    return [
        warp["time_us"] / own["time_us"]
        for own, timed in _in_the_middle(records)
        for warp in timed
        if warp["contender"] == "warp"
    ]


def shares_within(ratios: Sequence[float]) -> dict[str, float]:
    """Share of ratios up to each of the limits; nothing where there are no ratios."""
    if not ratios:
        return {}
    return {str(limit): sum(r <= limit for r in ratios) / len(ratios) for limit in WITHIN}


def tuning_table(found: Sequence[Record]) -> str:
    """The tunings as a table in Markdown."""
    lines = [
        "| device | rows | trials | failed | published within 1.1 of the best | within 1.25 "
        "| Warp over published |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for one in found:
        shares = [f"{share:.0%}" for share in one["within"].values()] or ["", ""]
        ratio = "" if one["warp_over_plain"] is None else f"{one['warp_over_plain']:.2f}"
        cells = [one["device"], one["rows"], one["trials"], one["failed"], *shares, ratio]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def tuning_line(one: Record) -> str:
    """A tuning as a line."""
    shares = " and ".join(f"within {limit} {share:.0%}" for limit, share in one["within"].items())
    ratio = one["warp_over_plain"]
    return (
        f"{one['rows']} rows tuned on {one['device']}, {one['failed']} of {one['trials']} trials "
        f"failed; of the best schedule found, {shares or 'nothing timed'}"
        + ("" if ratio is None else f"; Warp over the published {ratio:.2f}")
    )


def _in_the_middle(records: Iterable[Record]) -> list[tuple[Record, list[Record]]]:
    """The timing of each row's own schedule in the middle of its sizes, and all timings there."""
    by_row: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        if record["time_us"] is not None:
            by_row.setdefault(record["id"], {}).setdefault(record["sizes"], []).append(record)
    found = []
    for sizes in by_row.values():
        ordered = sorted(sizes.values(), key=lambda timed: timed[0]["elements"])
        timed = ordered[len(ordered) // 2]
        found += [(record, timed) for record in timed if record["own"]]
    return found


def _median(ratios: Sequence[float]) -> float | None:
    return median(ratios) if ratios else None
