"""The command that compares a dataset with benchmarks."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from synth.cli.options import FOLDER, quiet_option, report_option, require_place_of, write_report
from synth.progress import progress_bar


@click.command()
@click.argument("out", type=FOLDER)
@click.option(
    "--against",
    "paths",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="File or folder of a benchmark: text, JSON, JSON lines or Parquet; repeatable.",
)
@click.option("-o", "clean", type=FOLDER, help="Folder of a new dataset without those rows.")
@click.option(
    "--ngram", type=int, default=13, show_default=True, help="Tokens that are compared at a time."
)
@click.option(
    "--threshold", type=float, default=0.2, show_default=True, help="Least share that counts."
)
@report_option
@quiet_option
def decontaminate(
    out: Path,
    paths: tuple[Path, ...],
    clean: Path | None,
    ngram: int,
    threshold: float,
    report: Path | None,
    quiet: bool,
) -> None:
    """Find rows of OUT that repeat texts of benchmarks; with -o, write a dataset without them.

    A row's score is the share of its token n-grams that benchmark texts hold, without those that
    many rows share (notes/measurements/decontamination.md). Without -o, exit code 1 when a row
    reaches the threshold.
    """
    from synth.derive.decontaminate import decontaminate as write_clean
    from synth.derive.overlap_report import Against, compare, steps

    require_place_of(report)
    total = steps(out)
    against = Against.of(paths, ngram=ngram, threshold=threshold)
    manifest = None
    with progress_bar(total, quiet, "decontaminate") as bar:
        if clean is None:
            found = compare(out, against, bar.update)
        else:
            found, manifest = write_clean(out, clean, against, bar.update)
    # First: standard output may be full or gone.
    write_report(report, found.as_dict())
    for line in found.lines():
        click.echo(line)
    if manifest is not None:
        click.echo(f"{manifest.rows} rows in {len(manifest.shards)} shards at {clean}")
    elif found.over:
        sys.exit(1)
