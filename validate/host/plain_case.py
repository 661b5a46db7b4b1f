"""Launch the plain kernels of one row at every shape of it and judge what it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from validate.host.case import Ran
from validate.host.ends import ENDS, note_end
from validate.host.launch import BadRow
from validate.host.memory import Arena, damage, written_arrays
from validate.host.plain_launch import (
    ORDERS,
    Grid,
    PlainEntry,
    fits_small_blocks,
    in_small_blocks,
)
from validate.host.plain_memory import plain_outputs
from validate.host.plain_sizes import lopsided_sizes, small_sizes, wide_sizes
from validate.host.plain_steps import grids_of, memory_of, run_steps, steps_of, watch_of
from validate.oracle.compare import Finding, compare_outputs, compare_widely
from validate.oracle.reference import run_reference
from validate.row.edges import Setting, settings
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import awkward_sizes, describe, evaluate_all, more_terms
from validate.statuses import RunStatus

Row = Mapping[str, Any]
Outputs = Mapping[str, Array]

_WIDE = 20.0
"""Times its tolerance an element may err at wide shapes, where loops are longer; of a sum over
threads as many times as it has more of them."""


def run_plain_case(
    row: Mapping[str, Any], entries: Sequence[PlainEntry], warp_ran: Sequence[Ran] = ()
) -> Finding:
    """Run a row's plain kernels at its shapes and at wide ones, in another order of threads at
    each.

    Their outputs are compared with the reference and with those of Warp's text, where that has run:
    `warp_ran` says how, by setting. The kernels run in this process: they may crash it.
    """
    finding = Finding()
    try:
        usual = len(settings(row))
        in_small = row["relaunch"] and fits_small_blocks(row)
        for number, (setting, small) in enumerate(_settings(row, in_small)):
            finding.shapes.append(setting.name)
            other = warp_ran[number] if warp_ran and number < usual else None
            inputs = other.inputs if other else None
            launched = PlainLaunched(row, setting, entries, number % len(ORDERS), small, inputs)
            if number >= usual:
                well = _judge_widely(row, setting.sizes, launched, finding)
            else:
                well = _judge(row, launched, other, finding)
            if not well:
                finding.reason += f" at {finding.shapes[-1]}"
                return finding
    except ENDS as ended:
        note_end(finding, ended)
    return finding


def _settings(row: Row, in_small: bool) -> Iterator[tuple[Setting, bool]]:
    """What a row is run on, and whether in small blocks."""
    primes = len(awkward_sizes(row["sizes"])) - 1
    for number, setting in enumerate(settings(row)):
        yield setting, in_small and number == primes
    # By now a launch is known to be sound.
    shapes = [(sizes, True) for sizes in small_sizes(row)] if in_small else []
    shapes += [(sizes, False) for sizes in (*lopsided_sizes(row), *wide_sizes(row))]
    for sizes, small in shapes:
        yield Setting(describe(sizes), sizes, row["args"]), small


class PlainLaunched:
    """All launches of a row at one shape: what went in and what came out."""

    def __init__(
        self,
        row: Mapping[str, Any],
        setting: Setting,
        entries: Sequence[PlainEntry],
        order: int,
        small_blocks: bool = False,
        inputs: Mapping[str, Array] | None = None,
    ) -> None:
        """Draw inputs, unless they are given, and launch.

        Raises BadRow when the row does not allow either.
        """
        self.args, sizes = row["args"], setting.sizes
        try:
            self.dim = evaluate_all(row["launch"]["dim"], sizes)
            self.inputs = inputs or draw_inputs(setting.args, sizes, row["input_seed"])
            grids = grids_of(row, sizes)
            if small_blocks:
                grids = [in_small_blocks(grid, row["cuda_plain"]) for grid in grids]
            self.arena = Arena(memory_of(row, sizes, self.inputs))
        except ValueError as error:
            raise BadRow(f"inputs: {error}") from error
        self.watch = watch_of(row, self.arena)
        self._launch(row, sizes, entries, grids, order)

    def _launch(
        self,
        row: Mapping[str, Any],
        sizes: Mapping[str, int],
        entries: Sequence[PlainEntry],
        grids: Sequence[Grid],
        order: int,
    ) -> None:
        try:
            steps = steps_of(row, sizes, self.inputs, self.arena.address, grids)
        except ValueError as error:
            raise BadRow(f"arguments: {error}") from error
        run_steps(entries, steps, order, self.watch)

    def outputs(self) -> dict[str, Array]:
        """Copies of the arrays that the kernel may write, as the reference lays them out."""
        return plain_outputs(self.args, self.inputs, written_arrays(self.args, self.arena))


def _judge(
    row: Mapping[str, Any], launched: PlainLaunched, other: Ran | None, finding: Finding
) -> bool:
    if _damaged(launched, finding):
        return False
    args, outputs = row["args"], launched.outputs()
    wanted = other.wanted if other else _wanted(row, launched)
    if not compare_outputs(args, outputs, wanted, finding):
        return False
    return other is None or compare_outputs(
        args, outputs, other.outputs, finding, "against Warp's text: "
    )


def _judge_widely(
    row: Row, sizes: Mapping[str, int], launched: PlainLaunched, finding: Finding
) -> bool:
    """As `_judge`, at a shape whose tolerance was not measured and whose lanes no gate has seen."""
    if _damaged(launched, finding):
        return False
    outputs, wanted = launched.outputs(), _wanted(row, launched)
    for arg in row["args"]:
        if arg["name"] not in wanted:
            continue
        name = arg["name"]
        longer = max(_WIDE, more_terms(row, arg["shape"], sizes))
        found = compare_widely(outputs[name], wanted[name], arg["rtol"], arg["atol"], longer)
        if found is not None:
            finding.status, finding.reason = RunStatus.WRONG_VALUE, f"{arg['name']}{found}"
            return False
    return True


def _damaged(launched: PlainLaunched, finding: Finding) -> bool:
    trouble = damage(launched.args, launched.arena, launched.watch)
    if trouble is not None:
        finding.status, finding.reason = trouble
    return trouble is not None


def _wanted(row: Mapping[str, Any], launched: PlainLaunched) -> Outputs:
    return run_reference(
        row["reference"], row["kernel_name"], row["args"], launched.dim, launched.inputs
    )
