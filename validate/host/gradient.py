"""Our own backward kernel of a row, run on the host, against derivatives of the row's reference.

The check is that of Warp's adjoint (:mod:`validate.host.adjoint`), at every shape of the row. What
central differences cannot say at shapes of several blocks, whose inputs no gate has seen, the
reference of the backward kernel itself says: there the text has to agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validate.host.adjoint import DIRECTIONS, Adjoint, compare_along, draw_cotangents, overall
from validate.host.adjoint import tolerance_of as adjoint_tolerance
from validate.host.ends import ENDS, status_of
from validate.host.launch import Endless
from validate.host.memory import damage
from validate.host.plain_case import PlainLaunched
from validate.host.plain_launch import ORDERS, PlainEntry, shuffles_in_small_blocks
from validate.host.plain_sizes import (
    crossing_sizes,
    in_few_threads,
    thin,
    threads_started,
    wide_sizes,
)
from validate.host.rounding import rounds_worse
from validate.oracle.compare import Finding, compare_widely
from validate.oracle.derivative import Loss, Values, flat, float_parts
from validate.oracle.effort import Budget, TooLong
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row import dtypes
from validate.row.adjoint import is_source
from validate.row.edges import EDGES, Setting, settings
from validate.row.gradient import backward_row, gradient_names
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import describe, evaluate_all
from validate.statuses import AdjointStatus

Row = Mapping[str, Any]

_MOST_AT_A_SHAPE = 1_000_000
"""Of Python, that the reference may run at a shape of the row that is not its own."""
_MOST_STATEMENTS = 400_000
"""Of Python, that the reference may run at a wide shape: within half a second or so."""
_UNBOUNDED = 1 << 62
_MOST_IN_DIFFERENCES = 60_000
"""Of Python, that differences may take at a shape beyond one direction at the row's own."""
_MOST_THREADS = 1 << 19
"""Of all launches at a wide shape: a million take about a second on the host."""

_ELSEWHERE = 10.0
"""By how much more than at the row's own shape rounding may show at another."""
_NOTHING = 1e-6
"""Of the largest gradient at the row's own shape: less is rounding at another."""
_SMALL = 1e-2
"""Of the largest gradient at the row's own shape: errors at another are no share of less."""
_ALL_BITS = 0.7
"""Times a cotangent of a few bits: it has as many as its type then."""
_WIDE_SHARE = 1e-3
"""Of the largest gradient, by how much one may be off at wide shapes; of float64 much less."""


def check_gradient(row: Row, entries: Sequence[PlainEntry]) -> Adjoint:
    """Whether the backward kernel of a row gives the gradients of its reference.

    ``entries`` are those of :func:`validate.row.gradient.backward_row`. The kernel runs in this
    process: it may crash it. Raises what ends a run (:data:`validate.host.ends.ENDS`).
    """
    check = _Check(row, entries)
    found: list[Adjoint] = []
    usual = settings({**row, EDGES: []})
    for number, setting in enumerate(usual):
        part = check.at(setting, number)
        if part.status == AdjointStatus.WARP_DIFFERS:
            return Adjoint(part.status, f"{part.reason} at {setting.name}", part.tolerance_used)
        found.append(part)
    for sizes, small in _beyond(check.backward):
        if reason := check.beyond(sizes, small_blocks=small):
            return Adjoint(AdjointStatus.WARP_DIFFERS, reason)
    # At other shapes than the row's own a direction may be zero or meet a kink.
    return (
        found[0]
        if found[0].status != AdjointStatus.AGREES
        else overall([part for part in found if part.status == AdjointStatus.AGREES])
    )


def _beyond(backward: Row) -> list[tuple[dict[str, int], bool]]:
    """Shapes past a block, a copy of bins or a vector, and whether in small blocks."""
    wide = (*wide_sizes(backward), *crossing_sizes(backward))
    found = [(sizes, False) for sizes in wide if threads_started(backward, sizes) <= _MOST_THREADS]
    if shuffles_in_small_blocks(backward):
        found.append((in_few_threads(backward), True))
    return found


def run_gradient_case(row: Row, entries: Sequence[PlainEntry]) -> Finding:
    """The same as a finding, whose `adjoint` fields speak of the backward kernel."""
    finding = Finding()
    try:
        found = check_gradient(row, entries)
    except ENDS as ended:
        finding.status, finding.reason = status_of(ended), str(ended)
        return finding
    finding.adjoint, finding.adjoint_reason = found.status, found.reason
    finding.adjoint_tolerance_used = found.tolerance_used
    return finding


