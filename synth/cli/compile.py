"""The command that lowers texts of a dataset to machine code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from synth.cli.options import COUNT, FOLDER, SECONDS, WORKERS, quiet_option
from synth.progress import progress_bar

if TYPE_CHECKING:
    from synth.machine.dataset import Wanted


@click.command("compile")
@click.argument("out", type=FOLDER)
@click.option(
    "--emit",
    default="ptx,sass,resources",
    show_default=True,
    metavar="WHAT,…",
    help="What to keep: ptx, sass, resources.",
)
@click.option(
    "--arch", "archs", multiple=True, help="Compile for it; repeatable.  [default: sm_90]"
)
@click.option(
    "--columns",
    default="cuda_plain,cuda_forward",
    show_default=True,
    metavar="COLUMN,…",
    help="Texts: cuda_plain, cuda_plain_backward, cuda_forward (Warp's).",
)
@click.option(
    "--include",
    type=FOLDER,
    help="Folder of Warp's headers.  [default: OUT/include, else an installed Warp's]",
)
@click.option("--limit", type=COUNT, help="Only the first rows.")
@click.option("--workers", type=WORKERS, default=1, show_default=True)
@click.option(
    "--timeout",
    type=SECONDS,
    default=60.0,
    show_default=True,
    help="Seconds a text and tool.",
)
@quiet_option
def compile_texts(
    out: Path,
    emit: str,
    archs: tuple[str, ...],
    columns: str,
    include: Path | None,
    limit: int | None,
    workers: int,
    timeout: float,
    quiet: bool,
) -> None:
    """Lower OUT's texts to PTX and machine code: SASS with the lines it comes from, registers,
    spills, memory and occupancy of each kernel. This needs no GPU.

    The configuration `lowered`, a file for each shard, text and architecture; files that have what
    is asked for are kept, and a run that broke off goes on. SASS needs
    `pip install 'pairsmith[lowered]'`. Exit code 1 when a text does not compile.
    """
    from synth.card.lowered import lowered, lowered_title
    from synth.machine.dataset import count_texts, lower_dataset

    wanted = _wanted(out, emit, archs, columns, include, limit, workers, timeout)
    with progress_bar(count_texts(out, wanted), quiet, "compile", "text") as bar:
        done = lower_dataset(out, wanted, bar.update)
    for record in done.failed:
        said = " ".join(record["reason"].split())
        click.echo(f"{record['id']} {record['column']} {record['arch']}: {said[:300]}")
    for one in lowered(out):
        click.echo(lowered_title(one))
    click.echo(
        f"{done.texts} texts lowered, {len(done.failed)} failed; "
        f"{len(done.written)} files written, {len(done.kept)} kept"
    )
    sys.exit(1 if done.failed else 0)


def _wanted(
    out: Path,
    emit: str,
    archs: tuple[str, ...],
    columns: str,
    include: Path | None,
    limit: int | None,
    workers: int,
    timeout: float,
) -> Wanted:
    from synth.errors import SettingsError
    from synth.gpu.rows import include_dir
    from synth.machine.dataset import Wanted
    from synth.machine.records import EMITS
    from validate.nvrtc.lowered import TEXTS
    from validate.row.archs import DEFAULT_ARCH, check_archs

    try:
        known = check_archs(archs or (DEFAULT_ARCH,))
    except ValueError as error:
        raise SettingsError(f"--arch: {error}") from None
    return Wanted(
        emit=frozenset(_listed(emit, EMITS, "--emit")),
        archs=known,
        columns=tuple(_listed(columns, TEXTS, "--columns")),
        include_dir=include_dir(out, include),
        limit=limit,
        workers=workers,
        timeout_s=timeout,
    )


def _listed(said: str, known: tuple[str, ...], option: str) -> list[str]:
    """Those of the known words that a list names, in their order."""
    from synth.errors import SettingsError

    words = [word.strip() for word in said.split(",")]
    for word in words:
        if word not in known:
            raise SettingsError(f"{option}: unknown {word!r}; known are: {', '.join(known)}")
    return [word for word in known if word in words]
