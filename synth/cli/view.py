"""The command that writes a dataset as a page."""

from __future__ import annotations

from pathlib import Path

import click

from synth.cli.options import FOLDER, quiet_option


@click.command()
@click.argument("out", type=FOLDER)
@click.option(
    "--out", "file", type=click.Path(path_type=Path), help="HTML file.  [default: OUT.html]"
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Most rows that the page shows.",
)
@quiet_option
def view(out: Path, file: Path | None, rows: int, quiet: bool) -> None:
    """Write a dataset as one HTML page, to browse and search it without a network.

    A dataset of more than --rows rows is shown in part, evenly over category, level and split.
    """
    from synth.page.page import view as write_page

    done = write_page(out, file, rows, quiet)
    of_all = "" if done.rows == done.total else f" of {done.total}"
    click.echo(f"{done.rows}{of_all} rows in {done.file}, {done.size_bytes / 1e6:.1f} MB")
