"""The command line. Each command imports what it needs when it runs, so that help is quick."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from synth.cli.compile import compile_texts
from synth.cli.decontaminate import decontaminate
from synth.cli.ends import OneLineGroup
from synth.cli.generate import finish, generate, merge
from synth.cli.gpu import gpu
from synth.cli.look import doctor, show, stats
from synth.cli.lower_index import lower
from synth.cli.options import (
    FOLDER,
    SECONDS,
    WORKERS,
    quiet_option,
    report_option,
    require_place_of,
    write_report,
)
from synth.cli.publish import publish
from synth.cli.score import score
from synth.cli.solve import solve
from synth.cli.training_views import training_views
from synth.cli.view import view
from synth.dataset.verify_levels import VERIFY_LEVELS
from synth.progress import progress_bar


@click.group(cls=OneLineGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pairsmith")
def main() -> None:
    """Python to CUDA kernel training pairs, each row with its proof.

    Exit codes: 0 done, 1 some rows failed or the run broke off, 2 the request was wrong.
    """


@main.command()
@click.argument("out", type=FOLDER)
@click.option(
    "--verify",
    type=click.Choice(VERIFY_LEVELS),
    default="run",
    show_default=True,
    help="How far rows are checked.",
)
@click.option("--arch", "archs", multiple=True, help="Compile for it, not for what rows claim.")
@click.option(
    "--target",
    type=click.Choice(["cuda", "opencl"]),
    default="cuda",
    show_default=True,
    help="opencl: print each program as OpenCL C, build and run that on the CPU, and nothing else.",
)
@report_option
@quiet_option
def validate(
    out: Path,
    verify: str,
    archs: tuple[str, ...],
    target: str,
    report: Path | None,
    quiet: bool,
) -> None:
    """Check every row of a dataset from its stored texts; exit code 1 when one fails."""
    from synth.check.dataset import check_dataset
    from synth.dataset.settings import archs_of

    require_place_of(report)
    if target == "opencl":
        sys.exit(_validate_opencl(out, archs, report, quiet))
    with progress_bar(0, quiet, "validate") as bar:
        asked = archs_of(verify, archs) if archs else ()
        found = check_dataset(out, verify, bar.update, archs=asked)
    # First: standard output may be full or gone.
    write_report(report, found.as_dict())
    for failure in found.failed:
        click.echo(f"{failure['id']}: {failure['reason']}")
    for problem in found.problems:
        click.echo(problem)
    if found.not_reproduced:
        click.echo(f"{found.not_reproduced} rows claim what cannot be repeated here")
    click.echo(f"{found.checked} rows checked, {len(found.failed)} failed")
    sys.exit(0 if found.good else 1)


def _validate_opencl(out: Path, archs: tuple[str, ...], report: Path | None, quiet: bool) -> int:
    """Run all rows in OpenCL C; the exit code."""
    from synth.check.targets import check_opencl
    from synth.errors import SettingsError

    if archs:
        raise SettingsError("--arch: OpenCL C is built for the CPU, not for an architecture")
    with progress_bar(0, quiet, "validate") as bar:
        found = check_opencl(out, bar.update)
    write_report(report, found.as_dict())
    for row in found.failed:
        click.echo(f"{row['id']}: {row['status']}: {row['reason']}")
    counts = ", ".join(f"{count} {status}" for status, count in sorted(found.counts().items()))
    click.echo(f"{len(found.rows)} rows on {found.runtime or 'no runtime'}: {counts}")
    return 1 if found.failed else 0


@main.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE.py…]")
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="NAME",
    help="A module by its dotted name, or all of a package; repeatable.",
)
@click.option("-o", "out", type=FOLDER, required=True, help="Folder of the dataset.")
@click.option("--per-module", type=int, default=50, show_default=True, help="Most rows; 0: all.")
@click.option(
    "--timeout",
    type=SECONDS,
    default=120,
    show_default=True,
    help="Seconds without a sign of life.",
)
@click.option("--workers", type=WORKERS, default=1, show_default=True, help="Files at a time.")
@click.option(
    "--arch",
    "archs",
    multiple=True,
    help="GPU architecture to compile for; repeatable.  [default: sm_90]",
)
@click.option("--no-run", is_flag=True, help="Do not run kernels on the host.")
@click.option("--license", "licence", default="", help="Licence of the files, for the card.")
@click.option(
    "--shard-size",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Rows a shard.",
)
@quiet_option
def harvest(
    files: tuple[Path, ...],
    modules: tuple[str, ...],
    out: Path,
    per_module: int,
    timeout: float,
    workers: int,
    archs: tuple[str, ...],
    no_run: bool,
    licence: str,
    shard_size: int,
    quiet: bool,
) -> None:
    """Make pairs from Warp modules that people wrote.

    THE CODE OF EACH FILE IS EXECUTED: it is imported, with your rights, in a child process that
    is ended after --timeout seconds without a sign of life. That is no sandbox: name only files
    and modules that you would run yourself. Kernels are also called with guessed inputs unless
    --no-run.

    Exit code 1 when a file could not be imported or did not end; the rest is written all the same.
    """
    from synth.card.harvested import NO_LICENCE
    from synth.harvest.files import Options, sources_of
    from synth.harvest.files import harvest as harvest_files
    from synth.harvest.output import check_folder, table, write_dataset

    options = Options(per_module, timeout, not no_run, workers, *([archs] if archs else []))
    check_folder(out)
    wanted = sum(source.wanted for source in sources_of(files, modules))
    with progress_bar(wanted, quiet, "harvest", "file") as bar:
        result = harvest_files(files, options, lambda _module: bar.update(1), modules)
    manifest = write_dataset(result, options, out, licence or NO_LICENCE, shard_size)
    for line in table(result):
        click.echo(line)
    click.echo(f"{manifest.rows} rows in {len(manifest.shards)} shards at {out}")
    sys.exit(1 if result.failed else 0)


_MAKE = (generate, finish, merge, decontaminate, training_views, publish)
_LOOK = (stats, show, view, doctor)
for _command in (*_MAKE, *_LOOK, compile_texts, lower, score, solve, gpu):
    main.add_command(_command)
