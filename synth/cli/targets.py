"""``show --target``: a row's plain kernels in another language than CUDA, and their launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.check.targets import translated
from synth.cli.show import rescheduled_row
from synth.errors import SettingsError
from synth.render.cuda.dialect.table import NoForm
from synth.rows.maker import Row


def target_lines(row: Row, target: str, schedule: str) -> Iterator[str]:
    """The text of a row in a dialect, and below it, as comments, how it is launched.

    ``schedule`` is a style or a schedule as JSON, empty for the row's own. :class:`SettingsError`
    where there is no such text.
    """
    try:
        found = translated(rescheduled_row(row, schedule) if schedule else row, target)
    except NoForm as why:
        said = f"--target {target}: {row['id']} has no such text: {why}"
        raise SettingsError(said) from None
    yield found["cuda_plain"].rstrip("\n")
    yield ""
    for entry in found["plain_scratch"]:
        yield f"// scratch {entry['name']}: {entry['count']} of {entry['dtype']}"
    for launch in found["plain_launch"]:
        yield from _launch(launch, found["plain_args"], target)
    yield f"// schedule: {row['schedule'] if not schedule else found['schedule']}"
    if target == "hip":
        yield "// printed, and neither compiled nor run"


def _launch(
    launch: Mapping[str, Any], args: Sequence[Mapping[str, Any]], target: str
) -> Iterator[str]:
    kinds = {arg["name"]: (arg["type"], arg["size"]) for arg in args}
    yield f"// kernel {launch['kernel']}"
    for name in launch["args"]:
        kind, size = kinds.get(name, ("int" if name.startswith("=") else "scratch", None))
        yield f"//   {kind} {name}{f': the size {size}' if size else ''}"
    block = [*launch["block"], 1, 1][:3]
    grid = launch["grid"]
    if target == "hip":
        yield f"// grid: {', '.join(map(str, grid))}; block: {', '.join(map(str, block))}"
        return
    pairs = zip(grid, block, strict=False)
    sizes = [f"({g}) * {b}" if " " in str(g) else f"{g} * {b}" for g, b in pairs]
    yield f"// global size: {', '.join(sizes)}"
    yield f"// local size: {', '.join(map(str, block[: len(grid)]))}"
