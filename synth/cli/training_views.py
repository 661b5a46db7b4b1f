"""The command that makes training views of a dataset."""

from __future__ import annotations

from pathlib import Path

import click

from synth.cli.options import FOLDER, WORKERS, quiet_option
from synth.progress import progress_bar


@click.command("training-views")
@click.argument("out", type=FOLDER)
@click.option(
    "--view",
    "names",
    multiple=True,
    help="Only this one; repeatable.  [default: all but torch, autograd and kernelbench]",
)
@click.option("--max-chars", type=int, help="Leave longer conversations out.")
@click.option(
    "--tokenizer",
    metavar="NAME|FILE",
    help="Count its tokens: a tokenizer.json, or a name on the Hub.",
)
@click.option("--max-tokens", type=int, help="Leave conversations of more tokens out.")
@click.option(
    "--reasons/--no-reasons",
    default=True,
    show_default=True,
    help="Say before the code why it is laid out like that, or what was wrong.",
)
@click.option("--workers", type=WORKERS, default=1, show_default=True, help="Worker processes.")
@quiet_option
def training_views(
    out: Path,
    names: tuple[str, ...],
    max_chars: int | None,
    tokenizer: str | None,
    max_tokens: int | None,
    reasons: bool,
    workers: int,
    quiet: bool,
) -> None:
    """Make conversations to train on of the rows of OUT: load_dataset(OUT, NAME).

    To plain CUDA: sft from Warp Python, renamed the same under names that say nothing, plain_python
    from the reference, array from NumPy on whole arrays, words from a description, repair from a
    wrong kernel and what was said of it, optimise from a slower layout; preference has the answer
    beside a worse one. gradient: plain CUDA to its backward kernel. wrong_adjoints: Warp's wrong
    adjoint to a right one. reverse: plain CUDA to Warp. warp, adjoint: Warp's own texts.

    torch (PyTorch to an extension with launcher and gradient), autograd (a module to an autograd
    function) and kernelbench (a module to one with CUDA, as its evaluator takes them) are made
    where they are named: they run PyTorch.

    After OUT has grown, give the command again: what has not changed stays.
    """
    from synth.views.file import Bounds
    from synth.views.make import make_views
    from synth.views.texts import VIEW_NAMES

    with progress_bar(0, quiet, "training views") as bar:
        made = make_views(
            out,
            names or VIEW_NAMES,
            bounds=Bounds(max_chars, tokenizer, max_tokens, reasons),
            workers=workers,
            progress=bar.update,
        )
    for name, view in made.views.items():
        left_out = "".join(f", {n} left out: {why}" for why, n in view.left_out.items())
        click.echo(f"{name:14} {view.rows:8} rows{left_out.replace('_', ' ')}")
