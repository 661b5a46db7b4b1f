"""What hidden draws tell apart: idle kernels that pass, and mutants by the trial that kills them.

Run: PYTHONPATH=. python scripts/measure/judge/hidden_draws.py OUT [--rows N] [--seeds S]
[--mutants-per-row K] [--timeout SECONDS]. Takes every so many-th row of the dataset OUT with plain
CUDA. First the draws of S hidden seeds: how long the first takes to make, and how often a kernel
without work gets an output right. Then K mutants of each row's plain text, every one as likely as
any other, run at all trials of one draw in a process forked for each: by which trials each is
killed. Needs Linux and runs the texts in this process's children: datasets that you trust.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import select
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synth.dataset.stored import stored_rows
from validate.host import clang
from validate.host.launch import BadRow, Endless
from validate.host.memory import damage
from validate.host.plain_case import PlainLaunched
from validate.host.plain_launch import ORDERS, BadMeeting, PlainEntry
from validate.host.texts import Kept, PlainCases
from validate.mutants.plain.draw import plain_mutants
from validate.mutants.warp.draw import Mutant
from validate.oracle.reference import ReferenceFailed
from validate.row.edges import Setting
from validate.row.inputs import with_starts
from validate.score.hidden import OWN, Draw, draws
from validate.score.judge import Judge
from validate.statuses import ScoreStatus

Row = dict[str, Any]
Entry = dict[str, Any]
"""What a process says of one trial: `status`, `reason`, and the bytes of `outputs` by name."""


class Texts:
    """Compiles plain texts and runs them at the trials of a draw, each in a forked process."""

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self.folder, self.timeout_s, self.count = folder, timeout_s, 0
        self.cases = PlainCases(folder, Kept())
        clang.start()

    def run(self, row: Row, draw: Draw) -> list[Entry] | None:
        """What each trial came to, as far as the process lived; None when it does not compile."""
        self.count += 1
        handle, obj_path = f"draws_{self.count}", self.folder / f"{self.count}.o"
        try:
            self.cases.build([row], obj_path, self.folder)
            clang.load(obj_path, handle)
        except (clang.CompileError, clang.LoadError):
            return None
        finally:
            obj_path.unlink(missing_ok=True)
        found = self._forked(row, draw, self.cases.entry(handle, 0, row))
        clang.unload(handle)
        return found

    def _forked(self, row: Row, draw: Draw, entry: PlainEntry) -> list[Entry]:
        read_fd, write_fd = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                for number in range(len(draw.trials)):
                    line = json.dumps(_at(row, draw, number, entry)).encode() + b"\n"
                    while line:
                        line = line[os.write(write_fd, line) :]
            finally:
                os._exit(0)
        os.close(write_fd)
        lines = _read(read_fd, time.monotonic() + self.timeout_s).split(b"\n")
        os.close(read_fd)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        # The last is empty, or what a dying process wrote in part.
        return [_entry(line) for line in lines[:-1]]


def _read(read_fd: int, deadline: float) -> bytes:
    parts = []
    while (left := deadline - time.monotonic()) > 0 and select.select([read_fd], [], [], left)[0]:
        part = os.read(read_fd, 1 << 16)
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def _entry(line: bytes) -> Entry:
    found: Entry = json.loads(line)
    if found["outputs"] is not None:
        found["outputs"] = {n: base64.b64decode(text) for n, text in found["outputs"].items()}
    return found


def _at(row: Row, draw: Draw, number: int, entry: PlainEntry) -> Entry:
    trial = draw.trials[number]
    args = with_starts(trial.args(row), draw.starts_of(trial))
    ours = {**row, "args": args, "input_seed": trial.input_seed}
    try:
        setting = Setting(trial.what, trial.sizes, args)
        launched = PlainLaunched(ours, setting, entry, number % len(ORDERS))
    except (BadRow, BadMeeting, Endless, MemoryError) as failed:
        return {"status": type(failed).__name__, "reason": str(failed), "outputs": None}
    trouble = damage(launched.args, launched.arena, launched.watch)
    if trouble is not None:
        return {"status": trouble[0], "reason": trouble[1], "outputs": None}
    found = {n: base64.b64encode(v.tobytes()).decode() for n, v in launched.outputs().items()}
    return {"status": "ran", "reason": "", "outputs": found}


def fitting(texts: Texts, row: Row, hidden_seed: int) -> tuple[Draw, Judge] | None:
    """The first draw on which the row's own text passes, and its judge; None when there is none."""
    for draw in draws(row, hidden_seed):
        try:
            judge = Judge(row, draw)
        except (ReferenceFailed, ValueError):
            continue
        entries = texts.run(row, draw) or []
        for number, entry in enumerate(entries):
            if draw.trials[number].oracle == OWN and entry["status"] == "ran":
                judge.take_own(number, entry["outputs"])
        if not killers(judge, draw, entries):
            return draw, judge
    return None


