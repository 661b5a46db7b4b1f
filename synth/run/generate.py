"""One run: tasks that are not done yet, then the finishing pass."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.codegen.translator import check_warp_version
from synth.dataset.lock import held_alone
from synth.dataset.manifest import Manifest, read_manifest, require_same_shape
from synth.dataset.settings import Settings, Versions, shape_of
from synth.errors import SettingsError
from synth.run.engine import Engine, InProcess, Made, Processes, ignore_made
from synth.run.limits import Part, require_sane
from synth.run.prepare import disk_troubles, open_run, prepared, recover
from synth.run.rounds import Progress, finish_run, ignore_progress, make_units
from synth.run.state import Phase, Run, ignore_phase
from synth.run.work import Work, open_work


@contextmanager
def kept_interrupt() -> Iterator[Callable[[], None]]:
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


def generate(
    settings: Settings,
    n: int,
    out: Path,
    *,
    workers: int = 1,
    shard_size: int = 1000,
    progress: Progress = ignore_progress,
    made: Made = ignore_made,
    phase: Phase = ignore_phase,
    engine: Engine | None = None,
) -> Manifest:
    """Make a dataset of ``n`` rows in ``out``, or go on with one that was begun there.

    A dataset that is complete already is left as it is, and ``progress`` is never called. One of
    fewer rows grows, and one with shards that are missing or altered gets those again. Tasks are
    done by ``engine``, by default by ``workers`` processes, which say by ``made`` how many rows of
    units under way are there already.

    Raises :class:`SettingsError` for a request that cannot be met and :class:`RunError` when a
    worker dies; nothing already written is lost by either.
    """
    require_sane(workers, n)
    with prepared(settings, n, out, shard_size, part=False) as run:
        if run is None:
            return _there(out)
        run.phase, run.made = phase, made
        with _at_work(run, engine, workers), kept_interrupt() as run.stop_if_asked:
            make_units(run, progress)
            return finish_run(run)


def generate_part(
    settings: Settings,
    n: int,
    out: Path,
    part: Part,
    *,
    workers: int = 1,
    shard_size: int = 1000,
    progress: Progress = ignore_progress,
    made: Made = ignore_made,
    engine: Engine | None = None,
) -> int:
    """Make the units of one part and leave the finishing pass to :func:`finish`.

    Gives how many units are still to be made by this part and others. Raises as :func:`generate`.
    """
    part.require()
    require_sane(workers, n)
    with prepared(settings, n, out, shard_size, part=True) as run:
        if run is None:
            return 0
        run.made = made
        with _at_work(run, engine, workers), kept_interrupt() as run.stop_if_asked:
            make_units(run, progress, part)
            run.work.look(closely=False)
            return sum(task.name not in run.work.done for task, _ in run.units())


def finish(out: Path, *, workers: int = 1, engine: Engine | None = None) -> Manifest:
    """The finishing pass alone, over units that lie in ``out``."""
    require_sane(workers)
    check_warp_version()
    work = Work.read(out)
    if work is None:
        raise SettingsError(f"{out} holds no unfinished run; start one with pairsmith generate")
    settings = Settings.of_shape(work.shape)
    versions = Versions.installed(settings.verify)
    shape = shape_of(settings, versions)
    require_same_shape(out, shape, work.shape)
    with held_alone(out), disk_troubles(out):
        recover(out)
        if Work.read(out) is None:
            return _there(out)
        work = open_work(out, shape, work.n, work.shard_size)
        run = open_run(settings, versions, out, work)
        missing = [task.name for task, _ in run.units() if task.name not in run.work.done]
        if missing:
            raise SettingsError(
                f"{len(missing)} units are not made yet (first: {missing[0]}); "
                "run the same generate command again"
            )
        with _at_work(run, engine, workers):
            return finish_run(run)


@contextmanager
def _at_work(run: Run, engine: Engine | None, workers: int) -> Iterator[None]:
    """Give a run its engine, which ends with the block."""
    local = Processes(workers, run.made) if workers > 1 else InProcess(run.made)
    run.engine = engine or local
    try:
        yield
    finally:
        run.engine.close()


def _there(out: Path) -> Manifest:
    manifest = read_manifest(out)
    assert manifest is not None
    return manifest
