"""``show``: one row with question and answer side by side."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from generators.serialise import from_json
from synth import render_cuda
from synth.check import stored_rows
from synth.codegen import Translator
from synth.errors import SettingsError
from synth.pair import Row
from synth.remake import differing_columns, retranslated_difference


def find_row(out: Path, row_id: str | None) -> Row:
    """The row with that id (or a unique beginning of it), or the first row."""
    matches = []
    for _, row in stored_rows(out):
        if row_id is None:
            return row
        if row["id"].startswith(row_id):
            matches.append(row)
    if len(matches) != 1:
        found = "no row" if not matches else f"{len(matches)} rows"
        raise SettingsError(f"{found} at {out} with an id that begins with {row_id!r}")
    return matches[0]


def print_row(row: Row) -> None:
    """Print a row to stdout; coloured and side by side on a terminal that is wide enough."""
    console = Console()
    python = _panel("Python", row["python"], "python")
    cuda = _panel("CUDA (Warp)", row["cuda_helpers"] + row["cuda_forward"], "cuda")
    head = f"{row['id']}  {row['category']}/{row['idiom']} level {row['level']}"
    console.print(head, style="bold", highlight=False)
    console.print(row["description"], highlight=False)
    console.print(_side_by_side(python, cuda) if console.width >= 160 else Group(python, cuda))
    if row["reference"] is not None:
        console.print(_panel("Reference", row["reference"], "python"))
    console.print(_evidence(row), highlight=False)


def print_plain(row: Row) -> None:
    """Print the row's program as CUDA C++ that needs no Warp, with the launch it asks for.

    :class:`synth.errors.SettingsError` for a row without a program.
    """
    if row["program"] is None:
        raise SettingsError(f"{row['id']} has no program: harvested rows have no plain CUDA")
    plain = render_cuda.render(from_json(row["program"]))
    console = Console()
    console.print(_panel("CUDA (plain, not run)", plain.text, "cuda"))
    grid, block = ", ".join(plain.launch["grid"]), ", ".join(map(str, plain.launch["block"]))
    console.print(f"grid: {grid}\nblock: {block}", highlight=False)


def _side_by_side(left: Panel, right: Panel) -> Table:
    grid = Table.grid(expand=True)
    grid.add_column(ratio=2)
    grid.add_column(ratio=3)
    grid.add_row(left, right)
    return grid


def _panel(title: str, text: str, language: str) -> Panel:
    return Panel(Syntax(text.rstrip("\n"), language, word_wrap=True), title=title)


def _evidence(row: Row) -> str:
    checks = row["checks"]
    archs = " ".join(checks["compile_archs"] or ()) or "not measured"
    run = "not measured"
    if checks["run_forward"] is not None:
        run = f"{checks['run_forward']} at {'; '.join(checks['shapes'] or ())}"
    adjoint = checks["adjoint"] or "not measured"
    return f"compiled for: {archs}\nrun on the host: {run}\nadjoint: {adjoint}"


def regenerated_difference(row: Row) -> str:
    """Make the row again from its program; says what differs, an empty string when nothing does."""
    difference, _ = differing_columns(row)
    backward = row["cuda_backward"] is not None
    return difference or retranslated_difference(row, Translator(backward=backward))
