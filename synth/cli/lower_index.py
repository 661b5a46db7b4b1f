"""The commands over what `lower --tune` measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from synth.cli.lower import cache_option, gpu_of, lower
from synth.cli.options import quiet_option
from synth.progress import progress_bar

if TYPE_CHECKING:
    from synth.lower.tune.measured import Measured, Measurement

__all__ = ["lower"]

_SHOWN_DIGITS = 12
_json_option = click.option("--json", "as_json", is_flag=True, help="JSON instead of lines.")
_keys = click.argument("keys", nargs=-1, metavar="[KEY…]")


@lower.command("list")
@click.option("--op", help="Only of this op.")
@click.option("--device", metavar="NAME", help="Only of GPUs whose name has it.")
@_json_option
@cache_option
def list_(op: str | None, device: str | None, as_json: bool, cache: Path | None) -> None:
    """List what was tuned: a line for each problem, shape and device, with the best found."""
    from synth.lower.tune.manifest import groups_of
    from synth.lower.tune.measured import best_of

    lines = []
    with _measured(cache) as measured:
        for group in groups_of(measured):
            first, best = group[0], best_of(group)
            if (op and first.spec["op"] != op) or (device and device not in first.device):
                continue
            lines.append(
                {
                    "problem": first.problem,
                    "op": first.spec["op"],
                    "dtype": first.spec["dtype"],
                    "sizes": first.sizes,
                    "class": first.shape_class,
                    "device": first.device,
                    "measured": len(group),
                    "passed": sum(one.time_us is not None for one in group),
                    "best": best.key if best else None,
                    "time_us": best.time_us if best else None,
                }
            )
    if as_json:
        click.echo(json.dumps(lines, indent=2))
        return
    for line in lines:
        click.echo(_line(line))
    click.echo(f"{len(lines)} tuned", err=True)


def _line(found: dict[str, Any]) -> str:
    sizes = ",".join(map(str, found["sizes"].values()))
    best = "nothing passed"
    if found["best"]:
        best = f"{found['time_us']:.1f} us {found['best'][:_SHOWN_DIGITS]}"
    return (
        f"{found['problem'][:_SHOWN_DIGITS]} {found['op']} {found['dtype']} {sizes} "
        f"on {found['device']}: {best}, {found['passed']} of {found['measured']} passed"
    )


@lower.command("show")
@click.argument("key")
@click.option("--text", is_flag=True, help="The CUDA of the chosen candidate instead.")
@cache_option
def show_(key: str, text: bool, cache: Path | None) -> None:
    """Show the manifests of KEY as JSON, the quickest first: what each candidate is, what was
    measured, and why it was chosen or dropped.

    KEY is the beginning of a candidate's key, of a problem's, or of a measurement's id.
    """
    from synth.lower.spec import read_spec
    from synth.lower.text import lower as lowered
    from synth.lower.tune.manifest import matching

    with _measured(cache) as measured:
        found = matching(measured, key)
    if text:
        one = next((one for one in found if one["chosen"]), found[0])
        click.echo(lowered(read_spec({**one["spec"], "schedule": one["schedule"]})).text, nl=False)
        return
    click.echo(json.dumps(found, indent=2))


@lower.command("bench")
@_keys
@click.option("--device", metavar="NAME", help="A GPU's number or name.  [default: the first]")
@_json_option
@cache_option
@quiet_option
def bench_(
    keys: tuple[str, ...], device: str | None, as_json: bool, cache: Path | None, quiet: bool
) -> None:
    """Time the best found of each problem and shape again, beside the untuned choice and PyTorch.

    Of KEYs alone, where some are given (`lower list` has them). Needs a GPU and CuPy; without
    PyTorch its column is left out. Nothing is kept. Exit code 1 when a text does not pass.
    """
    from synth.lower.tune.again import Again, bench_again
    from synth.lower.tune.gpu import CupyBench

    gpu = gpu_of(device)
    with _measured(cache) as measured, CupyBench(gpu) as bench:
        wanted = [one for one in _best(measured, keys) if one.device == gpu.name]
        found: list[Again] = []
        with progress_bar(len(wanted), quiet, "bench", "problem") as bar:
            for one in wanted:
                found.append(bench_again(one, bench, gpu.index))
                bar.update(1)
    if as_json:
        click.echo(json.dumps([one.as_dict() for one in found], indent=2))
    else:
        for timed in found:
            click.echo(timed.line())
    click.echo(f"{len(found)} timed on {gpu.name}", err=True)
    sys.exit(0 if all(timed.best_us is not None for timed in found) else 1)


@lower.command("validate")
@_keys
@click.option("--arch", "archs", multiple=True, help="Compile for it; repeatable.")
@cache_option
@quiet_option
def validate_(
    keys: tuple[str, ...], archs: tuple[str, ...], cache: Path | None, quiet: bool
) -> None:
    """Check the best found of each problem and shape: its spec is read again, its text is the one
    that was measured, compiles, and agrees on the host.

    Exit code 1 when one fails.
    """
    from synth.lower.index import Index, default_folder
    from synth.lower.tune.again import validate_again
    from validate.row.archs import check_archs

    try:
        asked = check_archs(archs) if archs else ()
    except ValueError as error:
        raise click.UsageError(f"--arch: {error}") from None
    index, failed = Index(cache or default_folder()), 0
    with _measured(cache) as measured:
        wanted = list({one.key: one for one in _best(measured, keys)}.values())
        with progress_bar(len(wanted), quiet, "validate", "text") as bar:
            for one in wanted:
                said = validate_again(one, asked, index)
                failed += bool(said)
                bar.update(1)
                if said:
                    click.echo(f"{one.key[:_SHOWN_DIGITS]}: {said}")
    click.echo(f"{len(wanted)} checked, {failed} failed")
    sys.exit(1 if failed else 0)


def _best(measured: Measured, keys: tuple[str, ...]) -> list[Measurement]:
    """The best of each problem, shape and device, or of those that keys name."""
    from synth.lower.tune.manifest import groups_of, matching
    from synth.lower.tune.measured import best_of

    named = {one["problem"] for key in keys for one in matching(measured, key)}
    best = [best_of(group) for group in groups_of(measured)]
    return [one for one in best if one is not None and (not keys or one.problem in named)]


@contextmanager
def _measured(cache: Path | None) -> Iterator[Measured]:
    """The measurements of a folder. SettingsError where nothing was measured."""
    from synth.errors import SettingsError
    from synth.lower.index import default_folder
    from synth.lower.tune.measured import FILE, Measured

    folder = cache or default_folder()
    if not (folder / FILE).is_file():
        raise SettingsError(f"nothing was tuned in {folder}: `pairsmith lower SPEC --tune` does it")
    with Measured(folder) as measured:
        yield measured
