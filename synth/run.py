"""One run on this machine: units in worker processes, then the finishing pass."""

from __future__ import annotations

import ctypes
import errno
import multiprocessing
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from synth.codegen import check_warp_version
from synth.errors import RunError, SettingsError
from synth.finish import finish_dataset
from synth.manifest import Manifest, damaged_shards, read_manifest, require_same_shape
from synth.plan import Unit, plan_units
from synth.raise_level import give_rows, is_raise
from synth.settings import Settings, Versions, shape_of
from synth.unit import Tally, finished_unit, make_unit, read_tally
from synth.work import Work, open_work

Progress = Callable[[int, Tally, bool], None]
"""Called after each unit with its rows, its tally, and whether this run made it."""


def generate(
    settings: Settings,
    n: int,
    out: Path,
    *,
    workers: int = 1,
    shard_size: int = 1000,
    progress: Progress = lambda _rows, _tally, _fresh: None,
) -> Manifest:
    """Make a dataset of ``n`` rows in ``out``, or go on with one that was begun there.

    A dataset that is complete already is left as it is, and ``progress`` is never called.

    Raises :class:`SettingsError` for a request that cannot be met and :class:`RunError` when a
    worker dies; nothing already written is lost by either.
    """
    if n <= 0:
        raise SettingsError(f"n is {n}; ask for at least one row")
    if workers <= 0:
        raise SettingsError(f"workers is {workers}; give at least one")
    if shard_size <= 0:
        raise SettingsError(f"shard size is {shard_size}; give at least one row")
    check_warp_version()
    versions = Versions.installed(settings.verify)
    shape = shape_of(settings, versions)
    manifest = read_manifest(out)
    if manifest is not None and _is_done(out, manifest, shape, n, shard_size):
        return manifest
    work = open_work(out, shape, n, shard_size)
    with _disk_troubles(out):
        if manifest is not None and is_raise(shape, manifest.shape):
            give_rows(out, manifest, settings, n, work.folder)
        _make_units(settings, versions, n, work, workers, progress)
        return finish_dataset(settings, versions, n, shard_size, out, work.folder)


def finish(out: Path) -> Manifest:
    """The finishing pass alone, over units that lie in ``out``."""
    check_warp_version()
    work = Work.read(out)
    if work is None:
        raise SettingsError(f"{out} holds no unfinished run; start one with pairsmith generate")
    settings = work.settings()
    versions = Versions.installed(settings.verify)
    require_same_shape(out, shape_of(settings, versions), work.shape)
    with _disk_troubles(out):
        return finish_dataset(settings, versions, work.n, work.shard_size, out, work.folder)


_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)


@contextmanager
def _disk_troubles(out: Path) -> Iterator[None]:
    """Turn a disk that takes no more into one line; any other error is a bug and goes on."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        raise RunError(
            f"cannot write to {out}: {os.strerror(error.errno)}; finished units are kept: mend "
            "that and run the same command again to go on"
        ) from None


def _is_done(out: Path, manifest: Manifest, shape: dict[str, Any], n: int, shard_size: int) -> bool:
    """Whether the dataset there is what was asked for; :class:`SettingsError` if it never can be.

    One that was checked less far can be: its rows are checked further.
    """
    raised = is_raise(shape, manifest.shape)
    if not raised:
        require_same_shape(out, shape, manifest.shape)
    if manifest.rows > n:
        raise SettingsError(
            f"{out} holds {manifest.rows} rows and {n} would delete some; choose another folder"
        )
    same = manifest.rows == n and manifest.shard_size == shard_size
    if raised or not same or damaged_shards(out, manifest):
        return False
    left = Work.read(out)
    if left is None or left.shape == shape:
        # left by a kill after the manifest was written; a raise that broke off is of another shape
        shutil.rmtree(out / "work", ignore_errors=True)
    return True


def _make_units(
    settings: Settings,
    versions: Versions,
    n: int,
    work: Work,
    workers: int,
    progress: Progress,
) -> None:
    todo = []
    for unit in plan_units(n, len(settings.categories)):
        path = work.folder / unit.file_name
        tally = finished_unit(path)
        if tally is None:
            todo.append(unit)
        else:
            progress(_rows_of(unit, settings), tally, False)
    with _kept_interrupt() as stop_if_asked:
        for unit in _made(settings, versions, todo, work, workers):
            stop_if_asked()
            progress(_rows_of(unit, settings), read_tally(work.folder / unit.file_name), True)


def _made(
    settings: Settings, versions: Versions, todo: list[Unit], work: Work, workers: int
) -> Iterator[Unit]:
    if workers > 1 and len(todo) > 1:
        yield from _in_processes(settings, versions, todo, work, workers)
        return
    for unit in todo:
        make_unit(settings, versions, unit, work.folder)
        yield unit


@contextmanager
def _kept_interrupt() -> Iterator[Callable[[], None]]:
    """Remember Ctrl-C: Python drops a KeyboardInterrupt that is raised in a finaliser or callback.

    Gives a function that raises it again when there was one.
    """
    asked = False

    def handler(_signal: int, _frame: object) -> None:
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    def stop_if_asked() -> None:
        if asked:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stop_if_asked
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield stop_if_asked
    finally:
        signal.signal(signal.SIGINT, before)


def _rows_of(unit: Unit, settings: Settings) -> int:
    return (unit.stop - unit.start) * len(settings.categories)


def _in_processes(
    settings: Settings, versions: Versions, todo: list[Unit], work: Work, workers: int
) -> Iterator[Unit]:
    """Units in the order in which they are done; few are handed out at a time."""
    context = multiprocessing.get_context("spawn")
    left = iter(todo)
    with _one_thread_each():
        pool = ProcessPoolExecutor(
            min(workers, len(todo)), mp_context=context, initializer=_live_with_the_parent
        )
        waiting: dict[Future[int], Unit] = {}
        try:
            while True:
                for unit in islice(left, 2 * workers - len(waiting)):
                    waiting[pool.submit(make_unit, settings, versions, unit, work.folder)] = unit
                if not waiting:
                    break
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                    yield waiting.pop(future)
        except BrokenProcessPool:
            raise RunError(
                "a worker process died (killed, or out of memory); finished units are kept: "
                "run the same command again to go on, with fewer --workers if memory was short"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _live_with_the_parent() -> None:
    """Leave Ctrl-C to the parent, and on Linux end when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_PR_SET_PDEATHSIG = 1


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers are the parallelism: maths libraries in them get one thread."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
