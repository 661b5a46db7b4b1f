"""Does a GPU kill the mutants that the host run kills?

Run on a CPU machine: PYTHONPATH=. python scripts/audit/gpu_mutants.py make DATASET FOLDER [--count
N] [--workers W]. It takes N mutants, half of forward texts and half of plain ones, each as likely
as any other, races and barriers apart (one thread at a time sees no race), runs them on the host,
and writes them as a dataset with the host's verdicts beside. On a GPU machine: `pairsmith gpu run
FOLDER --include …`, which ends with exit code 1, then PYTHONPATH=. python
scripts/audit/gpu_mutants.py compare FOLDER: exit code 1 when a mutant passes that the host killed,
unless the host killed it for reading outside an array, which a GPU does not notice.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.names import GPU
from synth.dataset.stored import stored_rows
from validate.host.runner import HostRunner
from validate.mutants.plain.draw import BARRIER, plain_mutants
from validate.mutants.warp.draw import RACE, mutants, mutated
from validate.row.columns import PLAIN_COLUMNS, ROW_SCHEMA

VERDICTS = "host_verdicts.json"
ROWS_AT_ONCE = 10
SEED = 0
# A GPU has no watch for these.
_UNSEEN = ("read_out_of_bounds", "data_race", "bad_sync")

Row = dict[str, Any]


def wrong_rows(rows: Sequence[Row]) -> list[tuple[Row, str, str]]:
    """One mutant of each row, the text it is of, and what the host says of it."""
    made = [_mutant(row, plain=at % 2 == 1) for at, row in enumerate(rows)]
    found = [(row, text) for row, text in made if row is not None]
    with HostRunner(timeout_s=30.0, batch_size=10) as host:
        results = {
            result.id: result.status
            for text, run in (
                ("forward", host.run),
                ("plain", partial(host.run_plain, relaunch=True)),
            )
            for result in run([row for row, of in found if of == text])
        }
    return [(row, text, results[row["id"]]) for row, text in found]


def _mutant(row: Row, *, plain: bool) -> tuple[Row | None, str]:
    every = plain_mutants(row) if plain else mutants(row)
    able = [at for at, one in enumerate(every) if one.operator not in (RACE, BARRIER)]
    text = "plain" if plain else "forward"
    if not able:
        return None, text
    at = random.Random(f"{SEED}/{row['id']}").choice(able)
    wrong = mutated(row, every[at], at) | {"cuda_backward": None}
    if not plain:
        wrong |= dict.fromkeys(PLAIN_COLUMNS)
    return wrong, text


def make(data: Path, folder: Path, count: int, workers: int) -> None:
    """Write `count` mutants of as many rows, and what the host says of them."""
    rows = [row for _, row in stored_rows(data)]
    step = max(1, len(rows) // count)
    chosen = rows[::step][:count]
    parts = [chosen[at : at + ROWS_AT_ONCE] for at in range(0, len(chosen), ROWS_AT_ONCE)]
    with ProcessPoolExecutor(workers) as pool:
        found = [one for part in pool.map(wrong_rows, parts) for one in part]
    shard = folder / "train" / "shard-00000.parquet"
    shard.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([row for row, _, _ in found], schema=ROW_SCHEMA)
    pq.write_table(table, shard, compression="zstd")
    verdicts = {row["id"]: [text, status] for row, text, status in found}
    (folder / VERDICTS).write_text(json.dumps(verdicts, indent=1) + "\n")
    print(len(found), "mutants,", dict(Counter(status for _, _, status in found)))


def compare(folder: Path) -> int:
    """Print the host's verdicts against the GPU's; the number of kills that the GPU lacks."""
    verdicts = json.loads((folder / VERDICTS).read_text())
    (path,) = (folder / GPU).glob("run-*.parquet")
    found = {
        (record["id"], record["text"]): record
        for record in pq.read_table(path, columns=["id", "text", "status", "reason"]).to_pylist()
    }
    crossed: Counter[tuple[str, str]] = Counter()
    lacking = 0
    for row_id, (text, host) in verdicts.items():
        gpu = found[row_id, text]["status"]
        crossed[host, gpu] += 1
        if host != "agrees" and gpu == "passed":
            lacking += host not in _UNSEEN
            print(f"{row_id} {text}: the host says {host}, the GPU passes it")
        if host == "agrees" and gpu != "passed":
            print(f"{row_id} {text}: the GPU says {gpu}: {found[row_id, text]['reason'][:160]}")
    for (host, gpu), number in sorted(crossed.items()):
        print(f"{host:>22} on the host, {gpu:>20} on the GPU: {number}")
    return lacking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("data", type=Path)
    making.add_argument("folder", type=Path)
    making.add_argument("--count", type=int, default=500)
    making.add_argument("--workers", type=int, default=2)
    commands.add_parser("compare").add_argument("folder", type=Path)
    asked = parser.parse_args()
    if asked.command == "make":
        make(asked.data, asked.folder, asked.count, asked.workers)
    else:
        sys.exit(1 if compare(asked.folder) else 0)


if __name__ == "__main__":
    main()
