"""Write the best schedules that were measured to `synth/lower/choose/measured.json`.

    PYTHONPATH=. python scripts/author/write_lower_table.py [RESULTS.json...]

RESULTS are of `scripts/measure/lower/times.py --json` or `tuned.py --json` beside it. Of each op,
dtype and shape the fastest right candidate of all files stays; an entry of the table that no file
has stays as it is. Shapes beyond what a spec may say are left out. Without RESULTS schedules get
fields that are new.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from synth.lower.choose.request import MOST_SIZE, read_request
from synth.lower.choose.table import FILE
from synth.lower.op import OpSpec
from synth.lower.spec import read_spec


def entries(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The fastest candidates of each job of a report, one for each set of architectures that can
    have it, and how many were measured there."""
    for result in report["results"]:
        given = result.get("fields") or {"op": result["op"], "dtype": result["dtype"]}
        given = {name: value for name, value in given.items() if name != "schedule"}
        if max(result["sizes"].values()) > MOST_SIZE:
            continue
        best: dict[tuple[str, ...], dict[str, Any]] = {}
        timed = [one for one in result["candidates"] if "us" in one]
        for one in sorted(timed, key=lambda one: -one["us"]):
            spec = whole(given, one["schedule"])
            best[spec.archs] = {
                "problem": dict(read_request(given).problem),
                "device": report["device"],
                "sizes": result["sizes"],
                "schedule": dict(spec.schedule),
                "time_us": round(one["us"], 2),
                "measured": len(timed),
            }
        yield from best.values()


def whole(given: Mapping[str, Any], schedule: Mapping[str, Any]) -> OpSpec:
    """The spec of a problem under a schedule, whose core older reports leave out."""
    first = read_spec(given)
    assert isinstance(first, OpSpec)
    core = {"core": dict(first.schedule)["core"]} if "core" in dict(first.schedule) else {}
    spec = read_spec({**given, "schedule": {**core, **schedule}})
    assert isinstance(spec, OpSpec)
    return spec


def place(entry: Mapping[str, Any]) -> str:
    """What an entry is of."""
    archs = whole(entry["problem"], entry["schedule"]).archs
    return json.dumps([entry["problem"], entry["device"], entry["sizes"], archs], sort_keys=True)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    found = {}
    if FILE.is_file():
        kept = json.loads(FILE.read_text())
        for entry in kept:
            entry["schedule"] = dict(whole(entry["problem"], entry["schedule"]).schedule)
        found = {place(entry): entry for entry in kept}
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