def killers(judge: Judge, draw: Draw, entries: Sequence[Entry]) -> dict[int, str]:
    """The numbers of the trials at which a text fails, and how; only what is judged counts."""
    found = {}
    for number in judge.wanted:
        if number >= len(entries):
            # Of a process that ended, the first trial without an answer is the one that ended it.
            if number == min(n for n in judge.wanted if n >= len(entries)):
                found[number] = "ended"
        elif entries[number]["status"] != "ran":
            found[number] = entries[number]["status"]
        elif judge.differs(number, entries[number]["outputs"]):
            found[number] = ScoreStatus.WRONG_VALUE
    return found


def idle_shares(rows: Sequence[Row], seeds: int) -> None:
    """Print how often idle kernels pass on the first draws of some hidden seeds."""
    count, times, outputs = 0, [], Counter[str]()
    for row in rows:
        for seed in range(seeds):
            start = time.perf_counter()
            draw = next(draws(row, seed))
            times.append(time.perf_counter() - start)
            count += bool(draw.idle)
            outputs.update(f"{row['id']} {how}" for how in draw.idle)
    milliseconds = sorted(1000 * t for t in times)
    print(f"draws with an output that needs no work: {count} of {len(times)}")
    for name, times_seen in outputs.most_common(20):
        print(f"  {times_seen} of {seeds}: {name}")
    mean, median = sum(milliseconds) / len(times), milliseconds[len(times) // 2]
    print(f"ms to draw: mean {mean:.1f}, median {median:.1f}, most {milliseconds[-1]:.1f}")


def mutant_table(texts: Texts, rows: Sequence[Row], per_row: int) -> None:
    """Print by which trials mutants are killed, and those that live."""
    first, any_of, only, tried, lived = (Counter[str]() for _ in range(5))
    for row in rows:
        fit = fitting(texts, row, hidden_seed=1)
        if fit is None:
            print(f"left out {row['id']}: its own text fits no draw")
            continue
        draw, judge = fit
        names = [trial.what.split()[0] for trial in draw.trials]
        for mutant in _some(row, per_row):
            entries = texts.run({**row, "cuda_plain": mutant.text}, draw)
            if entries is None:
                continue
            killed = killers(judge, draw, entries)
            tried["mutants"] += 1
            if not killed:
                lived[mutant.operator] += 1
                print(f"lives: {row['id']} {mutant.operator}: {mutant.before} -> {mutant.after}")
                continue
            kinds = {names[number] for number in killed}
            first[names[min(killed)]] += 1
            any_of.update(kinds)
            only.update(kinds if len(kinds) == 1 else ())
    print(f"mutants {tried['mutants']}, alive {sum(lived.values())}: {dict(lived)}")
    print(f"{'trial':10}{'first':>8}{'any':>8}{'only':>8}")
    for name in any_of:
        print(f"{name:10}{first[name]:8}{any_of[name]:8}{only[name]:8}")


def _some(row: Mapping[str, Any], count: int) -> list[Mutant]:
    found = plain_mutants(row)
    return random.Random(row["id"]).sample(found, min(count, len(found)))


def main() -> None:
    """Measure draws, then mutants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, metavar="OUT", help="a dataset")
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--mutants-per-row", type=int, default=6)
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds a text may take")
    asked = parser.parse_args()
    rows = [row for _, row in stored_rows(asked.data) if row["cuda_plain"]]
    rows = rows[:: max(1, len(rows) // asked.rows)][: asked.rows]
    idle_shares(rows, asked.seeds)
    with tempfile.TemporaryDirectory(prefix="pairsmith-draws-") as folder:
        mutant_table(Texts(Path(folder), asked.timeout), rows, asked.mutants_per_row)


if __name__ == "__main__":
    main()
