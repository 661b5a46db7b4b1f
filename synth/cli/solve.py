"""The commands of the loop: a model is asked, and what it answered is looked at and exported."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from synth.cli.attempts import export, list_, query, show
from synth.cli.options import (
    COUNT,
    FOLDER,
    SECONDS,
    WORKERS,
    CommandOrDefault,
    Finite,
    quiet_option,
)
from synth.progress import progress_bar

if TYPE_CHECKING:
    from synth.loop.archive import Archive, ArchivedTask
    from synth.loop.client import Endpoint
    from synth.loop.solve import Outcome, Plan
    from synth.loop.stopwatch import Stopwatch
    from synth.loop.times import Predictor

_FILE = click.Path(dir_okay=False, path_type=Path)
_SUFFIX = ".attempts.sqlite"
_CHAINS = click.IntRange(1, 10_000)
_MOST_RETRIES = 100


@click.group(cls=CommandOrDefault)
def solve() -> None:
    """Put a model in the loop: `solve TASKS --base-url URL --model M`; look at what it answered.

    Every attempt is kept in an archive, an SQLite file that is only added to.
    """


@solve.command()
@click.argument("tasks")
@click.option(
    "--base-url", required=True, metavar="URL", help="An endpoint, as http://host:8000/v1."
)
@click.option("--model", required=True, help="Its name there.")
@click.option("-k", "--samples", type=_CHAINS, default=1, show_default=True, help="Chains a task.")
@click.option(
    "--turns", type=_CHAINS, default=1, show_default=True, help="Most answers of a chain."
)
@click.option("--view", default="sft", show_default=True, help="How tasks are put.")
@click.option("--split", "splits", multiple=True, help="Only rows of it; repeatable.")
@click.option("--limit", type=COUNT, help="Only the first tasks.")
@click.option(
    "--size", "sizes", multiple=True, metavar="N=64", help="In place of a file's own; repeatable."
)
@click.option(
    "--hardware",
    default="",
    metavar="TEXT",
    help="The GPU that the model is told of: here (the one that doctor lists), as sm_90, or words.",
)
@click.option(
    "--feedback",
    type=click.Choice(("public", "full")),
    default="full",
    show_default=True,
    help="What a wrong answer is told; public: no input on which it is wrong.",
)
@click.option(
    "--device",
    is_flag=True,
    help="Measure answers that pass on the first GPU; without one times are predicted.",
)
@click.option("--faster", is_flag=True, help="Ask on for a faster one after an answer that passes.")
@click.option("--archive", type=_FILE, help=f"Where attempts are kept.  [default: TASKS{_SUFFIX}]")
@click.option(
    "--key-variable", default="OPENAI_API_KEY", show_default=True, help="Has the key; may be unset."
)
@click.option("--at-once", type=WORKERS, default=8, show_default=True, help="Requests at a time.")
@click.option(
    "--workers",
    type=WORKERS,
    default=1,
    show_default=True,
    help="Answers judged at a time.",
)
@click.option(
    "--answer-tokens",
    type=COUNT,
    default=8192,
    show_default=True,
    help="Most tokens of an answer.",
)
@click.option("--stream", is_flag=True, help="Have answers come in pieces.")
@click.option("--timeout", type=SECONDS, default=600, show_default=True, help="Seconds a request.")
@click.option(
    "--retries",
    type=click.IntRange(0, _MOST_RETRIES),
    default=6,
    show_default=True,
    help="Further tries of a request.",
)
@click.option(
    "--extra", default="{}", metavar="JSON", help='More of each request: {"temperature": 0.7}.'
)
@click.option(
    "--most-tokens",
    type=COUNT,
    help="Of the model's attempts in the archive, all runs.",
)
@click.option(
    "--most-usd", type=Finite(min=0, min_open=True), help="The same in US dollars; needs --prices."
)
@click.option("--most-seconds", type=SECONDS, help="No request begins later in this run.")
@click.option(
    "--prices", metavar="IN,OUT", help="US dollars for a million tokens of prompts and answers."
)
@quiet_option
def run(tasks: str, quiet: bool, archive: Path | None, workers: int, **asked: Any) -> None:
    """Have a model solve TASKS: the rows of a dataset, or what a file asks for.

    A file of JSON has a spec of `lower`, or a list of these. A Python file (FILE.py, or
    FILE.py:NAME for one of it) has functions of NumPy or Warp kernels, and says in SIZES which
    sizes they are for (notes/guides/solve.md). A file of Warp is executed.

    Each answer is judged here as `score` does, on inputs that rows do not show; with --turns the
    model is told what was wrong and answers again. Given again, the command goes on: what the
    archive has is neither asked nor paid for again. Of answers that pass the time is kept too:
    measured with --device, else predicted where the text is one that a schedule prints. Answers are
    compiled and run in processes that can only compute (notes/measurements/scorer.md says how far
    that goes).

    Exit code 1 when something is left to be asked for: a budget is spent, requests failed.
    """
    from synth.loop.archive import Archive
    from synth.loop.client import load_openai
    from synth.loop.run import require_archive_place, solve_tasks
    from synth.loop.sources.find import split_name, tasks_of

    endpoint, plan, limits = _endpoint(asked), _plan(asked), _limits(asked)
    sizes = _sizes(asked["sizes"])
    wanted = tasks_of(tasks, asked["view"], asked["splits"], asked["limit"], sizes)
    source, _ = split_name(tasks)
    path = archive or source.with_name(source.name + _SUFFIX)
    require_archive_place(path)
    load_openai()
    limits |= {"workers": workers, "timer": _timer(asked["device"])}
    with (
        Archive(path, create=True) as opened,
        progress_bar(len(wanted) * plan.samples, quiet, "solve", "chain") as bar,
    ):
        outcome = solve_tasks(opened, wanted, endpoint, plan, progress=bar.update, **limits)
        _say_outcome(opened, wanted, outcome, endpoint.model)
    sys.exit(0 if outcome.whole else 1)


def _timer(measured: bool) -> Stopwatch | Predictor | None:
    """What tells times; a line says where it cannot be a GPU that was asked for."""
    from synth.loop.stopwatch import timer_here

    timer, lacking = timer_here() if measured else (None, "")
    if lacking:
        click.echo(f"pairsmith: {lacking}", err=True)
    return timer


def _endpoint(asked: dict[str, Any]) -> Endpoint:
    import os

    from synth.errors import SettingsError
    from synth.loop.client import Endpoint

    try:
        extra = json.loads(asked["extra"])
    except ValueError as error:
        raise SettingsError(f"--extra is no JSON: {error}") from None
    if not isinstance(extra, dict):
        raise SettingsError("--extra is no JSON object")
    return Endpoint(
        asked["base_url"],
        asked["model"],
        # Servers of one's own want none, but the client wants something to send.
        os.environ.get(asked["key_variable"]) or "none",
        asked["answer_tokens"],
        asked["stream"],
        asked["timeout"],
        extra,
    )


def _sizes(given: Sequence[str]) -> dict[str, int]:
    from synth.errors import SettingsError

    found = {}
    for text in given:
        name, _, value = text.partition("=")
        if not (name and value.isascii() and value.isdecimal() and 1 <= int(value) <= 1 << 16):
            raise SettingsError(f"--size {text}: give a name and a number up to 65536, as n=64")
        found[name] = int(value)
    return found


def _plan(asked: dict[str, Any]) -> Plan:
    from synth.loop.hardware import hardware_of
    from synth.loop.solve import Plan

    return Plan(
        asked["samples"],
        asked["turns"],
        asked["at_once"],
        asked["retries"],
        asked["feedback"] == "full",
        hardware_of(asked["hardware"]),
        faster=asked["faster"],
    )


def _limits(asked: dict[str, Any]) -> dict[str, Any]:
    from synth.errors import SettingsError
    from synth.loop.budget import Price

    prices = asked["prices"]
    if asked["most_usd"] is not None and prices is None:
        raise SettingsError("--most-usd needs --prices IN,OUT: what a million tokens cost")
    try:
        prompt, answer = map(float, prices.split(",")) if prices is not None else (0.0, 0.0)
    except ValueError:
        raise SettingsError(f"--prices {prices}: give two numbers, as 0.5,1.5") from None
    price = Price(prompt, answer)
    if not min(prompt, answer) >= 0:
        raise SettingsError(f"--prices {prices}: a price is less than 0")
    names = {"tokens": "most_tokens", "usd": "most_usd", "seconds": "most_seconds"}
    return {"price": price, **{name: asked[option] for name, option in names.items()}}


def _say_outcome(
    archive: Archive, tasks: Sequence[ArchivedTask], outcome: Outcome, model: str
) -> None:
    tokens, usd = archive.spent(model)
    solved = f"{len(outcome.solved)} of {len(tasks)} tasks solved"
    click.echo(f"{solved}, {outcome.passed} answers passed")
    known = f"{outcome.asked} answers now, {outcome.known} known before"
    click.echo(f"{known}, {outcome.retries} requests failed")
    cost = f", {usd:.4f} USD" if usd else ""
    click.echo(f"{model}: {tokens} tokens{cost} in {archive.path}, all runs")
    for count, what in (
        (outcome.failed, "attempts had no answer: give the command again"),
        (outcome.hopeless, "attempts the endpoint will not answer: solve query --verdict none"),
        (outcome.elsewhere, "attempts are in the hands of another process"),
        (outcome.unfit, "answers to rows that are wrong: nothing is said of them"),
    ):
        if count:
            click.echo(f"pairsmith: {count} {what}", err=True)
    if outcome.refused:
        click.echo(f"pairsmith: the budget of {outcome.refused} is spent", err=True)


@solve.command()
@click.argument("tasks")
@click.option("-o", "out", type=FOLDER, required=True, help="A new folder.")
@click.option("--row", metavar="ID", help="The row of a dataset.  [default: the first task]")
@click.option("--view", default="sft", show_default=True, help="How rows are put.")
@click.option("--size", "sizes", multiple=True, metavar="N=64", help="As of `solve`; repeatable.")
def evaluator(tasks: str, out: Path, row: str | None, view: str, sizes: Sequence[str]) -> None:
    """Write a task of TASKS as an evaluator that OpenEvolve and ShinkaEvolve take.

    The folder gets evaluate.py, initial.cu, question.md (for the prompt) and task.json, which has
    the row and the seed of hidden inputs: keep it from the model.
    """
    from synth.errors import SettingsError
    from synth.loop.evolve import write_evaluator
    from synth.loop.sources.find import tasks_of

    found = tasks_of(tasks, view, sizes=_sizes(sizes))
    chosen = [task for task in found if row in (None, task.row_id)]
    if not chosen:
        raise SettingsError(f"{tasks} has no task of the row {row!r}")
    write_evaluator(chosen[0], out)
    click.echo(f"{out}: evaluate.py of {chosen[0].row_id}")


for _command in (list_, show, query, export):
    solve.add_command(_command)
