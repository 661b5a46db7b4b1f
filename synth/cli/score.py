"""The command that scores what others answer."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from synth.cli.options import FOLDER, quiet_option, report_option, require_place_of, write_report
from synth.progress import progress_bar


@click.command()
@click.argument("out", type=FOLDER)
@click.argument("answers", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--workers", type=int, default=1, show_default=True, help="Worker processes.")
@click.option(
    "--hidden-seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the hidden inputs; keep it to yourself.",
)
@report_option
@quiet_option
def score(
    out: Path, answers: Path, workers: int, hidden_seed: int, report: Path | None, quiet: bool
) -> None:
    """Score plain CUDA that others wrote for rows of OUT, on inputs that rows do not show.

    ANSWERS holds a JSON object a line: {"id": …, "cuda": …, "launch": …}; the launch is the row's
    own by default, and several lines for an id are samples of one task. The texts are compiled and
    run here, in processes that can only compute (notes/measurements/scorer.md says how far that
    goes).
    """
    from synth.check.answers import (
        read_answers,
        report_of,
        rows_of,
        score_answers,
        summarise,
    )
    from synth.errors import SettingsError

    if workers < 1:
        raise SettingsError(f"workers is {workers}, at least 1 is needed")
    require_place_of(report)
    lines = read_answers(answers)
    rows = rows_of(out, lines)
    began_s = time.monotonic()
    with progress_bar(len(lines), quiet, "score", "answer") as bar:
        verdicts = score_answers(
            lines, rows, workers=workers, hidden_seed=hidden_seed, progress=bar.update
        )
    rate = len(lines) / (time.monotonic() - began_s)
    summary = summarise(verdicts, rows)
    for line in _table(summary):
        click.echo(line)
    click.echo(f"{len(lines)} answers to {len(rows)} rows scored, {rate:.1f} rows/s")
    write_report(report, report_of(lines, verdicts, summary))


def _table(summary: dict[str, Any]) -> list[str]:
    lines = []
    for name, group in summary["groups"].items():
        shares = "  ".join(f"pass@{k} {100 * v:5.1f} %" for k, v in group["pass_at"].items())
        lines.append(f"{name:24} {group['tasks']:6} tasks {group['samples']:7} samples  {shares}")
    lines += [f"{status:20} {count:7}" for status, count in summary["verdicts"].items()]
    return lines
