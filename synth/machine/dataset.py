"""``compile``: a dataset's texts lowered, a file for each shard, text and architecture.

A file depends on its shard and the versions of the tools alone: not on workers or on what was done
before. What a run that broke off had done of a file is taken up by the next.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pyarrow.parquet as pq

from synth.card.gpu_summary import update_card
from synth.dataset.files import read_parquet, remove_folder, remove_leftovers, sha256_of
from synth.dataset.lock import held_alone
from synth.dataset.lowered import (
    FOLDER,
    about_lowered,
    lowered_path,
    stale_files,
    write_lowered,
)
from synth.dataset.stored import readable, require_columns, shard_paths
from synth.errors import SettingsError
from synth.machine.records import records_of
from validate.nvrtc.disassembler import disassembler
from validate.nvrtc.lowered import GRADIENT, PLAIN, Lowered, Lowerer
from validate.nvrtc.program import nvrtc_version

Record = dict[str, Any]

_ROWS_A_PART = 50
_PARTS = ".parts"
_COLUMNS = (
    *("id", "category", "idiom", "level", "kernel_name", "launch"),
    *("cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward"),
)
_MORE = {
    PLAIN: ("cuda_plain", "plain_launch", "schedule"),
    GRADIENT: ("cuda_plain_backward", "backward_launch", "backward_schedule"),
}
_WINDOW = 4


@dataclass(frozen=True)
class Wanted:
    """What is asked for: some of `EMITS`, architectures, some of `TEXTS`, and for how many rows of
    the dataset (None: all); with how many workers, and seconds a tool and text."""

    emit: frozenset[str]
    archs: tuple[str, ...]
    columns: tuple[str, ...]
    include_dir: Path
    limit: int | None = None
    workers: int = 1
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Unit:
    """A file to be: of the first `rows` of a shard, one column for one architecture."""

    path: Path
    shard: Path
    arch: str
    column: str
    rows: int
    about: Mapping[str, Any]


@dataclass
class Done:
    """Files written, files that had all that was asked for, texts that were lowered, and the
    records of those that failed."""

    written: list[Path]
    kept: list[Path]
    texts: int
    failed: list[Record]


def count_texts(out: Path, wanted: Wanted) -> int:
    """Rows times columns times architectures: what a bar counts."""
    return sum(unit.rows for unit in _units(out, wanted, {}))


def lower_dataset(
    out: Path, wanted: Wanted, progress: Callable[[int], None] = lambda _n: None
) -> Done:
    """Write the configuration `lowered` of a dataset, and what it shows into the card.

    `progress` is told how many rows of a unit are done, each time. Raises SettingsError for a
    folder that is no dataset or cannot be written, CompileUnavailable where a tool is missing.
    """
    tools = _tools(wanted)
    done = Done([], [], 0, [])
    with held_alone(out), ExitStack() as stack:
        units = list(_units(out, wanted, tools))
        lowerers = None
        for unit in units:
            if _has(unit):
                done.kept.append(unit.path)
                done.failed += _failures(read_parquet(unit.path).to_pylist())
                progress(unit.rows)
                continue
            lowerers = lowerers or stack.enter_context(_pool(wanted))
            records = _made(unit, wanted, tools, lowerers, progress)
            done.failed += _failures(records)
            done.texts += len({record["id"] for record in records})
            if records:
                _write(unit.path, records, unit.about)
                done.written.append(unit.path)
        _tidy(out)
        update_card(out)
    return done


def _tools(wanted: Wanted) -> dict[str, str | None]:
    """Versions of the tools that are used."""
    text = "sass" in wanted.emit
    return {
        "pairsmith": version("pairsmith"),
        "nvrtc": nvrtc_version(),
        "nvdisasm": disassembler().version if text else None,
    }


def _units(out: Path, wanted: Wanted, tools: Mapping[str, Any]) -> Iterator[Unit]:
    left = wanted.limit
    for shard in shard_paths(out):
        with readable(shard):
            rows = pq.read_metadata(shard).num_rows
        rows = rows if left is None else min(rows, left)
        left = None if left is None else left - rows
        if not rows:
            return
        name = shard.relative_to(out).as_posix()
        digest = sha256_of(shard) if tools else ""
        for arch in wanted.archs:
            for column in wanted.columns:
                about = {
                    **{"shard": name, "shard_sha256": digest, "arch": arch, "column": column},
                    **{"emit": sorted(wanted.emit), "rows": rows},
                    **tools,
                }
                path = lowered_path(out, name, arch, column)
                yield Unit(path, shard, arch, column, rows, about)


def _has(unit: Unit) -> bool:
    """Whether the file is there with all that is asked for; it may have more."""
    if not unit.path.is_file():
        return False
    there, asked = about_lowered(unit.path), dict(unit.about)
    more = ("emit", "rows", "nvdisasm")
    if {k: v for k, v in there.items() if k not in more} != {
        k: v for k, v in asked.items() if k not in more
    }:
        return False
    tool = asked["nvdisasm"] in (None, there["nvdisasm"])
    return tool and there["rows"] >= asked["rows"] and {*there["emit"]} >= {*asked["emit"]}


def _made(
    unit: Unit,
    wanted: Wanted,
    tools: Mapping[str, Any],
    lowerers: Lowerers,
    progress: Callable[[int], None],
) -> list[Record]:
    """The records of a unit, part by part; parts of a run that broke off are read."""
    records: list[Record] = []
    rows = _rows(unit)
    for number in range(-(-unit.rows // _ROWS_A_PART)):
        mine = list(islice(rows, _ROWS_A_PART))
        path = _parts(unit) / f"{number:05d}.parquet"
        if path.is_file():
            part = read_parquet(path).to_pylist()
        else:
            told = wanted.emit, tools["nvdisasm"]
            having = [row for row in mine if row[unit.column] is not None]
            jobs = ((row, unit.column, unit.arch) for row in having)
            found = zip(having, lowerers.lowered(jobs), strict=True)
            part = [
                record
                for row, lowered in found
                for record in records_of(row, unit.column, unit.arch, lowered, *told)
            ]
            _write(path, part, unit.about)
        records += part
        progress(len(mine))
    return records


def _rows(unit: Unit) -> Iterator[Record]:
    columns = (*_COLUMNS, *_MORE.get(unit.column, ()))
    with readable(unit.shard):
        names = pq.read_schema(unit.shard).names
        require_columns(dict.fromkeys(names), columns, unit.shard)
        batches = pq.ParquetFile(unit.shard).iter_batches(_ROWS_A_PART, columns=list(columns))
        yield from islice((row for batch in batches for row in batch.to_pylist()), unit.rows)


def _parts(unit: Unit) -> Path:
    key = hashlib.sha256(json.dumps(dict(unit.about), sort_keys=True).encode()).hexdigest()[:16]
    return unit.path.parent / _PARTS / key


def _failures(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record["reason"] is not None]


def _write(path: Path, records: list[Record], about: Mapping[str, Any]) -> None:
    try:
        write_lowered(path, records, about)
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from None


def _tidy(out: Path) -> None:
    """Remove parts, whose units are done, what killed writers left, and files of shards that the
    dataset no longer has."""
    remove_folder(out / FOLDER / _PARTS)
    remove_leftovers(out / FOLDER)
    for path in stale_files(out):
        path.unlink()


class Lowerers:
    """As many compiling processes as workers, each used by one thread at a time."""

    def __init__(self, pool: ThreadPoolExecutor, free: SimpleQueue[Lowerer], workers: int) -> None:
        self._pool, self._free, self._window = pool, free, _WINDOW * workers

    def lowered(self, jobs: Iterable[tuple[Record, str, str]]) -> Iterator[Lowered]:
        """What became of each (row, column, architecture), in their order."""
        waiting: deque[Future[Lowered]] = deque()
        for job in jobs:
            waiting.append(self._pool.submit(self._lower, *job))
            if len(waiting) >= self._window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _lower(self, row: Record, column: str, arch: str) -> Lowered:
        lowerer = self._free.get()
        try:
            return lowerer.lower(row, column, arch)
        finally:
            self._free.put(lowerer)


@contextmanager
def _pool(wanted: Wanted) -> Iterator[Lowerers]:
    tool = disassembler() if "sass" in wanted.emit else None
    free: SimpleQueue[Lowerer] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(wanted.workers):
            one = Lowerer(
                include_dir=wanted.include_dir, disassembler=tool, timeout_s=wanted.timeout_s
            )
            free.put(stack.enter_context(one))
        pool = ThreadPoolExecutor(wanted.workers)
        # Before the processes that its threads work with are ended.
        stack.callback(pool.shutdown, cancel_futures=True)
        yield Lowerers(pool, free, wanted.workers)
