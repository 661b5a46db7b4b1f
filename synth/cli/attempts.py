"""Commands that look at what a model answered, and export it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from synth.cli.options import COUNT, WORKERS, quiet_option
from synth.progress import progress_bar

_FILE = click.Path(dir_okay=False, path_type=Path)
_FORMS = ("attempts", "best", "trajectories", "preference")
_LINE = ("id", "task", "model", "sample", "turn", "verdict", "error", "metrics")


def _conditions(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that select attempts."""
    for option in (
        click.option("--until", metavar="TIME", help="Answered before it; UTC, as 2026-11-23T10."),
        click.option("--since", metavar="TIME", help="Answered at it or later."),
        click.option(
            "--passed/--not-passed", default=None, help="Only those that did, or did not."
        ),
        click.option("--verdict", metavar="STATUS", help="Only with it; none: not judged yet."),
        click.option("--model", help="Only of this model."),
        click.option("--row", metavar="ID", help="Only of tasks made of this row."),
        click.option("--task", metavar="ID", help="Only of this task."),
    ):
        command = option(command)
    return command


@click.command("list")
@click.argument("archive", type=_FILE)
def list_(archive: Path) -> None:
    """Count the attempts of ARCHIVE by model and view."""
    from synth.loop.archive import Archive

    with Archive(archive) as opened:
        for row in opened.summary():
            click.echo(
                f"{row['model']:30} {row['view']:13} "
                f"{row['tasks']:6} tasks {row['solved']:6} solved "
                f"{row['attempts']:7} attempts {int(row['passed']):6} passed "
                f"{int(row['tokens']):10} tokens {row['usd']:9.4f} USD"
            )


@click.command()
@click.argument("archive", type=_FILE)
@click.argument("attempt")
def show(archive: Path, attempt: str) -> None:
    """Show an attempt of ARCHIVE with the conversation that led to it.

    ATTEMPT is its id, or that of a task: then the best of its attempts, of those that passed the
    quickest (measured times before predicted ones), else the one with the most credit.
    """
    from synth.errors import SettingsError
    from synth.loop.archive import Archive, best_of

    with Archive(archive) as opened:
        rows = opened.query(id=attempt) or opened.query(task=attempt)
        if not rows:
            raise SettingsError(f"{archive} has no attempt and no task {attempt!r}")
        row = best_of(rows)
    for message in json.loads(row["prompt"]):
        click.echo(f"--- {message['role']}\n{message['content']}")
    click.echo(f"--- answer {row['id']} of {row['model']}\n{row['completion']}")
    verdict = row["error"] or row["verdict"] or "not judged yet"
    click.echo(f"--- {verdict} {row['reason'] or ''}".rstrip())
    if told := json.loads(row["metrics"] or "{}").get("time"):
        click.echo(f"--- {_time(told) or told['why']}")


def _time(told: dict[str, Any]) -> str:
    """A time in words; empty where there is none."""
    if told["us"] is None:
        return ""
    return f"{told['us']:.4g} us on {told['device']}, {told['how']}"


@click.command()
@click.argument("archive", type=_FILE)
@_conditions
@click.option("--limit", type=COUNT, default=50, show_default=True, help="Most lines.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, with everything.")
def query(archive: Path, limit: int, as_json: bool, **wanted: Any) -> None:
    """Print the attempts of ARCHIVE that fit all conditions, a line each."""
    from synth.loop.archive import Archive

    columns = (
        ("*",)
        if as_json
        else ("id", "task", "model", "sample", "turn", "verdict", "error", "metrics")
    )
    with Archive(archive) as opened:
        for row in opened.query(columns=columns, limit=limit, **wanted):
            found = dict(row)
            if as_json:
                click.echo(json.dumps(found))
            else:
                said = found["error"] or found["verdict"] or "not judged"
                place = f"{found['sample']:3}.{found['turn']}"
                took = json.loads(found["metrics"] or "{}").get("time")
                said = f"{said}  {_time(took) if took else ''}".rstrip()
                click.echo(f"{found['id']}  {found['task']} {place}  {found['model']}  {said}")


@click.command()
@click.argument("archive", type=_FILE)
@click.option("-o", "out", type=_FILE, required=True, help="A Parquet file.")
@click.option(
    "--form",
    type=click.Choice(_FORMS),
    default="attempts",
    show_default=True,
    help="attempts: all columns; best: of the best attempt of each task and model alone; "
    "trajectories, preference: conversations, as trainers take them.",
)
@_conditions
@click.option("--workers", type=WORKERS, default=1, show_default=True, help="Answers at a time.")
@quiet_option
def export(archive: Path, out: Path, form: str, workers: int, quiet: bool, **wanted: Any) -> None:
    """Write attempts of ARCHIVE as Parquet, for `load_dataset("parquet", data_files=FILE)`.

    trajectories: a conversation with the verdicts between its turns and a reward. preference: an
    answer that passed beside one that did not. For both each answer is judged again first, on other
    hidden inputs; what is judged otherwise then is left out.
    """
    from synth.loop.archive import Archive
    from synth.loop.export import export as write

    with Archive(archive) as opened, progress_bar(0, quiet, "judge", "answer") as bar:
        done = write(opened, out, form, workers=workers, progress=bar.update, **wanted)
    click.echo(f"{done.rows} rows in {out}; {done.otherwise} answers were judged otherwise")
