"""The commands that need a GPU; they import neither Warp nor `datasets`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from synth.cli.options import COUNT, FOLDER, SECONDS, quiet_option
from synth.progress import progress_bar

_SAMPLES = Path("data/samples")
_MOST_PROCESSES = 4096
_include = click.option(
    "--include",
    "include",
    type=FOLDER,
    help="Folder of Warp's headers.  [default: OUT/include, else an installed Warp's]",
)


@click.group()
def gpu() -> None:
    """Run rows on GPUs, from their stored texts: needs NumPy, PyArrow and CuPy.

    Without a GPU these commands end with exit code 2: nothing is ever run elsewhere.
    """


@gpu.command()
@click.argument("out", type=FOLDER, default=_SAMPLES)
@_include
@click.option("--cubins", type=FOLDER, help="Folder of machine code: taken from, and added to.")
@click.option("--limit", type=COUNT, help="Only the first rows.")
@click.option("--workers", type=click.IntRange(1, _MOST_PROCESSES), help="Processes for each GPU.")
@click.option(
    "--gpus", type=click.IntRange(1, _MOST_PROCESSES), help="Only the first of the visible GPUs."
)
@click.option(
    "--large",
    type=click.IntRange(min=0),
    default=1 << 18,
    show_default=True,
    help="Threads of the large launch, about; 0: none.",
)
@click.option("--timeout", type=SECONDS, default=60.0, show_default=True, help="Seconds a row.")
@click.option(
    "--engine",
    type=click.Choice(("local", "ray")),
    default="local",
    show_default=True,
    help="Whose GPUs: this machine's, or those of a Ray cluster.",
)
@click.option("--address", help="The Ray cluster: host:port or auto.  [default: Ray here]")
@quiet_option
def run(
    out: Path,
    include: Path | None,
    cubins: Path | None,
    limit: int | None,
    workers: int | None,
    gpus: int | None,
    large: int,
    timeout: float,
    engine: str,
    address: str | None,
    quiet: bool,
) -> None:
    """Compile and launch forward, backward and plain texts of OUT; compare with the reference.

    Results go to OUT/gpu/. Exit code 1 when a text does not pass.
    """
    from synth.dataset.stored import count_rows
    from synth.gpu.rows import include_dir
    from synth.gpu.run import failure_lines, summary
    from validate.gpu.device import devices
    from validate.gpu.runner import GpuOptions, default_workers

    total = min(count_rows(out), limit or sys.maxsize)
    headers = include_dir(out, include)
    cluster = _cluster(engine, address, of_this_machine=bool(gpus or cubins))
    found = cluster.devices if cluster else devices()[:gpus]
    options = GpuOptions(
        include_dir=headers,
        cubins=_made(cubins),
        large_elements=large,
        timeout_s=timeout,
        workers=workers or (0 if cluster else default_workers(found)),
    )
    with progress_bar(total, quiet, "gpu run") as bar:
        done, path = _run_dataset(out, found, options, limit, cluster, bar)
    for line in [*failure_lines(done), *summary(done), f"results in {path}"]:
        click.echo(line)
    sys.exit(0 if done.good else 1)


def _run_dataset(
    out: Path, found: Any, options: Any, limit: int | None, cluster: Any, bar: Any
) -> tuple[Any, Path]:
    """Run rows with a bar that counts them and those that fail."""
    from synth.gpu.run import run_dataset

    failed = 0

    def progress(verdict: Any) -> None:
        nonlocal failed
        failed += not verdict.passed
        bar.update(1)
        bar.set_postfix(failed=failed)

    elsewhere = cluster.run if cluster else None
    return run_dataset(out, found, options, limit=limit, progress=progress, elsewhere=elsewhere)


def _cluster(engine: str, address: str | None, *, of_this_machine: bool) -> Any:
    """The GPUs of a cluster, None for those of this machine; ``of_this_machine`` says that options
    were given which only its GPUs have."""
    from synth.errors import SettingsError

    if engine == "ray":
        if of_this_machine:
            raise SettingsError(
                "--gpus and --cubins are of this machine's GPUs: leave --engine ray out"
            )
        from synth.gpu.on_ray import RayGpus

        return RayGpus(address)
    if address:
        raise SettingsError("--address names a Ray cluster: add --engine ray")
    return None


@gpu.command()
@click.argument("out", type=FOLDER, default=_SAMPLES)
@_include
@click.option("--cubins", type=FOLDER, help="Folder of machine code: taken from, and added to.")
@click.option("--rows", "count", type=COUNT, default=60, show_default=True)
@click.option("--gpus", type=click.IntRange(1, _MOST_PROCESSES), default=1, show_default=True)
@click.option(
    "--compilers",
    type=click.IntRange(1, _MOST_PROCESSES),
    help="Processes that compile beforehand.",
)
@click.option("--timeout", type=SECONDS, default=180.0, show_default=True, help="Seconds a row.")
@quiet_option
def bench(
    out: Path,
    include: Path | None,
    cubins: Path | None,
    count: int,
    gpus: int,
    compilers: int | None,
    timeout: float,
    quiet: bool,
) -> None:
    """Time Warp's text and plain CUDA of OUT's rows, from 1 K to 10 M elements.

    Sizes that a launch does not count are in the middle of the row's regime. NumPy on the host and
    CuPy run the rows that are elementwise. Rows should have passed `gpu run`. Results, a table and
    a roofline go to OUT/gpu/.
    """
    import os

    from synth.gpu.bench import bench_rows, choose_rows, write_bench
    from synth.gpu.output import ready_folder
    from synth.gpu.rows import include_dir, read_rows_and_programs
    from validate.gpu.device import devices
    from validate.gpu.runner import GpuOptions

    found = devices()[:gpus]
    ready_folder(out)
    rows = choose_rows(read_rows_and_programs(out), count)
    with _kept_or_not(cubins) as kept, progress_bar(len(rows), quiet, "gpu bench") as bar:
        options = GpuOptions(
            include_dir=include_dir(out, include),
            cubins=kept,
            timeout_s=timeout,
            bench=True,
            batch_size=1,
        )
        many = compilers or os.cpu_count() or 1
        done = bench_rows(rows, found, options, many, lambda _v: _step(bar))
    for line in _bench_lines(done, write_bench(out, done)):
        click.echo(line)
    sys.exit(0 if done.good else 1)


@contextmanager
def _kept_or_not(cubins: Path | None) -> Iterator[Path]:
    """The folder of machine code that was named, or one that goes with the block."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="pairsmith-cubins-") as made:
        yield _made(cubins) or Path(made)


