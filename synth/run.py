"""One run: tasks that are not done yet, then the finishing pass."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synth.base import Base, read_base
from synth.codegen import check_warp_version
from synth.engine import Engine, InProcess, Processes
from synth.errors import RunError, SettingsError
from synth.files import remove_folder
from synth.finish import commit
from synth.interrupt import kept_interrupt
from synth.manifest import Manifest, damaged_shards, read_manifest, require_same_shape
from synth.one_run import Part, Phase, Progress, Run, unsaid, unseen
from synth.raise_level import give_rows, is_raise, tally_before
from synth.settings import Settings, Versions, shape_of
from synth.stage import Stage
from synth.work import Work, locked, open_work, require_ours


def generate(
    settings: Settings,
    n: int,
    out: Path,
    *,
    workers: int = 1,
    shard_size: int = 1000,
    progress: Progress = unseen,
    phase: Phase = unsaid,
    engine: Engine | None = None,
) -> Manifest:
    """Make a dataset of ``n`` rows in ``out``, or go on with one that was begun there.

    A dataset that is complete already is left as it is, and ``progress`` is never called. One of
    fewer rows grows, and one with shards that are missing or altered gets those again. Tasks are
    done by ``engine``, by default by ``workers`` processes.

    Raises :class:`SettingsError` for a request that cannot be met and :class:`RunError` when a
    worker dies; nothing already written is lost by either.
    """
    with _prepared(settings, n, out, shard_size, workers, shared=False) as run:
        if run is None:
            return _there(out)
        run.engine = engine or _local(workers)
        try:
            with _disk_troubles(out), kept_interrupt() as stop_if_asked:
                run.stop_if_asked, run.phase = stop_if_asked, phase
                run.units(progress)
                return run.finish()
        finally:
            run.engine.close()


def generate_part(
    settings: Settings,
    n: int,
    out: Path,
    part: Part,
    *,
    workers: int = 1,
    shard_size: int = 1000,
    progress: Progress = unseen,
    engine: Engine | None = None,
) -> int:
    """Make the units of one part and leave the finishing pass to :func:`finish`.

    Gives how many units are still to be made by this part and others. Raises as :func:`generate`.
    """
    if not 1 <= part.number <= part.count:
        raise SettingsError(f"part {part.number}/{part.count} does not exist; give k/n with k to n")
    with _prepared(settings, n, out, shard_size, workers, shared=True) as run:
        if run is None:
            return 0
        run.engine = engine or _local(workers)
        try:
            with _disk_troubles(out), kept_interrupt() as stop_if_asked:
                run.stop_if_asked = stop_if_asked
                run.units(progress, part)
                run.work.look()
                return sum(task.name not in run.work.done for task, _ in run.all_units())
        finally:
            run.engine.close()


def finish(out: Path, *, workers: int = 1, engine: Engine | None = None) -> Manifest:
    """The finishing pass alone, over units that lie in ``out``."""
    check_warp_version()
    work = Work.read(out)
    if work is None:
        raise SettingsError(f"{out} holds no unfinished run; start one with pairsmith generate")
    settings = work.settings()
    versions = Versions.installed(settings.verify)
    require_same_shape(out, shape_of(settings, versions), work.shape)
    with locked(out, shared=False):
        run = _open(settings, versions, work.n, out, work.shard_size)
        missing = [task.name for task, _ in run.all_units() if task.name not in run.work.done]
        if missing:
            raise SettingsError(
                f"{len(missing)} units are not made yet (first: {missing[0]}); "
                "run the same generate command again"
            )
        run.engine = engine or _local(workers)
        try:
            with _disk_troubles(out):
                return run.finish()
        finally:
            run.engine.close()


def _local(workers: int) -> Engine:
    return Processes(workers) if workers > 1 else InProcess()


def _there(out: Path) -> Manifest:
    manifest = read_manifest(out)
    assert manifest is not None
    return manifest


@contextmanager
def _prepared(
    settings: Settings, n: int, out: Path, shard_size: int, workers: int, *, shared: bool
) -> Iterator[Run | None]:
    """A run that holds its folder; None when there is nothing to do."""
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
        yield None
        return
    require_ours(out, shape)
    with locked(out, shared=shared), _disk_troubles(out):
        yield _open(settings, versions, n, out, shard_size)


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
        remove_folder(out / "work")
    return True


def _open(settings: Settings, versions: Versions, n: int, out: Path, shard_size: int) -> Run:
    """The run in its folder. A dataset that was staged in full by a run of it is moved in first."""
    shape = shape_of(settings, versions)
    work = open_work(out, shape, n, shard_size)
    staged = Stage(work.folder).manifest()
    if staged is not None:
        commit(Stage(work.folder), out, staged, versions, work.folder)
        work = open_work(out, shape, n, shard_size)
    manifest = read_manifest(out)
    raised = manifest is not None and is_raise(shape, manifest.shape)
    if manifest is not None and raised:
        give_rows(out, manifest, settings, work)
    base = Base() if raised else read_base(out, manifest, settings.categories)
    tally = tally_before(work.folder)
    return Run(settings, versions, out, work, base, None if raised else manifest, tally)
