"""``show``: one row with question and answer side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from generators.program.serialise import from_json
from synth.codegen.translator import Translator
from synth.dataset.names import EVIDENCE
from synth.dataset.stored import readable, require_columns, stored_rows
from synth.errors import SettingsError
from synth.render.cuda import module as render_cuda
from synth.render.cuda.choose import check_schedule, schedule_for
from synth.render.cuda.schedule import Schedule
from synth.render.host.cupy_module import cupy_module
from synth.render.host.launcher import NoHostSide
from synth.render.host.torch_module import torch_module
from synth.rows.maker import Row
from synth.rows.remake import differing_columns, retranslated_difference
from synth.views.sizes import regime_clause
from validate.row.gradient import backward_row
from validate.statuses import AdjointStatus, ArrayStatus, GradientStatus


def find_row(out: Path, row_id: str | None) -> Row:
    """The row with that id (or a unique beginning of it), or the first row."""
    matches = []
    for _, row in stored_rows(out):
        require_columns(row, ("id", "regime", "cuda_plain_backward"), out)
        if row_id is None:
            return row
        if row["id"].startswith(row_id):
            matches.append(row)
    if len(matches) != 1:
        found = "no row" if not matches else f"{len(matches)} rows"
        raise SettingsError(f"{found} at {out} with an id that begins with {row_id!r}")
    return matches[0]


def adjoint_reason(out: Path, row_id: str) -> str:
    """Why the adjoint of a row did not agree when it was run; empty where the evidence of the
    dataset says nothing of it. :class:`SettingsError` for evidence that cannot be read."""
    path = out / EVIDENCE
    if not path.is_file():
        return ""
    with readable(path):
        if "adjoint_reason" not in pq.read_schema(path).names:
            return ""
        found = pq.read_table(path, columns=["adjoint_reason"], filters=[("id", "=", row_id)])
    return next((reason for reason in found["adjoint_reason"].to_pylist() if reason), "")


def operator(row: Row, library: str) -> str:
    """The row as a module of `torch` or `cupy`; :class:`SettingsError` where it has none."""
    try:
        return torch_module(row) if library == "torch" else cupy_module(row)
    except NoHostSide as why:
        said = f"--{library}: {row['id']} has {why}, so there is no such module of it"
        raise SettingsError(said) from None


def print_row(row: Row, schedule: str = "", measured: str = "") -> None:
    """Print a row to stdout; coloured and side by side on a terminal that is wide enough.

    ``schedule`` asks for the plain CUDA in another form: a style or a schedule as JSON.
    ``measured`` is what :func:`adjoint_reason` gives. :class:`SettingsError` where there is no such
    form.
    """
    console = Console()
    python = _panel("Python", row["python"], "python")
    cuda = _panel("CUDA (Warp)", row["cuda_helpers"] + row["cuda_forward"], "cuda")
    head = f"{row['id']}  {row['category']}/{row['idiom']} level {row['level']}"
    console.print(head, style="bold", highlight=False)
    console.print(row["description"], highlight=False)
    if regime := regime_clause(row):
        console.print(regime, highlight=False, markup=False)
    plain = rescheduled_row(row, schedule) if schedule else row
    if plain["cuda_plain"] is None:
        console.print(_side_by_side(python, cuda) if console.width >= 160 else Group(python, cuda))
    else:
        answer = _panel(f"CUDA (plain, {_style(plain)})", plain["cuda_plain"], "cuda")
        pair = _side_by_side(python, answer) if console.width >= 160 else Group(python, answer)
        console.print(pair)
        console.print(_launch(plain), highlight=False)
        console.print(cuda)
    if row["cuda_plain_backward"] is not None:
        backward = backward_row(row)
        title = f"CUDA (backward, {_style(backward)})"
        console.print(_panel(title, backward["cuda_plain"], "cuda"))
        console.print(_launch(backward), highlight=False)
    if row["array_python"] is not None:
        console.print(_panel("NumPy (whole arrays)", row["array_python"], "python"))
    if row["reference"] is not None:
        console.print(_panel("Reference", row["reference"], "python"))
    console.print(_evidence(row, measured), highlight=False, markup=False)


def _style(row: Row) -> str:
    return str(json.loads(row["schedule"])["style"])


def _launch(row: Row) -> str:
    launches, lines = row["plain_launch"], []
    for entry in row["plain_scratch"]:
        start = ", zeros" if entry["init"] == "zero" else ""
        lines.append(f"scratch: {entry['name']}, {entry['count']} of {entry['dtype']}{start}")
    for launch in launches:
        if len(launches) > 1:
            lines.append(f"launch: {launch['kernel']}({', '.join(launch['args'])})")
        lines.append(f"grid: {', '.join(launch['grid'])}")
        lines.append(f"block: {', '.join(map(str, launch['block']))}")
    return "\n".join([*lines, f"schedule: {row['schedule']}"])


def rescheduled_row(row: Row, schedule: str) -> Row:
    """The row with its plain CUDA in another form; :class:`SettingsError` where it has none."""
    return {**row, **_rescheduled(row, schedule)}


def _rescheduled(row: Row, asked: str) -> dict[str, Any]:
    """The plain columns of a row under a schedule that the user asked for."""
    if row["program"] is None:
        raise SettingsError(f"{row['id']} has no program: harvested rows have no plain CUDA")
    program = from_json(row["program"])
    try:
        if asked.lstrip().startswith("{"):
            schedule = Schedule.from_json(asked)
            check_schedule(program, schedule)
        else:
            schedule = schedule_for(program, asked)
        return render_cuda.render(program, schedule).columns()
    except ValueError as error:
        raise SettingsError(f"--schedule: {error}") from None


def _side_by_side(left: Panel, right: Panel) -> Table:
    grid = Table.grid(expand=True)
    grid.add_column(ratio=2)
    grid.add_column(ratio=3)
    grid.add_row(left, right)
    return grid


def _panel(title: str, text: str, language: str) -> Panel:
    return Panel(Syntax(text.rstrip("\n"), language, word_wrap=True), title=title)


def _evidence(row: Row, measured: str) -> str:
    checks = row["checks"]
    archs = " ".join(checks["compile_archs"] or ()) or "not measured"
    run = "not measured"
    if checks["run_forward"] is not None:
        run = f"{checks['run_forward']} at {'; '.join(checks['shapes'] or ())}"
    plain = checks["run_plain"] or "not measured"
    return (
        f"compiled for: {archs}\nrun on the host: {run}\nplain CUDA run on the host: {plain}\n"
        f"whole arrays run on the host: {_arrays(row)}\n"
        f"adjoint: {_adjoint(row, measured)}\nbackward kernel of ours: {_gradient(row)}"
    )


def _arrays(row: Row) -> str:
    """``checks.run_array`` of a row, or why it has no such text."""
    reason = row["array_reason"]
    if reason is None:
        return row["checks"]["run_array"] or "not measured"
    return f"{reason}: {ArrayStatus(reason).sentence}" if reason in {*ArrayStatus} else str(reason)


def _adjoint(row: Row, measured: str) -> str:
    """``checks.adjoint`` of a row with its sentence, and what was measured of it."""
    status = row["checks"]["adjoint"]
    if status is None:
        made = row["cuda_backward"] is not None
        return "not measured" if made else "not measured; the row was made without `cuda_backward`"
    said = f"{status}: {AdjointStatus(status).sentence}" if status in {*AdjointStatus} else status
    return f"{said}\nmeasured: {measured}" if measured else said


def _gradient(row: Row) -> str:
    """``checks.gradient`` of a row with its sentence."""
    status = row["checks"]["gradient"]
    if status is None:
        return "not measured"
    return f"{status}: {GradientStatus(status).sentence}" if status in {*GradientStatus} else status


def regenerated_difference(row: Row) -> str:
    """Make the row again from its program; says what differs, an empty string when nothing does."""
    difference, _ = differing_columns(row)
    backward = row["cuda_backward"] is not None
    return difference or retranslated_difference(row, Translator(backward=backward))
