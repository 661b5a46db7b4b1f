"""Write the best schedules that were measured to `synth/lower/choose/measured.json`.

    PYTHONPATH=. python scripts/author/write_lower_table.py RESULTS.json...

RESULTS are of `scripts/measure/lower_times.py --json`. Of each op, dtype and shape the fastest
right candidate of all files stays; an entry of the table that no file has stays as it is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from synth.lower.choose.request import read_request
from synth.lower.choose.table import FILE
from synth.lower.gemm.plan import CORES


def entries(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The fastest candidate of each job of a report, and how many were measured there."""
    for result in report["results"]:
        timed = [one for one in result["candidates"] if "us" in one]
        if not timed:
            continue
        best = min(timed, key=lambda one: one["us"])
        schedule = best["schedule"]
        if result["op"].startswith("matmul") and "core" not in schedule:
            core = next(core for core, dtypes in CORES.items() if result["dtype"] in dtypes)
            schedule = {"core": core, **schedule}
        request = read_request({"op": result["op"], "dtype": result["dtype"]})
        yield {
            "problem": dict(request.problem),
            "device": report["device"],
            "sizes": result["sizes"],
            "schedule": schedule,
            "time_us": round(best["us"], 2),
            "measured": len(timed),
        }


def place(entry: Mapping[str, Any]) -> str:
    """What an entry is of."""
    return json.dumps([entry["problem"], entry["device"], entry["sizes"]], sort_keys=True)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    found = {}
    if FILE.is_file():
        found = {place(entry): entry for entry in json.loads(FILE.read_text())}
    fresh: dict[str, dict[str, Any]] = {}
    for file in parser.parse_args().files:
        for entry in entries(json.loads(file.read_text())):
            before = fresh.get(place(entry))
            if before is None or entry["time_us"] < before["time_us"]:
                fresh[place(entry)] = entry
    found |= fresh
    lines = [json.dumps(found[key]) for key in sorted(found)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(fresh)} of {len(found)} entries written")


if __name__ == "__main__":
    main()
