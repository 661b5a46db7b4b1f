"""``show``: one row with question and answer side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from generators.keys import program_keys
from generators.serialise import from_json
from synth.check import stored_rows
from synth.errors import SettingsError
from synth.gates import judge
from synth.pair import Accepted, PairMaker, Row
from synth.settings import Settings, Versions

_MADE_FROM_PROGRAM = (
    "id",
    "structure",
    "description",
    "python",
    "reference",
    "cuda_prologue",
    "cuda_helpers",
    "cuda_forward",
    "cuda_backward",
    "line_map_python",
    "line_map_cuda",
    "args",
    "sizes",
    "launch",
    "ops",
)


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
    console.print(_panel("Reference", row["reference"], "python"))
    console.print(_evidence(row), highlight=False)


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
    if checks["run_forward"] is None:
        return "run on the host: not measured"
    return f"run on the host: {checks['run_forward']} at {'; '.join(checks['shapes'])}"


def regenerated_difference(row: Row) -> str:
    """Make the row again from its program; names the columns that differ, "" when none does."""
    if row["program"] is None:
        raise SettingsError(f"row {row['id']} has no program: it was harvested, not drawn")
    program = from_json(row["program"])
    origin = row["provenance"]
    settings = Settings(
        seed=origin["seed"],
        categories=(row["category"],),
        levels=(row["level"],),
        backward=row["cuda_backward"] is not None,
        verify="text",
    )
    accepted = Accepted(
        program, judge(program), program_keys(program), origin["index"], origin["attempt"]
    )
    versions = replace(Versions.installed(), pairsmith=origin["pairsmith"])
    again = PairMaker(settings, versions).rows([accepted])[0]
    different = [name for name in _MADE_FROM_PROGRAM if again[name] != row[name]]
    return f"made again: {', '.join(different)} differ" if different else ""
