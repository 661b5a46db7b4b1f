"""Several trainings of `worth.py` beside each other, one at a time on each GPU, and their table.

    PYTHONPATH=. python scripts/measure/training/runs.py OUT --limit-s 520 \
        --run "plain FOLDER --minutes 1.25 --ask 0" --run "muon FOLDER --minutes 1.25 --ask 0 …"

Each `--run` is a name, a folder of `worth.py prepare` and options of `worth.py train`. They begin
in the order given, wherever a GPU is free. `OUT/runs.jsonl` has what each `metrics.json` says under
its name, `OUT/log.txt` what they printed, `OUT/NAME.answers.jsonl` the answers where any were asked
for. Needs what `worth.py train` needs.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

from scripts.measure.training.tokens import ASKED
from synth.errors import SettingsError

_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = _ROOT / "scripts" / "measure" / "worth.py"


@dataclass(frozen=True)
class Run:
    """A name, and what `worth.py train` is given: a folder, then its options."""

    name: str
    folder: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """What came of a run: `metrics` is empty where it broke off; `said` is what it printed."""

    run: Run
    metrics: dict[str, Any]
    said: str
    code: int
    wall_s: float


def run_of(text: str) -> Run:
    """Raises :class:`SettingsError` for a text without name and folder."""
    name, folder, *options = [*shlex.split(text), "", ""]
    if not name.replace("-", "").replace(".", "").isalnum() or not folder:
        raise SettingsError(f"--run {text!r}: a name of letters, digits, '-' and '.', and a folder")
    return Run(name, folder, tuple(option for option in options if option))


def _environment(gpu: str) -> dict[str, str]:
    """Of a training: on one GPU, with the packages beside this folder."""
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"CUDA_VISIBLE_DEVICES": gpu, "PYTHONUNBUFFERED": "1"}
    return os.environ | own | {"PYTHONPATH": os.pathsep.join(paths)}


def done(run: Run, gpu: str, results: Path, limit_s: float) -> Done:
    """Train on one GPU, or the CPU where ``gpu`` is empty, for ``limit_s`` at most."""
    began_s = time.monotonic()
    command = [sys.executable, str(_PROGRAM), "train", run.folder, str(results), *run.options]
    log = results.with_suffix(".log")
    with log.open("w") as sink:
        process = subprocess.Popen(
            command,
            env=_environment(gpu),
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
        try:
            code = process.wait(max(1.0, limit_s))
        except subprocess.TimeoutExpired:
            process.terminate()
            code = process.wait()
    metrics = results / "metrics.json"
    found = json.loads(metrics.read_text()) if metrics.is_file() else {}
    return Done(run, found, log.read_text(), code, time.monotonic() - began_s)


def line_of(one: Done) -> str:
    """One line of the table: what was trained, and of each part the losses of a token and a row,
    and the shares of tokens that were the likeliest and of rows all of whose tokens were."""
    told, metrics = [f"{one.run.name:16} code {one.code} {one.wall_s:5.0f} s"], one.metrics
    if metrics:
        per_s = metrics["tokens"] / max(metrics["train_s"], 1e-9)
        told.append(
            f"warm {metrics['warm_up_s']:4.0f} s, {metrics['steps']:6} steps, "
            f"{metrics['tokens'] / 1e6:6.1f} M tokens, {per_s / 1e3:6.1f} k/s"
        )
    for part in ASKED:
        if about := metrics.get("asked", {}).get(part):
            told.append(
                f"{part} {about['loss']:.4f} {about['row_loss']:6.2f} "
                f"{100 * about['tokens_right']:6.2f} % {100 * about['rows_right']:5.1f} %"
            )
    return "  ".join(told)


def all_done(runs: Sequence[Run], out: Path, gpus: Sequence[str], limit_s: float) -> list[Done]:
    """Run after run on every GPU until ``limit_s`` are over: what has not begun is left out."""
    began_s, free = time.monotonic(), Queue[str]()
    for gpu in gpus:
        free.put(gpu)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(gpus)) as pool:

        def one(run: Run) -> Done | None:
            gpu = free.get()
            left_s = limit_s - (time.monotonic() - began_s)
            found = None
            if left_s > 0:
                found = done(run, gpu, Path(folder) / run.name, left_s)
                _keep(found, out, Path(folder) / run.name / "answers.jsonl")
            free.put(gpu)
            return found

        return [found for found in pool.map(one, runs) if found]


def _keep(found: Done, out: Path, answers: Path) -> None:
    print(line_of(found), flush=True)
    with (out / "runs.jsonl").open("a") as file:
        file.write(json.dumps({"name": found.run.name, **found.metrics}) + "\n")
    with (out / "log.txt").open("a") as file:
        file.write(f"== {found.run.name}: {shlex.join(found.run.options)}\n{found.said}\n")
    if answers.is_file() and answers.stat().st_size:
        shutil.copyfile(answers, out / f"{found.run.name}.answers.jsonl")


def _gpus() -> list[str]:
    import torch

    return [str(gpu) for gpu in range(torch.cuda.device_count())] or [""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--run", action="append", required=True, help="name, folder, options")
    parser.add_argument("--limit-s", type=float, default=540.0, help="of all together")
    args = parser.parse_args()
    try:
        runs = [run_of(text) for text in args.run]
    except SettingsError as error:
        print(f"worth_runs: {error}", file=sys.stderr)
        sys.exit(2)
    args.out.mkdir(parents=True, exist_ok=True)
    found = all_done(runs, args.out, _gpus(), args.limit_s)
    print("\n".join(["", *map(line_of, found)]))
    sys.exit(0 if len(found) == len(runs) and not any(one.code for one in found) else 1)


if __name__ == "__main__":
    main()
