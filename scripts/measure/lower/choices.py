"""How near the cost models of `pairsmith lower` come to what was measured on a GPU.

    PYTHONPATH=. python scripts/measure/lower/choices.py RESULTS.json... [--fit FAMILY] [--steps N]

RESULTS are of `times.py --json`. For each op, dtype and shape: the share of the best time
that the model's choice among the measured candidates has, and how far its times are off. `--fit`
changes a family's weights at random, of products those of each core that was timed, keeps what fits
better, and prints them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from synth.lower.choose.devices import Figures, archs_of, figures_of
from synth.lower.choose.families import Family, families
from synth.lower.choose.request import read_request
from synth.lower.gemm.plan import CORES

_NEAR = 1.3


@dataclass(frozen=True)
class Job:
    """An op at sizes: plans and their times."""

    name: str
    family: Family
    sizes: Mapping[str, int]
    device: Figures
    timed: list[tuple[Any, float]]

    def of_core(self, core: str) -> Job:
        """The job with its products of one core alone."""
        return replace(self, timed=[(plan, us) for plan, us in self.timed if plan.core == core])

    def verdict(self) -> tuple[float, float, float]:
        """The share of the best that the model's choice has (of those that it thinks alike, the
        slowest), the root of the mean square of the logarithms of its errors, and what is to be
        made small."""
        best = min(us for _, us in self.timed)
        said = [(self.family.cost_us(p, self.sizes, self.device), us) for p, us in self.timed]
        share = best / min(said, key=lambda one: (one[0], -one[1]))[1]
        off = [(math.log(cost / us), 1 + 3 * (us < _NEAR * best)) for cost, us in said]
        rms = math.sqrt(sum(e * e for e, _ in off) / len(off))
        return share, rms, sum(abs(e) * weight for e, weight in off) / len(off) + 2 * (1 - share)


def jobs_of(report: Mapping[str, Any]) -> list[Job]:
    """The jobs of a report of `times.py`."""
    found = []
    for result in report["results"]:
        given = result.get("fields") or {"op": result["op"], "dtype": result["dtype"]}
        given = {name: value for name, value in given.items() if name != "schedule"}
        request = read_request(given, archs_of(report["device"]))
        timed = []
        for one in result["candidates"]:
            schedule = one["schedule"]
            if result["op"].startswith("matmul"):
                core = next(core for core, kinds in CORES.items() if result["dtype"] in kinds)
                schedule = {"core": core, **schedule}
            spec = request.under(schedule)
            if "us" in one and spec is not None:
                timed.append((spec.plan, one["us"]))  # type: ignore[union-attr]
        sizes = result["sizes"]
        name = f"{result['op']} {result['dtype']} {'x'.join(map(str, sizes.values()))}"
        device = figures_of(report["device"])
        if timed and request.family and request.costed:
            found.append(Job(name, request.family, sizes, device, timed))
    return found


def fit(module: Any, key: str | None, jobs: list[Job], steps: int, seed: int) -> None:
    """Change a family's weights at random; what fits better stays in the module."""
    drawn = random.Random(seed)

    def loss() -> float:
        verdicts = [job.verdict() for job in jobs]
        return sum(v[2] for v in verdicts) + 5 * (1 - min(v[0] for v in verdicts))

    held = module.WEIGHTS if key is None else module.WEIGHTS[key]
    best, values = loss(), dict(held) if isinstance(held, dict) else asdict(held)
    for _ in range(steps):
        tried = dict(values)
        for name in drawn.sample(sorted(tried), drawn.choice((1, 1, 2, 3))):
            tried[name] *= math.exp(drawn.gauss(0.0, 0.25))
        made = tried if isinstance(held, dict) else replace(held, **tried)
        if key is None:
            module.WEIGHTS = made
        else:
            module.WEIGHTS[key] = made
        if (found := loss()) < best:
            best, values = found, tried
    last = values if isinstance(held, dict) else replace(held, **values)
    if key is None:
        module.WEIGHTS = last
    else:
        module.WEIGHTS[key] = last
    print(f"{module.__name__.rpartition('.')[2]} {key or ''}: loss {best:.3f}")
    print({name: float(f"{value:.3g}") for name, value in values.items()})


def main() -> None:
    """Print how near the models come, after fitting one if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--fit", choices=[family.name for family in families()])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    jobs = [job for file in options.files for job in jobs_of(json.loads(file.read_text()))]
    if options.fit:
        module = import_module(f"synth.lower.choose.families.{options.fit}")
        mine = [job for job in jobs if job.family.name == options.fit]
        if options.fit == "products":
            for core in CORES:
                of_core = [part for job in mine if (part := job.of_core(core)).timed]
                if of_core:
                    fit(module, core, of_core, options.steps, options.seed)
        else:
            fit(module, None, mine, options.steps, options.seed)
    for job in jobs:
        share, rms, _ = job.verdict()
        print(f"{job.name}: {share:.3f} of the best of {len(job.timed)}, off by {rms:.0%}")


if __name__ == "__main__":
    main()