def _bench_lines(done: Any, paths: list[Path]) -> Iterator[str]:
    """The table of a benchmark, rows that failed, and the files that were written."""
    yield next(path for path in paths if path.suffix == ".md").read_text("utf-8")
    for verdict in done.verdicts:
        for result in verdict.results:
            if result.status != "passed":
                yield f"{verdict.row['id']}: {result.status}: {result.reason[:300]}"
    if not any(path.suffix == ".png" for path in paths):
        yield "no roofline: pip install 'pairsmith[plots]'"
    for path in paths:
        yield f"written: {path}"


@gpu.command()
@click.argument("out", type=FOLDER, default=_SAMPLES)
@_include
@click.option("--rows", "count", type=COUNT, default=600, show_default=True)
@click.option(
    "--schedules",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Schedules of a row, its own among them.",
)
@click.option("--workers", type=click.IntRange(1, _MOST_PROCESSES), help="Processes for each GPU.")
@click.option("--timeout", type=SECONDS, default=300.0, show_default=True, help="Seconds a row.")
@quiet_option
def tune(
    out: Path,
    include: Path | None,
    count: int,
    schedules: int,
    workers: int | None,
    timeout: float,
    quiet: bool,
) -> None:
    """Time the schedules of OUT's rows side by side, at three sizes of what each row is for.

    Each is first proven equal to Warp's text on the device. Results go to
    OUT/gpu/tune-<device>.parquet and, with their texts, to the configuration `schedules`; a tuning
    that broke off goes on where it was.
    """
    from synth.gpu.bench import choose_rows
    from synth.gpu.rows import include_dir, read_rows_and_programs
    from synth.gpu.tune import Tuning, tune_dataset
    from validate.gpu.device import devices

    device = devices()[0]
    rows = choose_rows((r for r in read_rows_and_programs(out) if r["program"]), count)
    wanted = Tuning(include_dir(out, include), schedules, workers, timeout)
    with progress_bar(len(rows), quiet, "gpu tune") as bar:
        lines, good = tune_dataset(out, rows, device, wanted, lambda _v: _step(bar))
    for line in lines:
        click.echo(line)
    sys.exit(0 if good else 1)


