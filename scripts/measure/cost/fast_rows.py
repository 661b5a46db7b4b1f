"""Plain CUDA against Warp's text, and its forms against each other, where memory is what limits.

Run: PYTHONPATH=. python scripts/measure/cost/fast_rows.py OUT [--rows N] [--schedules K]
[--elements E] [--seconds S] [--idiom I] [--to FOLDER]. Needs a GPU, no Warp: headers lie in
OUT/include. Of N rows of a dataset (of some idioms), even over categories, each row's own schedule
and the best predicted of its other styles, K in all, are proven equal to Warp's text and timed at
about E elements and at the high ends of the row's regime, the L2 cache flushed. Prints, for each of
the two, Warp's time over that of the published schedule by category, the share of rows bound by
memory that reach 80 % of the copy rate, and of the rate of a copy of as many bytes, the rows below
0.8, and for each style how its time compares with one thread an element; writes all trials, and a
line for each row.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from generators.program.serialise import from_json
from synth.gpu.bench import choose_rows
from synth.gpu.output import ready_folder
from synth.gpu.rows import include_dir, read_rows_and_programs
from synth.gpu.tune import Job, job_of, records_of, write_tune
from synth.render.cuda.choose import candidates_of
from synth.render.cuda.regime import highest_sizes
from validate.gpu.ceilings import copy_times_us, measure_peaks
from validate.gpu.device import Device, devices
from validate.gpu.large import sizes_in_use
from validate.gpu.runner import GpuOptions, default_workers, run_rows
from validate.row.sizes import describe

Record = dict[str, Any]

GOOD, SLOW = 0.8, 0.8
"""Share of the copy rate that is wanted; times of Warp's text below which a row is named."""
_COPIES = tuple(1 << k for k in range(22, 32))
"""Bytes read and written of copies that rows are compared with."""
_FEWEST_ELEMENTS = 3_000_000
_MOST_US = 100_000.0
_MOST_WORKERS = 8


def job(row: Mapping[str, Any], schedules: int, elements: int) -> tuple[Job, dict[str, str]]:
    """What is timed of a row, and which of its sizes are which; sizes that would take the device
    for long are not among them."""
    program = from_json(row["program"])
    known = {
        name: sizes
        for name, sizes in (
            ("elements", sizes_in_use(dict(row), elements)),
            ("high", highest_sizes(program)),
        )
        if candidates_of(program, sizes)[0].prediction.time_us <= _MOST_US
    }
    made = job_of(dict(row), schedules)
    made.row["tune"]["sizes"] = list({describe(s): s for s in known.values()}.values())
    return made, {name: describe(sizes) for name, sizes in known.items()}


def measured(
    rows: Sequence[Mapping[str, Any]], device: Device, wanted: argparse.Namespace
) -> tuple[list[Record], dict[str, dict[str, str]]]:
    """Records of all trials, and the sizes of each row."""
    jobs, sizes = {}, {}
    for row in rows:
        made, said = job(row, wanted.schedules, wanted.elements)
        if said:
            jobs[row["id"]], sizes[row["id"]] = made, said
    print(f"{len(jobs)} of {len(rows)} rows have sizes that take at most {_MOST_US / 1e3:g} ms")
    with TemporaryDirectory(prefix="fast-rows-") as folder:
        options = GpuOptions(
            include_dir=include_dir(wanted.out, None),
            timeout_s=60.0,
            workers=min(_MOST_WORKERS, default_workers([device])),
            batch_size=1,
            tune=Path(folder) / "device",
        )
        found: list[Record] = []
        began = time.monotonic()
        verdicts = run_rows([j.row for j in jobs.values()], [device], options)
        for done, verdict in enumerate(verdicts, start=1):
            found += records_of(jobs[verdict.row["id"]], verdict, device)
            if time.monotonic() - began > wanted.seconds:
                print(f"cut off after {done} of {len(jobs)} rows")
                break
    return found, sizes


def by_row(records: Iterable[Record], sizes: Mapping[str, Mapping[str, str]], which: str) -> Any:
    """Records with a time at one of the sizes, by row."""
    found: dict[str, list[Record]] = defaultdict(list)
    for r in records:
        if r["time_us"] is not None and r["sizes"] == sizes[r["id"]].get(which):
            found[r["id"]].append(r)
    return found


def own_of(trials: Sequence[Record]) -> Record | None:
    return next((r for r in trials if r["own"]), None)


def warp_of(trials: Sequence[Record]) -> Record | None:
    return next((r for r in trials if r["contender"] == "warp"), None)


