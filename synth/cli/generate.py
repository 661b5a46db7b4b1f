"""``pairsmith generate``, ``finish`` and ``merge``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from synth.cli.options import FOLDER, quiet_option
from synth.dataset.verify_levels import VERIFY_LEVELS
from synth.progress import progress_bar

if TYPE_CHECKING:
    from synth.dataset.settings import Settings
    from synth.run.engine import Engine
    from synth.run.limits import Part

_ENGINE = (
    click.option("--workers", type=int, default=1, show_default=True, help="Worker processes."),
    click.option(
        "--engine",
        type=click.Choice(("local", "ray")),
        default="local",
        show_default=True,
        help="Who does the work: processes of this machine, or Ray.",
    ),
    click.option("--address", help="A Ray cluster: host:port or auto.  [default: Ray here]"),
    quiet_option,
)


def _with_engine(command: Any) -> Any:
    for option in reversed(_ENGINE):
        command = option(command)
    return command


@click.command()
@click.option("-n", "n", type=int, required=True, help="Number of rows.")
@click.option("-o", "out", required=True, help="Folder of the dataset, or a URL (s3://, gs://, …).")
@click.option(
    "--work", type=FOLDER, help="With a URL: the local folder it is made in.  [default: its name]"
)
@click.option("--seed", type=int, default=0, show_default=True, help="Decides on all rows.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    help="Only this one; repeatable. tile, of Warp's tiles, is made by request alone.",
)
@click.option("--level", "levels", type=int, multiple=True, help="Only this one; repeatable.")
@click.option("--shard-size", type=int, default=1000, show_default=True, help="Rows a shard.")
@click.option(
    "--verify",
    type=click.Choice(VERIFY_LEVELS),
    default="compile",
    show_default=True,
    help="text: gates and schema. compile: NVRTC makes PTX. run: Warp's CUDA, its adjoint, the "
    "plain CUDA and our own backward kernel are run on the host and compared as well.",
)
@click.option("--arch", "archs", multiple=True, help="Compile for it, as sm_90; repeatable.")
@click.option(
    "--resources", is_flag=True, help="Measure registers, spills and shared memory (slow)."
)
@click.option("--no-backward", is_flag=True, help="Leave Warp's adjoint out.")
@click.option("--no-array", is_flag=True, help="Leave the whole-array NumPy version out.")
@click.option("--no-gradient", is_flag=True, help="Leave our own backward kernel out.")
@click.option("--part", metavar="K/N", help="Make the K-th of N parts; then pairsmith finish OUT.")
@click.option("--dry-run", is_flag=True, help="Say what it would take; write nothing.")
@_with_engine
def generate(
    n: int,
    out: str,
    work: Path | None,
    seed: int,
    categories: tuple[str, ...],
    levels: tuple[int, ...],
    shard_size: int,
    verify: str,
    archs: tuple[str, ...],
    resources: bool,
    part: str | None,
    dry_run: bool,
    workers: int,
    engine: str,
    address: str | None,
    quiet: bool,
    **left_out: bool,
) -> None:
    """Make a dataset of N rows, or go on with one that was broken off.

    A finished dataset of fewer rows grows; shards that are missing or damaged are made again.
    """
    chosen_part = _require_possible(n, shard_size, workers, part)
    from synth.dataset.settings import make_settings  # takes seconds, so after what can be refused

    settings = make_settings(
        seed=seed,
        categories_asked=categories,
        levels_asked=levels,
        verify=verify,
        archs_asked=archs,
        resources=resources,
        **{name.removeprefix("no_"): not without for name, without in left_out.items()},
    )
    if dry_run:
        _say_estimate(settings, n, workers, shard_size)
        return
    with _engine_of(engine, address, workers) as chosen, _place(out, work, settings, n) as folder:
        _generate(settings, n, folder, shard_size, workers, chosen, chosen_part, quiet)


def _require_possible(n: int, shard_size: int, workers: int, part: str | None) -> Part | None:
    """The part that is asked for, if any; :class:`SettingsError` for what no run can do."""
    from synth.run.limits import Part, require_numbers, require_sane

    require_sane(workers, n)
    require_numbers(n, shard_size)
    return None if part is None else Part.of(part)


def _say_estimate(settings: Settings, n: int, workers: int, shard_size: int) -> None:
    from synth.run.estimate import estimate

    for line in estimate(settings, n, workers, shard_size):
        click.echo(line)


@contextmanager
def _place(out: str, work: Path | None, settings: Settings, n: int) -> Iterator[Path]:
    """The folder that a dataset is made in; what is finished there goes to the URL, if any."""
    from synth.dataset.manifest import read_manifest
    from synth.dataset.settings import Versions, shape_of
    from synth.errors import SettingsError
    from synth.run.remote import Store, is_url

    if not is_url(out):
        if work is not None:
            raise SettingsError("--work goes with a URL as -o; a folder is its own")
        yield Path(out)
        return
    store = Store(out)
    folder = work or Path(store.url.rpartition("/")[2])
    store.require_place(folder, shape_of(settings, Versions.installed(settings.verify)), n)
    store.fetch(folder)
    yield folder
    if not (folder / "work").exists() and read_manifest(folder) is not None:
        click.echo(f"{store.push(folder)} files sent to {store.url}")


def _generate(
    settings: Settings,
    n: int,
    out: Path,
    shard_size: int,
    workers: int,
    engine: Engine | None,
    part: Part | None,
    quiet: bool,
) -> None:
    from synth.run import generate as run

    began_s = time.monotonic()
    with progress_bar(max(n, 0) // (part.count if part else 1), quiet, "generate") as bar:
        counted = _Counted(bar)
        common: dict[str, Any] = {
            "workers": workers,
            "shard_size": shard_size,
            "progress": counted,
            "made": counted.under_way,
            "engine": engine,
        }
        if part is not None:
            left = run.generate_part(settings, n, out, part, **common)
            manifest = None
        else:
            manifest = run.generate(settings, n, out, phase=bar.set_description, **common)
    rate = min(counted.made, n) / (time.monotonic() - began_s)
    done = f"{rate:.0f} rows/s" if counted.units else "complete already"
    if manifest is not None:
        click.echo(f"{manifest.rows} rows in {len(manifest.shards)} shards at {out}, {done}")
        return
    then = f"{left} units are left to other parts" if left else f"now run pairsmith finish {out}"
    click.echo(f"part {part.number}/{part.count} is done, {done}; {then}" if part else "")


class _Counted:
    """Counts what the units of a run came to, and shows it on a bar.

    ``done`` rows are of whole units, ``seen`` ones of units under way as well, as far as the engine
    tells.
    """

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.units = self.made = self.rejects = 0
        self.done = self.seen = 0

    def __call__(self, rows: int, refused: int, fresh: bool) -> None:
        self.units += 1
        self.made += rows if fresh else 0
        self.rejects += refused
        self.done += rows
        self.seen += 0 if fresh else rows
        self.bar.set_postfix(refresh=False, rejects=self.rejects)
        self._show()

    def under_way(self, rows: int) -> None:
        """Rows of a unit that is not done yet."""
        self.seen += rows
        self._show()

    def _show(self) -> None:
        there = min(max(self.done, self.seen), self.bar.total)
        self.bar.update(max(there - self.bar.n, 0))


@click.command()
@click.argument("out", type=FOLDER)
@_with_engine
def finish(out: Path, workers: int, engine: str, address: str | None, quiet: bool) -> None:
    """Finish a dataset whose units are all made."""
    from synth.run import generate as run

    with _engine_of(engine, address, workers) as chosen:
        manifest = run.finish(out, workers=workers, engine=chosen)
    click.echo(f"{manifest.rows} rows in {len(manifest.shards)} shards at {out}")


@click.command()
@click.argument("folders", nargs=-1, required=True, type=FOLDER, metavar="DATASET…")
@click.option("-o", "out", type=FOLDER, required=True, help="Folder of the new dataset.")
@click.option("--shard-size", type=int, default=1000, show_default=True, help="Rows a shard.")
def merge(folders: tuple[Path, ...], out: Path, shard_size: int) -> None:
    """Merge datasets of different seeds; rows equal up to names enter once."""
    from synth.derive.merge import merge as merge_datasets

    manifest = merge_datasets(folders, out, shard_size=shard_size)
    total = sum(part["rows"] for part in manifest.shape["merged"])
    click.echo(
        f"{manifest.rows} rows of {total} in {len(manifest.shards)} shards at {out}; "
        f"{total - manifest.rows} were left out"
    )


@contextmanager
def _engine_of(engine: str, address: str | None, workers: int) -> Iterator[Engine | None]:
    from synth.errors import SettingsError

    if engine == "local":
        if address:
            raise SettingsError("--address names a Ray cluster: add --engine ray")
        yield None
        return
    from synth.run.ray_engine import RayEngine

    chosen = RayEngine(address, workers)
    try:
        yield chosen
    finally:
        chosen.close()
