"""The command that lowers ops to CUDA, and tunes them on a GPU."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from synth.cli.options import FOLDER, CommandOrDefault, Finite, quiet_option, try_place
from synth.progress import progress_bar
from validate.statuses import RunStatus

if TYPE_CHECKING:
    from synth.lower.build import Built
    from synth.lower.check import AnySpec, Shape
    from synth.lower.choose.choice import Choice
    from synth.lower.choose.request import Request
    from synth.lower.tune.search import Search
    from validate.gpu.device import Device


cache_option = click.option(
    "--cache",
    type=FOLDER,
    help="Folder of what was made and measured before.  [default: ~/.cache/pairsmith/lower]",
)


@click.group(cls=CommandOrDefault, default="make")
def lower() -> None:
    """Lower an op to CUDA C++: `lower FILE`, the same as `lower make FILE`; tune it on a GPU, and
    look at what was measured."""


@lower.command()
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
    "--device",
    metavar="NAME",
    help="Choose a schedule for this GPU; with --tune its number or name.  "
    "[default: the first GPU of this machine, else an H100]",
)
@click.option("--tune", is_flag=True, help="Measure schedules on a GPU first; needs CuPy.")
@click.option(
    "--budget",
    type=Finite(min=0),
    default=60.0,
    show_default=True,
    help="Seconds of --tune.",
)
@click.option(
    "--search",
    default="model",
    show_default=True,
    help="What --tune tries: model, by predicted cost and around the best, or a strategy of "
    "kernel_tuner (extra tune).",
)
@click.option(
    "--target",
    type=click.Choice(["cuda", "opencl"]),
    default="cuda",
    show_default=True,
    help="CUDA C++, or C++ for OpenCL, which --check runs on a CPU runtime.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the text.")
@cache_option
@quiet_option
def make(
    file: Path,
    out: Path | None,
    archs: tuple[str, ...],
    check: bool,
    shapes: tuple[str, ...],
    target: str,
    as_json: bool,
    cache: Path | None,
    **choosing: Any,
) -> None:
    """Lower the op and schedule of FILE, JSON ("-": stdin), to CUDA C++.

    A schedule that FILE leaves out, or parts of one, is chosen for its "shape": what --tune found
    on the device, what the authors measured, or the cheapest by a cost model. The text goes to
    stdout or to the file of -o; why the schedule, what was checked, and whether it was reused, to
    stderr. Exit code 1 when a check fails.
    """
    from synth.lower.choose.request import read_request
    from synth.lower.index import default_folder

    source = _source(file)
    asked = _archs(archs, check)
    request = read_request(source, _made_for(archs, **choosing))
    _warn(request.first, source)
    if shapes:
        _shapes(request.first, shapes, check)
    _require_place(out)
    folder = cache or default_folder()
    choice = _choice(request, folder, **choosing)
    asked = asked if archs else (asked and choice.spec.archs) or asked
    built = _built(choice.spec, target, asked, _shapes(choice.spec, shapes, check), folder)
    if out is not None:
        _write(out, built.lowered.text)
    if as_json:
        click.echo(json.dumps({**built.as_dict(), "chosen": choice.as_dict()}, indent=2))
    elif out is None:
        click.echo(built.lowered.text, nl=False)
    _report(built, choice)  # last: where the text cannot be written, that is all that is said
    sys.exit(0 if built.good else 1)


def _built(
    spec: AnySpec, target: str, archs: tuple[str, ...], shapes: list[Shape], folder: Path
) -> Built:
    """The text, compiled for `archs` where it is CUDA, and run at the shapes."""
    from synth.lower.build import Built, build
    from synth.lower.index import Index
    from synth.lower.opencl import lower_opencl, run_opencl

    if target == "cuda":
        return build(spec, archs, shapes, Index(folder))
    made = lower_opencl(spec)
    runtime, checks = run_opencl(spec, made, shapes) if shapes else ("", [])
    if runtime:
        click.echo(f"OpenCL: {runtime}", err=True)
    return Built(spec, made, [], checks, ["text"])


def _made_for(
    archs: tuple[str, ...], device: str | None, tune: bool, search: str, **_tuning: Any
) -> tuple[str, ...]:
    """What the text must be made for: --arch, else the device where one is named or at hand."""
    from synth.lower.choose.devices import archs_of, device_here

    if archs:
        return archs
    if tune:
        _search(search)
    name = gpu_of(device).name if tune else device or device_here()
    return archs_of(name) if name else ()


def _choice(
    request: Request, folder: Path, device: str | None, tune: bool, **tuning: Any
) -> Choice:
    """The schedule, by what the folder has of it, after tuning where that is asked for."""
    from synth.lower.choose.choice import choose
    from synth.lower.choose.devices import DEFAULT_DEVICE, device_here
    from synth.lower.tune.measured import FILE, Measured

    if tune:
        device = _tune(request, folder, device, **tuning)
    name = device or device_here() or DEFAULT_DEVICE
    if not (folder / FILE).is_file():
        return choose(request, name)
    with Measured(folder) as measured:
        return choose(request, name, measured.found)


def _tune(
    request: Request, folder: Path, wanted: str | None, budget: float, search: str, quiet: bool
) -> str:
    """Measure schedules of a request, and say what came of it; the name of the device."""
    from synth.lower.tune.gpu import CupyBench
    from synth.lower.tune.measured import Measured
    from synth.lower.tune.tuner import tune

    order = _search(search)
    device = gpu_of(wanted)
    with (
        CupyBench(device) as bench,
        Measured(folder) as measured,
        progress_bar(0, quiet, "tune", "schedule") as bar,
    ):
        found = tune(request, bench, measured, budget, order, lambda one: bar.update(1))
    ended = "nothing is left to try" if found.whole else "the budget is spent"
    line = f"tuned on {device.name}: {found.fresh} measured, {found.kept} known, {ended}"
    if found.elsewhere:
        line += f", {found.elsewhere} are being measured by another process"
    if found.best is not None and found.untuned is not None and found.untuned.time_us:
        line += f"; {found.best.time_us:.1f} us, untuned {found.untuned.time_us:.1f} us"
    click.echo(line, err=True)
    return device.name


def _search(name: str) -> Search:
    """The order in which schedules are tried; refused before a GPU is looked for."""
    from synth.lower.tune.by_kernel_tuner import kernel_tuner_search
    from synth.lower.tune.search import by_model

    return by_model if name == "model" else kernel_tuner_search(name)


def gpu_of(wanted: str | None) -> Device:
    """The visible GPU of a number or of a part of a name; the first without either."""
    from synth.errors import SettingsError
    from validate.gpu.device import devices

    found = devices()
    for device in found:
        if wanted is None or str(device.index) == wanted:
            return device
    for device in found:
        if wanted is not None and not wanted.isdecimal() and wanted in device.name:
            return device
    listed = ", ".join(f"{device.index} ({device.name})" for device in found)
    raise SettingsError(f"--device: {wanted!r} is not here; there are {listed}")


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
        return check_archs(asked or (DEFAULT_ARCH,), own=True) if asked or check else ()
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


def _require_place(out: Path | None) -> None:
    """Make the folder of the file that is asked for, before work is done."""
    if out is None:
        return
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