def report(found: Mapping[str, list[Record]], which: str, copies: Sequence[float]) -> list[str]:
    """Lines on one size of all rows; ``copies``: microseconds of those of `_COPIES`."""
    ratios: dict[str, list[float]] = defaultdict(list)
    best: dict[str, list[float]] = defaultdict(list)
    slow, bound, alike = [], [], []
    for trials in found.values():
        own, warp = own_of(trials), warp_of(trials)
        if own is None or warp is None:
            continue
        ratio = warp["time_us"] / own["time_us"]
        quickest = min(r["time_us"] for r in trials if r["contender"] == "plain")
        for name in (own["category"], "all"):
            ratios[name].append(ratio)
            best[name].append(warp["time_us"] / quickest)
        if ratio < SLOW:
            slow.append(f"{own['idiom']} {own['id']} {ratio:.2f} {own['schedule']} {own['sizes']}")
        limits = json.loads(own["schedule"])["limits"]
        if limits == "memory" and own["elements"] >= _FEWEST_ELEMENTS:
            bound.append(own["share_of_copy"])
            alike.append(float(np.interp(own["bytes_moved"], _COPIES, copies)) / own["time_us"])
    lines = [f"== {which}: Warp's time over that of the published schedule, of the best found"]
    for name in sorted(ratios):
        both = f"{median(ratios[name]):.2f} | {median(best[name]):.2f}"
        lines.append(f"{name} | {len(ratios[name])} | {both}")
    for of, shares in (("the copy rate", bound), ("a copy of as many bytes", alike)):
        if shares:
            good = sum(share >= GOOD for share in shares)
            lines.append(
                f"bound by memory, from {_FEWEST_ELEMENTS} elements: {good} of {len(shares)} at "
                f"{GOOD:.0%} of {of}, median {median(shares):.2f}"
            )
    return [*lines, f"below {SLOW}: {len(slow)}", *sorted(slow)]


def forms(found: Mapping[str, list[Record]], which: str) -> list[str]:
    """How the best schedule of each style compares with one thread an element, row by row."""
    ratios: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for trials in found.values():
        times: dict[str, float] = {}
        for r in trials:
            if r["contender"] == "plain":
                times[r["style"]] = min(r["time_us"], times.get(r["style"], r["time_us"]))
        for style, time_us in times.items():
            if style != "guarded" and "guarded" in times:
                ratios[style].append((times["guarded"] / time_us, trials[0]["idiom"]))
    lines = [f"== {which}: time of one thread an element over that of a style"]
    for style, listed in sorted(ratios.items()):
        ends = sorted(listed)
        shown = ", ".join(f"{idiom} {ratio:.2f}" for ratio, idiom in (*ends[:4], *ends[-4:]))
        middle = median(ratio for ratio, _ in listed)
        lines.append(f"{style} | {len(listed)} | {middle:.2f} | {shown}")
    return lines


def each(found: Mapping[str, list[Record]]) -> list[str]:
    """A line for every row: shares of the copy rate and times by style."""
    lines = []
    for trials in found.values():
        own, warp = own_of(trials), warp_of(trials)
        if own is None or warp is None:
            continue
        times = sorted((r["time_us"], r["schedule"]) for r in trials if r["contender"] == "plain")
        shown = []
        for time_us, text in times:
            s = json.loads(text)
            shown.append(f"{s['style']}/{s['vector_width']}/{s['block']} {time_us:.1f}")
        limits = json.loads(own["schedule"])["limits"]
        head = f"{own['category']} {own['idiom']} {own['id'][:8]} {limits}"
        rates = (
            f"copy {own['share_of_copy']:.2f} warp {warp['time_us']:.1f} own {own['time_us']:.1f}"
        )
        lines.append(f"{head} {rates}: {'; '.join(shown)}")
    return sorted(lines)


def main(wanted: argparse.Namespace) -> None:
    device = devices()[0]
    target = wanted.to or wanted.out
    ready_folder(target)
    known = (r for r in read_rows_and_programs(wanted.out) if r["program"])
    if wanted.idiom:
        known = (r for r in known if r["idiom"] in wanted.idiom)
    rows = choose_rows(known, wanted.rows)
    records, sizes = measured(rows, device, wanted)
    peaks = measure_peaks(device)
    write_tune(target, rows, records, device, peaks)
    failed = [r for r in records if r["status"] != "passed"]
    print(
        f"{device.name}: {len(rows)} rows, {len(records)} trials, {len(failed)} failed; copies at"
    )
    print(f"{peaks.copy_bytes_per_s / 1e12:.2f} TB/s")
    copies = copy_times_us(device, _COPIES)
    rates = ((f"{b >> 20} MiB", b / t / 1e6) for b, t in zip(_COPIES, copies, strict=True))
    print("; ".join(f"of {size} {rate:.2f}" for size, rate in rates))
    for r in failed[:20]:
        print(r["id"], r["idiom"], r["schedule"], r["status"], r["reason"][:200])
    for which in ("elements", "high"):
        found = by_row(records, sizes, which)
        print("\n".join([*report(found, which, copies), *forms(found, which)]))
        (target / f"rows-{which}.txt").write_text("\n".join([*each(found), ""]), "utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=180)
    parser.add_argument("--schedules", type=int, default=6)
    parser.add_argument("--elements", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=400.0, help="on the device, at most")
    parser.add_argument("--idiom", action="append", help="its rows alone; may be said again")
    parser.add_argument("--to", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main(arguments())
