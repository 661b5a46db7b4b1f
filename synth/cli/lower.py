"""The command that lowers matmul, relu and fused matmul and relu to CUDA."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from synth.cli.options import FOLDER, try_place
from validate.statuses import RunStatus

if TYPE_CHECKING:
    from synth.lower.build import Built
    from synth.lower.check import AnySpec, Shape
    from synth.lower.choose.choice import Choice


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "-o",
    "out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of CUDA; its folder is made.",
)
@click.option("--arch", "archs", multiple=True, help="Compile for it, as sm_90; repeatable.")
@click.option("--check", is_flag=True, help="Compile, and run on the host at several shapes.")
@click.option("--shape", "shapes", multiple=True, metavar="M,N,K", help="Check there; repeatable.")
@click.option(
    "--device", metavar="NAME", help="Choose a schedule for this GPU.  [default: an H100]"
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the text.")
@click.option(
    "--cache",
    type=FOLDER,
    help="Folder of what was made before.  [default: ~/.cache/pairsmith/lower]",
)
def lower(
    file: Path,
    out: Path | None,
    archs: tuple[str, ...],
    check: bool,
    shapes: tuple[str, ...],
    device: str | None,
    as_json: bool,
    cache: Path | None,
) -> None:
    """Lower the op and schedule of FILE, JSON ("-": stdin), to CUDA C++.

    A schedule that FILE leaves out, or parts of one, is chosen for its "shape": what was measured,
    else the cheapest by a cost model. The text goes to stdout or to the file of -o; why the
    schedule, what was checked, and whether it was built or reused, to stderr. Exit code 1 when a
    check fails.
    """
    from synth.lower.build import build
    from synth.lower.choose.choice import choose
    from synth.lower.choose.devices import DEFAULT_DEVICE
    from synth.lower.index import Index, default_folder

    source = _source(file)
    choice = choose(source, device or DEFAULT_DEVICE)
    spec = choice.spec
    _warn(spec, source)
    asked = _archs(archs, check)
    tried = _shapes(spec, shapes, check)
    if out is not None:
        _require_place(out)
    built = build(spec, asked, tried, Index(cache or default_folder()))
    _report(built, choice)
    if out is not None:
        _write(out, built.lowered.text)
    if as_json:
        click.echo(json.dumps({**built.as_dict(), "chosen": choice.as_dict()}, indent=2))
    elif out is None:
        click.echo(built.lowered.text, nl=False)
    sys.exit(0 if built.good else 1)


def _warn(spec: AnySpec, source: str) -> None:
    """Say which field does nothing: it is let be, for schedules that several ops share."""
    if spec.op == "relu" and "tile_k" in json.loads(source).get("schedule", {}):
        click.echo("schedule.tile_k: relu has no inner dimension; it bounds unroll alone", err=True)


def _source(file: Path) -> str:
    from synth.errors import SettingsError

    if str(file) == "-" and sys.stdin is None:
        raise SettingsError("cannot read the spec: standard input is closed")
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return data.decode()
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"cannot read {file}: it is no UTF-8 text") from None


def _archs(asked: tuple[str, ...], check: bool) -> tuple[str, ...]:
    from synth.errors import SettingsError
    from validate.row.archs import DEFAULT_ARCH, check_archs

    try:
        return check_archs(asked or (DEFAULT_ARCH,)) if asked or check else ()
    except ValueError as error:
        raise SettingsError(f"--arch: {error}") from None


def _shapes(spec: AnySpec, asked: tuple[str, ...], check: bool) -> list[Shape]:
    from synth.errors import SettingsError
    from synth.lower.check import default_shapes

    if asked and not check:
        raise SettingsError("--shape: is allowed with --check alone")
    if not check:
        return []
    return [_shape(spec, text) for text in asked] or default_shapes(spec)


def _shape(spec: AnySpec, text: str) -> Shape:
    from synth.errors import SettingsError
    from synth.lower.check import MOST_PRODUCTS, MOST_STEPS, fits_host

    parts = text.split(",")
    if spec.sizes[-1] == "batch" and len(parts) == len(spec.sizes) - 1:
        parts.append("1")
    whole = all(p.isascii() and p.isdecimal() and len(p) < 9 for p in parts)
    if whole and len(parts) == len(spec.sizes) and fits_host(spec, tuple(map(int, parts))):
        return tuple(map(int, parts))
    named = ",".join(spec.sizes).upper()
    raise SettingsError(
        f"--shape: {text!r} is not allowed; allowed are {named}, whole numbers from 1, of up to "
        f"{MOST_PRODUCTS} products in whole tiles and {MOST_STEPS} tiles along K"
    )


def _report(built: Built, choice: Choice) -> None:
    if choice.by != "said":
        click.echo(f"schedule {choice.by}: {choice.why}", err=True)
    for compiled in built.compiled:
        click.echo(f"{compiled.arch}: {compiled.status}", err=True)
        if compiled.log:
            click.echo(compiled.log, err=True)
    for check in built.checks:
        shape = ",".join(f"{name}={value}" for name, value in check.shape.items())
        said = f" ({check.reason})" if check.reason else ""
        share = ", exact"
        if check.atol:
            share = f", error {check.error:.1%} of atol {check.atol:.1e}"
        elif check.error:
            share = f", error {check.error:.1%} of rtol"
        end = said if check.status != RunStatus.AGREES else share
        click.echo(f"{shape}: {check.status}{end}", err=True)
    key = built.spec.key()[:16]
    click.echo(f"built {key}: {' '.join(built.made)}" if built.made else f"reused {key}", err=True)


def _require_place(out: Path) -> None:
    """Make the folder of the file that is asked for, before work is done."""
    with _writable(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        try_place(out)


def _write(out: Path, text: str) -> None:
    from synth.dataset.files import write_text

    with _writable(out):
        write_text(out, text)


@contextmanager
def _writable(out: Path) -> Iterator[None]:
    from synth.errors import SettingsError

    try:
        yield
    except OSError as error:
        raise SettingsError(f"-o: cannot write {out}: {error.strerror}") from None
