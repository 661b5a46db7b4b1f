"""Fit the cost model of schedules to measured times, and say how good its choices are.

    PYTHONPATH=. python scripts/measure/cost/fit_cost.py DATASET gpu/tune-DEVICE.parquet [--check]

`DATASET` holds the rows, the table is what `pairsmith gpu tune` wrote. Prints the constants of
`synth/render/cuda/cost/device.py`, the error of predicted times by style, and for how many rows the
choice of the model is within 1.1 and 1.25 of the best schedule measured. `--check` fits nothing and
takes the constants as they are: for a device that they were not fitted to.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from generators.program.serialise import from_json
from synth.dataset.stored import stored_rows
from synth.render.cuda.choose import schedules_of
from synth.render.cuda.cost.access import Facts
from synth.render.cuda.cost.device import H200, Device
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.predict import Demands, demands, times_of, together
from synth.render.cuda.find.owned import settled
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles
from validate.row.sizes import described

Floats = NDArray[np.float64]
RATES = [f.name for f in fields(Device) if f.type == "float" and not f.name.endswith("_size")]
_STEPS = (2.0, 1.4, 1.15, 1.05, 1.02)
_CHOICE_WEIGHT = 2.0


@dataclass(frozen=True)
class Measured:
    """One timing: whose, at what sizes, under which schedule, and what the launch asked for."""

    row: str
    sizes: str
    schedule: Schedule
    asked: Demands
    time_us: float


def measured_of(dataset: Path, table: Path, device: Device) -> list[Measured]:
    """Every timing in the table of a schedule that its program still has."""
    programs = {row["id"]: row["program"] for _, row in stored_rows(dataset, ("id", "program"))}
    trees: dict[str, Any] = {}
    facts: dict[tuple[str, str], Facts] = {}
    found = []
    for entry in pq.read_table(table).to_pylist():
        name, sizes = entry["id"], entry["sizes"]
        if entry["contender"] != "plain" or entry["time_us"] is None:
            continue
        program = trees.setdefault(name, settled(from_json(programs[name])))
        if (name, sizes) not in facts:
            facts[name, sizes] = facts_of(program, described(sizes))
        schedule = Schedule.from_json(entry["schedule"])
        if schedule.style not in schedules_of(program):
            continue
        plan = styles()[schedule.style].plan(program, schedule, described(sizes))
        asked = demands(facts[name, sizes], plan, schedule, device)
        found.append(Measured(name, sizes, schedule, asked, entry["time_us"]))
    return found


def predicted(asked: Floats, rates: dict[str, float]) -> Floats:
    """Times of many launches at once; the columns are the fields of :class:`Demands`."""
    device = replace(H200, **rates)
    columns: tuple[Any, ...] = tuple(asked.T)
    found: Floats = device.launch_us + together(times_of(Demands(*columns), device, np.maximum))
    return found


def groups_of(entries: Sequence[Measured]) -> list[list[int]]:
    """Positions of the timings of one row at the same sizes, where there are several."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, entry in enumerate(entries):
        found[entry.row, entry.sizes].append(at)
    return [group for group in found.values() if len(group) > 1]


def losses(groups: Sequence[list[int]], times: Floats, guessed: Floats) -> Floats:
    """For each group, how many times the best measured time the model's choice takes."""
    return np.array([times[g][np.argmin(guessed[g])] / times[g].min() for g in groups])


def fit(asked: Floats, times: Floats, groups: Sequence[list[int]], start: Device) -> Device:
    """The rates with the least mean error of log times and of choices, one rate at a time."""
    rates = {name: float(getattr(start, name)) for name in RATES}

    def loss(these: dict[str, float]) -> float:
        guessed = predicted(asked, these)
        chosen = np.minimum(losses(groups, times, guessed), 4.0)
        error = np.abs(np.log(guessed / times))
        return float(error.mean() + _CHOICE_WEIGHT * np.log(chosen).mean())

    best = loss(rates)
    for step in _STEPS:
        improved = True
        while improved:
            improved = False
            for name in RATES:
                for factor in (step, 1.0 / step):
                    tried = {**rates, name: rates[name] * factor}
                    if (found := loss(tried)) < best - 1e-6:
                        rates, best, improved = tried, found, True
    return replace(start, **rates)


def report(entries: Sequence[Measured], guessed: Floats, times: Floats) -> None:
    """Errors by style, and how good the choices are."""
    error = np.abs(np.log2(guessed / times))
    by_style: dict[str, list[float]] = defaultdict(list)
    for entry, wrong in zip(entries, error, strict=True):
        by_style[entry.schedule.style].append(wrong)
    for style, wrongs in sorted(by_style.items()):
        print(f"{style:18} {len(wrongs):6} median factor {2 ** float(np.median(wrongs)):.2f}")
    ratios = losses(groups_of(entries), times, guessed)
    print(f"{len(ratios)} choices: within 1.1 of the best {np.mean(ratios <= 1.1):.3f}, ", end="")
    print(f"1.25 {np.mean(ratios <= 1.25):.3f}, worst {ratios.max():.1f}")
    worst = np.argsort(-ratios)[:20]
    for group in (groups_of(entries)[k] for k in worst):
        picked, best = group[np.argmin(guessed[group])], group[np.argmin(times[group])]
        for word, at in (("chosen", picked), ("best", best)):
            e = entries[at]
            print(f"  {word:7} {e.row} {e.sizes} {e.schedule.style} {e.schedule.block}", end="")
            print(f" predicted {guessed[at]:.1f} measured {times[at]:.1f} us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--check", action="store_true", help="fit nothing")
    asked = parser.parse_args()
    entries = measured_of(asked.dataset, asked.table, H200)
    matrix = np.array([astuple(e.asked) for e in entries], dtype=np.float64)
    times = np.array([e.time_us for e in entries])
    device = H200
    if not asked.check:
        device = fit(matrix, times, groups_of(entries), H200)
        for name in RATES:
            print(f"    {name}={getattr(device, name):.4g},")
    rates = {name: float(getattr(device, name)) for name in RATES}
    report(entries, predicted(matrix, rates), times)


if __name__ == "__main__":
    main()