def backward_inputs(row: Row, backward: Row, inputs: Values, cotangents: Values) -> Values:
    """What the backward kernel is passed: inputs, cotangents, and gradients that are zero."""
    held = {grad: of for of, grad in gradient_names(row).items()}
    found = {}
    for arg in backward["args"]:
        if arg["name"] not in held:
            found[arg["name"]] = inputs[arg["name"]]
            continue
        name, field = held[arg["name"]]
        if name in cotangents:
            whole = cotangents[name]
            found[arg["name"]] = np.ascontiguousarray(whole[field] if field else whole).copy()
        else:
            like = inputs[name][field] if field else inputs[name]
            found[arg["name"]] = np.zeros(like.shape, dtypes.parse(arg["dtype"]).scalar)
    return found


def shares_of(row: Row) -> tuple[float, float]:
    """How far gradients of a row may be off what the backward's reference gives: as a share of each
    element, and of the largest in its array."""
    tolerance = adjoint_tolerance(row["args"])
    return _ELSEWHERE * tolerance, tolerance


def telling_cotangents(row: Row, inputs: Values) -> Values:
    """Random cotangents all of whose bits are in use: a text that keeps fewer is off by them."""
    found = draw_cotangents(row, inputs)
    for value in found.values():
        for part in float_parts(value):
            part *= part.dtype.type(_ALL_BITS)
    return found


def wanted_of(
    backward: Row, dim: Sequence[int], passed: Values, budget: Budget | None = None
) -> Values:
    """What the reference of a backward kernel makes of what it is passed; raises TooLong."""
    return run_reference(
        *(backward["reference"], backward["kernel_name"], backward["args"], dim, passed),
        budget=budget,
    )


def unlike_reference(
    backward: Row,
    dim: Sequence[int],
    passed: Values,
    outputs: Values,
    shares: tuple[float, float] = (_WIDE_SHARE, _WIDE_SHARE),
    jumps: bool = True,
    least: Mapping[str, float] | None = None,
    wanted: Values | None = None,
) -> str:
    """What of a backward kernel's outputs its own reference does not give; empty: nothing.

    Elements may be off by ``shares`` of themselves and of the largest one, or of ``least``, what
    counts as large in the array of that name. ``wanted`` is what the reference gives, where that is
    known.
    """
    wanted = wanted or wanted_of(backward, dim, passed)
    for name, value in wanted.items():
        scale = float(np.abs(flat(value)).max(initial=(least or {}).get(name, 0.0)))
        rtol, atol = shares[0], shares[1] * scale
        found = compare_widely(outputs[name], value, rtol, atol, 1, jumps)
        if found is not None:
            return f"{name}{found}"
    return ""


def least_of(outputs: Values) -> dict[str, float]:
    """Of gradients at the row's own shape, what counts as large in them at another."""
    return {
        name: _SMALL * float(np.abs(flat(value)).max(initial=0.0))
        for name, value in outputs.items()
    }


def _directions(number: int, statements: int) -> int:
    """Along how many directions the gradients at the ``number``-th shape are compared, each of
    which runs so many statements for either side of it."""
    affordable = _MOST_IN_DIFFERENCES // (2 * max(1, statements))
    return min(DIRECTIONS, max(1, affordable)) if number == 0 else min(1, affordable)


