"""The commands that only look: statistics, single rows, the machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from synth.cli.options import FOLDER


@click.command()
@click.argument("out", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option(
    "--plots", type=FOLDER, help="Folder for PNGs: categories, lengths, dtypes, builtins, rejects."
)
def stats(out: Path, as_json: bool, plots: Path | None) -> None:
    """Counts by split, category, level and idiom; distinct structures; rejects by reason."""
    from synth.cli.stats import collect, print_tables

    found = collect(out)
    if plots is not None:
        for path in _plots()(out, plots, found["draws"]):
            click.echo(f"written: {path}", err=True)
    if as_json:
        click.echo(json.dumps(found, indent=2, sort_keys=True))
    else:
        print_tables(found)


@click.command()
@click.argument("out", type=FOLDER)
@click.argument("row_id", required=False)
@click.option("--regenerate", is_flag=True, help="Make the row again and compare.")
@click.option(
    "--schedule",
    default="",
    metavar="STYLE|JSON",
    help="Plain CUDA in another form (not run): a style, or a whole schedule as the "
    "column has it. A style that the kernel has no form in is answered with those that it has.",
)
@click.option(
    "--torch",
    is_flag=True,
    help="Print a Python module instead: the row as an operator of PyTorch, with its gradient.",
)
@click.option("--cupy", is_flag=True, help="The same for CuPy, with a function a kernel.")
@click.option(
    "--target",
    type=click.Choice(["opencl", "hip"]),
    help="Print the plain kernels in that language instead, and how they are launched; with "
    "--schedule in another form. What only a warp of 32 can do has no such text.",
)
@click.option(
    "--sass",
    is_flag=True,
    help="Print machine code instead, below the lines of CUDA that it comes from.",
)
@click.option("--ptx", is_flag=True, help="Print PTX instead.")
@click.option("--arch", default="", help="Of these two, only what is for it, as sm_90.")
@click.option("--column", default="", help="Of these two, only that text, as cuda_plain.")
def show(
    out: Path,
    row_id: str | None,
    regenerate: bool,
    schedule: str,
    torch: bool,
    cupy: bool,
    target: str | None,
    sass: bool,
    ptx: bool,
    arch: str,
    column: str,
) -> None:
    """Show one row, question and answers side by side, and what is proven of it; the first row when
    no ID is given.

    PTX and machine code are those that `compile` made of it.
    """
    from synth.cli.machine import machine_texts, needs_lines
    from synth.cli.show import adjoint_reason, find_row, print_row, regenerated_difference

    row = find_row(out, row_id)
    if torch or cupy or target:
        click.echo(_elsewhere(row, "torch" if torch else "cupy", target, schedule), nl=False)
        return
    if sass or ptx:
        for text in machine_texts(out, row, "sass" if sass else "ptx", arch, column):
            click.echo(text, nl=False)
        return
    print_row(row, schedule, adjoint_reason(out, row["id"]))
    for line in needs_lines(out, row):
        click.echo(line)
    if regenerate:
        difference = regenerated_difference(row)
        click.echo(difference or "made again: equal")
        sys.exit(1 if difference else 0)


def _elsewhere(row: dict[str, Any], library: str, target: str | None, schedule: str) -> str:
    """The row for a library of Python, or in another language than CUDA."""
    from synth.cli.show import operator
    from synth.cli.targets import target_lines

    if target is None:
        return operator(row, library)
    return "".join(f"{line}\n" for line in target_lines(row, target, schedule))


@click.command()
def doctor() -> None:
    """Versions and what each feature lacks on this machine."""
    from synth.cli.doctor import report

    _print_lines(report)


def _plots() -> Callable[..., list[Path]]:
    from synth.errors import SettingsError

    try:
        from synth.card.plots import draw_all
    except ImportError:
        raise SettingsError("--plots needs matplotlib: pip install 'pairsmith[plots]'") from None
    return draw_all


def _print_lines(lines: Callable[[], list[str]]) -> None:
    for line in lines():
        click.echo(line)
