"""The folder of a run before it starts: held, recovered from kills, checked, opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synth.codegen.translator import check_warp_version
from synth.dataset.existing import ExistingRows, read_existing
from synth.dataset.files import remove_folder, remove_trash
from synth.dataset.lock import lock_of
from synth.dataset.manifest import Manifest, damaged_shards, read_manifest, require_same_shape
from synth.dataset.settings import Settings, Versions, shape_of
from synth.dataset.stage import Stage
from synth.errors import RunError, SettingsError
from synth.run.finish import commit
from synth.run.limits import require_numbers
from synth.run.raise_level import BEFORE, give_rows, is_raise, tally_before
from synth.run.state import Run
from synth.run.work import Work, open_work, remove_empty, require_ours, require_same_plan
from validate.process.machine import fault_line


@contextmanager
def prepared(
    settings: Settings, n: int, out: Path, shard_size: int, *, part: bool
) -> Iterator[Run | None]:
    """A run that holds its folder, alone or with other parts; None when there is nothing to do.

    Raises :class:`SettingsError`, and :class:`RunError` for a disk that takes no more.
    """
    require_numbers(n, shard_size)
    check_warp_version()
    versions = Versions.installed(settings.verify)
    shape = shape_of(settings, versions)
    with lock_of(out) as lock, disk_troubles(out):
        if not part:
            lock.alone()
            recover(out)
        elif lock.share_unless(lambda: _is_fresh(out, shape)):
            recover(out)
        manifest = read_manifest(out)
        if manifest is not None and _is_done(out, manifest, shape, n, shard_size):
            yield None
            return
        require_ours(out, shape, n)
        if part:
            require_same_plan(out, n, shard_size)
        work = open_work(out, shape, n, shard_size, closely=not part)
        run = open_run(settings, versions, out, work)
        if part:
            lock.share()
        yield run


def recover(out: Path) -> None:
    """Put a dataset in its place that was staged in full when its run was killed."""
    remove_trash(out)
    remove_empty(out)
    stage = Stage(out / "work")
    staged = stage.manifest()
    if staged is not None:
        commit(stage, out, staged, out / "work")


def open_run(settings: Settings, versions: Versions, out: Path, work: Work) -> Run:
    """The run in a folder that is held and whose working folder is open."""
    manifest = read_manifest(out)
    raised = manifest is not None and is_raise(work.shape, manifest.shape)
    if manifest is not None and raised:
        give_rows(out, manifest, settings, work)
    existing = ExistingRows() if raised else read_existing(out, manifest, settings.categories)
    tally = tally_before(work.folder)
    return Run(settings, versions, out, work, existing, None if raised else manifest, tally)


@contextmanager
def disk_troubles(out: Path) -> Iterator[None]:
    """Turn what the machine does to a run into one line; any other error is a bug and goes on."""
    try:
        yield
    except (OSError, MemoryError) as error:
        line = fault_line(error)
        if line is None:
            raise
        raise RunError(
            f"{out} is not finished: {line}; finished units are kept: mend that and run the same "
            "command again to go on"
        ) from None


def _is_fresh(out: Path, shape: dict[str, Any]) -> bool:
    """Whether there is something to do once for all parts."""
    work = Work.read(out)
    if work is None or Stage(work.folder).manifest() is not None:
        return True
    manifest = read_manifest(out)
    raised = manifest is not None and is_raise(shape, manifest.shape)
    return raised and not (work.folder / BEFORE).is_file()


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
    if left is not None and left.shape == shape and left.n <= n:
        # Nothing is left to mend.
        remove_folder(left.folder)
    return True