class _Check:
    """The backward kernel of a row at one shape after the other."""

    def __init__(self, row: Row, entries: Sequence[PlainEntry]) -> None:
        self.row, self.entries = row, entries
        self.backward, self.names = backward_row(row), gradient_names(row)
        self._floors: dict[str, float] = {}
        self._least: dict[str, float] = {}

    def at(self, setting: Setting, number: int) -> Adjoint:
        """How the gradients at the ``number``-th shape of the row compare with differences.

        At the first, its own, along several directions; at others along one, where what is of no
        size beside the gradients at the first is zero. Slow references have one direction at the
        first and none at the others, where the backward's own reference has been compared; that
        says nothing at another shape where it takes too long.
        """
        ran = self._ran(setting, number % len(ORDERS))
        if isinstance(ran, str):
            return Adjoint(AdjointStatus.WARP_DIFFERS, ran)
        outputs, inputs, cotangents, passed = ran
        dim = evaluate_all(self.row["launch"]["dim"], setting.sizes)
        try:
            wrong = self._unlike(dim, passed, outputs, number)
        except TooLong:
            return Adjoint(AdjointStatus.AGREES)
        if wrong:
            return Adjoint(AdjointStatus.WARP_DIFFERS, wrong)
        self._least = self._least or least_of(outputs)
        gradients = {
            arg["name"]: self._gradient(arg["name"], outputs, inputs, cotangents)
            for arg in self.row["args"]
            if is_source(arg)
        }
        budget = Budget(_UNBOUNDED if number == 0 else _MOST_IN_DIFFERENCES)
        try:
            loss = Loss(self.row, dim, inputs, cotangents, budget=budget)
        except TooLong:
            return Adjoint(AdjointStatus.AGREES)
        return self._along(loss, gradients, number, budget.spent)

    def _unlike(self, dim: Sequence[int], passed: Values, outputs: Values, number: int) -> str:
        """What the backward's reference gives otherwise; raises TooLong, but not at the first."""
        shares = shares_of(self.row)
        budget = Budget(_UNBOUNDED if number == 0 else _MOST_AT_A_SHAPE)
        wanted = wanted_of(self.backward, dim, passed, budget)
        wrong = unlike_reference(
            self.backward, dim, passed, outputs, shares, number > 0, self._least, wanted
        )
        if not wrong and number == 0:
            wrong = rounds_worse(self.backward, dim, passed, outputs, wanted)
        return wrong

    def _along(self, loss: Loss, gradients: Values, number: int, statements: int) -> Adjoint:
        """Differences along directions, each of which costs so many statements for either side."""
        # At another shape no gate has seen how rounding is amplified.
        tolerance = adjoint_tolerance(self.row["args"]) * (_ELSEWHERE if number else 1.0)
        count = _directions(number, statements * len(gradients))
        args = {arg["name"]: arg for arg in self.row["args"]}
        parts = []
        for name, gradient in gradients.items():
            floor = self._floors.get(name, 0.0)
            for along in range(count):
                parts.append(compare_along(args[name], loss, gradient, tolerance, along, floor))
            largest = float(np.abs(flat(gradient)).max(initial=0.0))
            self._floors.setdefault(name, _NOTHING * largest)
        return overall(parts) if parts else Adjoint(AdjointStatus.AGREES)

    def beyond(self, sizes: dict[str, int], *, small_blocks: bool = False) -> str:
        """What is wrong at a shape of several blocks, or at a thinner one where the reference takes
        too long there; empty: nothing, or it takes too long there as well."""
        thinner = thin(self.backward, sizes)
        for shape in [sizes, thinner][: 1 + (thinner != sizes)]:
            setting = Setting(describe(shape), shape, self.row["args"])
            try:
                reason = self._widely(setting, small_blocks)
            except TooLong:
                continue
            return f"{reason} {'in small blocks ' * small_blocks}at {setting.name}" * bool(reason)
        return ""

    def _widely(self, setting: Setting, small_blocks: bool) -> str:
        """As `beyond`, at one shape; raises TooLong."""
        inputs, cotangents = self._drawn(setting)
        passed = backward_inputs(self.row, self.backward, inputs, cotangents)
        dim = evaluate_all(self.row["launch"]["dim"], setting.sizes)
        try:
            budget = Budget(self._most_statements(), foreseen=True)
            wanted = wanted_of(self.backward, dim, passed, budget)
        except ReferenceFailed:
            # Wide inputs were seen by no gate: some leave a function's domain.
            return ""
        outputs = self._outputs(setting, 0, passed, small_blocks)
        if isinstance(outputs, str):
            return outputs
        return unlike_reference(
            self.backward, dim, passed, outputs, least=self._least, wanted=wanted
        )

    def _most_statements(self) -> int:
        """A text that does not ask for the size of its block shows only in whole blocks what
        several of them do, which takes more."""
        return _MOST_STATEMENTS * (1 if "blockDim" in self.backward["cuda_plain"] else 10)

    def _ran(self, setting: Setting, order: int) -> tuple[Values, Values, Values, Values] | str:
        """What the kernel wrote, the inputs, the cotangents, and all that the kernel was passed; or
        what was wrong with the run."""
        inputs, cotangents = self._drawn(setting)
        passed = backward_inputs(self.row, self.backward, inputs, cotangents)
        outputs = self._outputs(setting, order, passed)
        return outputs if isinstance(outputs, str) else (outputs, inputs, cotangents, passed)

    def _drawn(self, setting: Setting) -> tuple[Values, Values]:
        inputs = draw_inputs(setting.args, setting.sizes, self.row["input_seed"])
        return inputs, telling_cotangents(self.row, inputs)

    def _outputs(
        self, setting: Setting, order: int, passed: Values, small_blocks: bool = False
    ) -> Values | str:
        try:
            launched = PlainLaunched(
                self.backward, setting, self.entries, order, small_blocks, passed
            )
        except Endless as endless:
            return f"in the backward kernel {endless}"
        trouble = damage(launched.args, launched.arena, launched.watch)
        return launched.outputs() if trouble is None else trouble[1]

    def _gradient(self, name: str, outputs: Values, inputs: Values, cotangents: Values) -> Array:
        """The gradient by an argument; where the kernel has none it is what it would start as."""
        start = cotangents.get(name)
        whole = outputs.get(self.names.get((name, None), ""))
        if whole is not None:
            return whole
        whole = np.zeros_like(inputs[name]) if start is None else start.copy()
        for field in whole.dtype.names or ():
            part = outputs.get(self.names.get((name, field), ""))
            if part is not None:
                whole[field] = part
        return whole