@gpu.command()
@click.argument("out", type=FOLDER, default=_SAMPLES)
@_include
@click.option("--rows", "count", type=COUNT, default=30, show_default=True)
@click.option(
    "--elements",
    type=click.IntRange(1, 1 << 30),
    default=1 << 22,
    show_default=True,
    help="Threads of a launch, about.",
)
@click.option("--ncu", help="Nsight Compute's program.  [default: ncu]")
@click.option(
    "--timeout", type=SECONDS, default=600.0, show_default=True, help="Seconds for all rows."
)
def profile(
    out: Path, include: Path | None, count: int, elements: int, ncu: str | None, timeout: float
) -> None:
    """Measure plain CUDA and Warp's text of OUT's rows with Nsight Compute.

    Occupancy that was reached, sectors a request (coalescing), bank conflicts, bytes of memory and
    what warps wait for, at sizes of what each row is for. Results go to
    OUT/gpu/profile-<device>.parquet. Exit code 1 when a text could not be launched.
    """
    from synth.gpu.bench import choose_rows
    from synth.gpu.profile import Profiling, find_ncu, profile_dataset
    from synth.gpu.rows import include_dir, read_rows
    from validate.gpu.device import devices

    device = devices()[0]
    wanted = Profiling(include_dir(out, include), elements, find_ncu(ncu), timeout)
    rows = choose_rows((row for row in read_rows(out) if row["cuda_plain"]), count)
    lines, good = profile_dataset(out, rows, device, wanted)
    for line in lines:
        click.echo(line)
    sys.exit(0 if good else 1)


@gpu.command("compile")
@click.argument("out", type=FOLDER, default=_SAMPLES)
@click.option("-o", "folder", type=FOLDER, required=True, help="Folder of machine code.")
@click.option("--arch", required=True, help="Of the GPU that will run it, as sm_90.")
@_include
@click.option("--limit", type=COUNT, help="Only the first rows.")
@click.option("--workers", type=click.IntRange(1, _MOST_PROCESSES), default=1, show_default=True)
@quiet_option
def compile_texts(
    out: Path,
    folder: Path,
    arch: str,
    include: Path | None,
    limit: int | None,
    workers: int,
    quiet: bool,
) -> None:
    """Make the machine code of OUT's texts for `gpu run --cubins`; this needs no GPU.

    Exit code 1 when a text does not compile.
    """
    from synth.dataset.stored import count_rows
    from synth.gpu.rows import include_dir, read_rows
    from validate.gpu.cubins import compile_rows
    from validate.row.archs import check_archs

    total = min(count_rows(out), limit or sys.maxsize)
    try:
        check_archs([arch])
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    kept = _made(folder)
    assert kept is not None
    with progress_bar(total, quiet, "gpu compile") as bar:
        refused = 0
        rows = read_rows(out, limit)
        for row_id, log in compile_rows(rows, arch, include_dir(out, include), kept, workers):
            bar.update(1)
            if log:
                refused += 1
                click.echo(f"{row_id}: {log}")
    click.echo(f"{total - refused} of {total} rows compiled for {arch} in {folder}")
    sys.exit(1 if refused else 0)


def _step(bar: Any) -> None:
    bar.update(1)


def _made(folder: Path | None) -> Path | None:
    """The folder, made when it is not there."""
    from synth.errors import SettingsError

    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"cannot make {folder}: {error.strerror}") from None
    return folder.resolve()
