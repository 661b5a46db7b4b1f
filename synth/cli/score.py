"""The command that scores what others answer."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from synth.cli.options import (
    FOLDER,
    SECONDS,
    WORKERS,
    quiet_option,
    report_option,
    require_place_of,
    write_report,
)
from synth.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from synth.check.answers import Line, Verdicts
    from synth.rows.maker import Row
    from validate.score.scorer import Scorer, Verdict

_INTERRUPTED = 130


@click.command()
@click.argument("out", type=FOLDER)
@click.argument("answers", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--workers", type=WORKERS, default=1, show_default=True, help="Answers at a time.")
@click.option(
    "--hidden-seed",
    type=int,
    help="Seed of the hidden inputs; keep it to yourself.  [default: drawn, and printed]",
)
@click.option("--timeout", type=SECONDS, help="Seconds for all answers; the rest is not judged.")
@click.option(
    "--feedback",
    type=click.Choice(("public", "full")),
    default="full",
    show_default=True,
    help="What the report tells; public: nothing of the hidden inputs.",
)
@report_option
@quiet_option
def score(
    out: Path,
    answers: Path,
    workers: int,
    hidden_seed: int | None,
    timeout: float | None,
    feedback: str,
    report: Path | None,
    quiet: bool,
) -> None:
    """Score plain CUDA that others wrote for rows of OUT, on inputs that rows do not show.

    ANSWERS holds a JSON object a line: {"id": …, "cuda": …, "launch": …}. "cuda" (or
    "completion") is a bare text or all that a model said; without "launch" it is launched as it
    says itself, else as the row's own text is. Several lines for an id are samples of one task. The
    texts are compiled and run here, in processes that can only compute
    (notes/measurements/scorer.md says how far that goes).

    Exit code 1 when answers were not judged (an unfit row, time up); they do not count in pass@k.
    130 after Ctrl-C; what was judged by then is reported.
    """
    from synth.check.answers import read_answers, report_of, rows_of, summarise
    from validate.score.scorer import Scorer

    require_place_of(report)
    lines = read_answers(answers)
    rows = rows_of(out, lines)
    began_s = time.monotonic()
    with Scorer(hidden_seed=hidden_seed, workers=workers) as scorer:
        verdicts, broke = _collected(scorer, lines, rows, workers, timeout, quiet)
    spent_s = time.monotonic() - began_s
    if broke is None or verdicts:
        summary, seed = summarise(list(verdicts.values()), rows), scorer.hidden_seed
        # First: standard output may be full or gone.
        write_report(report, report_of(lines, verdicts, summary, seed, feedback))
        _print(summary, lines, rows, verdicts, spent_s)
        if hidden_seed is None:
            click.echo(f"hidden seed {seed}: the same again with --hidden-seed {seed}")
    _exit(verdicts, broke)


def _exit(verdicts: Verdicts, broke: BaseException | None) -> None:
    if broke is not None and not isinstance(broke, KeyboardInterrupt):
        raise broke
    judged = all(verdict.judged for verdict in verdicts.values())
    sys.exit(_INTERRUPTED if broke is not None else 0 if judged else 1)


def _collected(
    scorer: Scorer,
    lines: Sequence[Line],
    rows: Mapping[str, Row],
    workers: int,
    timeout: float | None,
    quiet: bool,
) -> tuple[dict[int, Verdict], BaseException | None]:
    """Verdicts by position, and what ended the work before all were there."""
    from synth.check.answers import judged

    verdicts: dict[int, Verdict] = {}
    try:
        with (
            progress_bar(len(lines), quiet, "score", "answer") as bar,
            closing(judged(scorer, lines, rows, workers=workers, timeout_s=timeout)) as coming,
        ):
            for some in coming:
                verdicts.update(some)
                bar.update(len(some))
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - raised again after the report
        return verdicts, error
    return verdicts, None


def _print(
    summary: dict[str, Any],
    lines: Sequence[Line],
    rows: Mapping[str, Row],
    verdicts: Verdicts,
    spent_s: float,
) -> None:
    """Print what was found."""
    from synth.check.answers import not_judged

    for name, group in summary["groups"].items():
        shares = "  ".join(f"pass@{k} {100 * v:5.1f} %" for k, v in group["pass_at"].items())
        line = f"{name:24} {group['tasks']:6} tasks {group['samples']:7} samples  {shares}"
        click.echo(line.rstrip())
    for status, count in summary["verdicts"].items():
        click.echo(f"{status:20} {count:7}")
    rate = len(verdicts) / spent_s
    click.echo(f"{len(verdicts)} answers to {len(rows)} rows scored, {rate:.1f} answers/s")
    for line in not_judged(list(verdicts.values())):
        click.echo(f"pairsmith: {line}", err=True)
    if len(verdicts) < len(lines):
        said = f"{len(verdicts)} of {len(lines)} answers judged"
        click.echo(f"pairsmith: broken off: {said}", err=True)
