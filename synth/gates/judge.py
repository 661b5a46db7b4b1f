"""The gates: what a program must show before it becomes a row, and its outputs' tolerances.

The evaluation itself rejects what is wrong in one lane; here the outputs are judged as wholes.
A tolerance is ``rtol`` (a few roundoffs of the dtype) and ``atol`` (a multiple of the largest
deviation that rounding causes in the native and noise lanes), both rounded up to 1-2-5 steps so
that the bits of a CPU's maths library do not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from generators.build.draw import Reject
from generators.program.dtypes import Scalar, Struct, Type, scalar_of
from generators.program.ir import Program
from generators.program.serial import serial
from synth.gates.contract import Tolerance, sizes_of
from synth.gates.evaluate import Evaluation
from synth.gates.habits import require_purpose
from synth.gates.lanes.memory import NOBODY, ArrayMemory
from synth.gates.lanes.values import NATIVE, NOISE, REDRAWN, Lanes, Values
from synth.gates.variants import is_redrawn, prepare
from synth.reasons import GateReason
from validate.oracle.compare import round_up_125
from validate.row.sizes import awkward_sizes

DEVIATION_FACTORS = {"float16": 6.0, "float32": 16.0, "float64": 16.0}
"""Measured on a GPU; float16 has no room for more below a hundredth of an output's spread."""
SURE_FACTOR = 4.0
"""Of the deviation of one element, where `DEVIATION_FACTORS` are of the largest of all."""
RTOL_ROUNDOFFS = 4.0
LARGEST_TOLERANCE = 0.01
"""Of the output's spread (its standard deviation)."""
SMALLEST_WRONG_SHARE = 0.1
"""Share of elements in which all-zeros, the mean, or a copy of an input must fail."""
UNSEEN_WIDTH = 0.25
LARGEST_UNSEEN_SHARE = 0.25
"""An element is unseen when the tolerance is more than a quarter of it; few elements may be."""
FEW_ELEMENTS = 4
"""Outputs shorter than this are judged over the redrawn variants too."""


def judge(program: Program) -> dict[str, Tolerance]:
    """Run the program at its own and at awkward sizes and judge it; each output's tolerance.

    Raises :class:`generators.build.draw.Reject` with the reason when the draw is no good.
    """
    require_purpose(serial(program))
    own, *others = awkward_sizes(sizes_of(program))
    evaluation = prepare(program, own)
    evaluation.run()
    evaluation.coverage.require_all(program)
    outputs = written_outputs(evaluation)
    elsewhere = [_outputs_at(program, sizes) for sizes in others]
    tolerances = {}
    for position, memory in enumerate(outputs):
        places = [memory, *(found[position] for found in elsewhere)]
        tolerances[memory.name] = _judge_output(evaluation, places)
    _require_influence(program, outputs, tolerances)
    return tolerances


def _outputs_at(program: Program, sizes: Mapping[str, int]) -> list[ArrayMemory]:
    """Outputs at other sizes; rejects what goes wrong there only: collisions, bounds, overflow."""
    evaluation = prepare(program, sizes, redraw=False)
    evaluation.run()
    return written_outputs(evaluation)


def written_outputs(evaluation: Evaluation) -> list[ArrayMemory]:
    """The arrays that a program may write; rejects an output with elements that nobody wrote."""
    outputs = [m for m in evaluation.memories.values() if m.role != "in"]
    for memory in outputs:
        if memory.role == "out" and (memory.owner == NOBODY).any():
            raise Reject(GateReason.UNWRITTEN_OUTPUT, memory.name)
    return outputs


def _parts(memory: ArrayMemory) -> list[tuple[str, Type]]:
    if isinstance(memory.type, Struct):
        return list(memory.type.fields)
    return [("", memory.type)]


def _part(memory: ArrayMemory, name: str, variant: int) -> Values:
    values: Any = memory.variant(variant)
    part: Values = values[name] if name else values
    return part


def _judge_output(evaluation: Evaluation, places: Sequence[ArrayMemory]) -> Tolerance:
    """The tolerance of an output, of all its fields and components together.

    ``places`` are its memories at all sizes, the row's own first: rounding is measured over all,
    because a few elements of a sensitive kernel deviate far more than the rest.
    """
    memory = places[0]
    found = {
        name: _tolerance(evaluation.lanes, places, name, scalar_of(type_))
        for name, type_ in _parts(memory)
    }
    merged = Tolerance(
        _largest(t.rtol for t in found.values()), _largest(t.atol for t in found.values())
    )
    for name, type_ in _parts(memory):
        tolerance = merged if found[name].rtol is not None else found[name]
        for component in _components(type_):
            _require_component(evaluation, memory, name, component, tolerance)
        _require_telling(evaluation, memory, name, tolerance)
    return merged


def _largest(values: Iterable[float | None]) -> float | None:
    return max((v for v in values if v is not None), default=None)


def _components(type_: Type) -> list[tuple[int, ...]]:
    shape = getattr(type_, "shape", ())
    return list(np.ndindex(*shape)) if shape else [()]


def _tolerance(lanes: Lanes, places: Sequence[ArrayMemory], name: str, scalar: Scalar) -> Tolerance:
    if not scalar.is_float:
        for memory in places:
            base = _part(memory, name, 0)
            if any((_part(memory, name, k) != base).any() for k in range(1, REDRAWN)):
                raise Reject(GateReason.PRECISION_DEPENDENT, f"integers in {memory.name}")
        return Tolerance(None, None)
    deviation = max(_deviation(memory, name) for memory in places) * lanes.deviation_scale
    if not np.isfinite(deviation):
        raise Reject(GateReason.NOT_FINITE, places[0].name)
    factor = DEVIATION_FACTORS[scalar.name]
    rtol = round_up_125(RTOL_ROUNDOFFS * scalar.unit_roundoff)
    return Tolerance(rtol, round_up_125(factor * deviation))


def _deviation(memory: ArrayMemory, name: str) -> float:
    """The largest deviation of a float output's native and noise lanes from its base lanes."""
    base = _part(memory, name, 0)
    rounded = (NATIVE, *range(NOISE, REDRAWN))
    return max(float(np.abs(_part(memory, name, k) - base).max()) for k in rounded)


def is_sure(lanes: Lanes, memory: ArrayMemory, tolerance: Tolerance) -> bool:
    """Whether rounding leaves every element of an output within its tolerance."""
    for name, type_ in _parts(memory):
        base, scalar = _part(memory, name, 0), scalar_of(type_)
        if not scalar.is_float:
            if any((_part(memory, name, k) != base).any() for k in range(1, REDRAWN)):
                return False
            continue
        assert tolerance.rtol is not None
        assert tolerance.atol is not None
        allowed = tolerance.atol + tolerance.rtol * np.abs(base)
        factor = SURE_FACTOR * lanes.deviation_scale
        for k in (NATIVE, *range(NOISE, REDRAWN)):
            if not (factor * np.abs(_part(memory, name, k) - base) <= allowed).all():
                return False
    return True


def _close(a: Values, b: Values, tolerance: Tolerance) -> Values:
    if tolerance.rtol is None or tolerance.atol is None:
        equal: Values = a == b
        return equal
    near: Values = np.abs(a - b) <= tolerance.atol + tolerance.rtol * np.abs(b)
    return near


def _require_component(
    evaluation: Evaluation,
    memory: ArrayMemory,
    name: str,
    component: tuple[int, ...],
    tolerance: Tolerance,
) -> None:
    """Reject a component that the tolerance of the whole output does not check."""
    base = _part(memory, name, 0)[component]
    sample = base
    if memory.elements < FEW_ELEMENTS:
        redrawn = range(REDRAWN, evaluation.lanes.variants)
        sample = np.stack([base, *(_part(memory, name, k)[component] for k in redrawn)])
    if (sample == sample.flat[0]).all():
        raise Reject(GateReason.CONSTANT_OUTPUT, memory.name)
    if tolerance.rtol is None or tolerance.atol is None:
        return
    width = tolerance.atol + tolerance.rtol * np.abs(base)
    if float(width.max()) > LARGEST_TOLERANCE * float(sample.std()):
        raise Reject(GateReason.ILL_CONDITIONED, memory.name)
    unseen = (width > UNSEEN_WIDTH * np.abs(base)) & (base != 0)
    if unseen.mean() > LARGEST_UNSEEN_SHARE:
        raise Reject(GateReason.UNEVEN_OUTPUT, memory.name)


def _require_telling(
    evaluation: Evaluation, memory: ArrayMemory, name: str, tolerance: Tolerance
) -> None:
    """Reject an output that a trivial kernel would get right."""
    base = _part(memory, name, 0)
    candidates = [np.zeros_like(base)]
    if memory.elements >= FEW_ELEMENTS and tolerance.rtol is not None:
        candidates.append(np.full_like(base, base.mean()))
    candidates += _input_copies(evaluation, base)
    for candidate in candidates:
        if (~_close(candidate, base, tolerance)).mean() < SMALLEST_WRONG_SHARE:
            raise Reject(GateReason.TRIVIAL_OUTPUT, memory.name)


def _input_copies(evaluation: Evaluation, base: Values) -> list[Values]:
    """Values of the inputs that fit in the output's place."""
    return [
        data
        for memory in evaluation.memories.values()
        if memory.role == "in" and not isinstance(memory.type, Struct)
        for data in [memory.base_values()]
        if data.shape == base.shape and data.dtype == base.dtype
    ]


def _require_influence(
    program: Program, outputs: list[ArrayMemory], tolerances: Mapping[str, Tolerance]
) -> None:
    redrawn = [p.name for p in program.kernel.params if is_redrawn(p)]
    for k, param_name in enumerate(redrawn, start=REDRAWN):
        if not any(
            (~_close(_part(m, name, k), _part(m, name, 0), tolerances[m.name])).any()
            for m in outputs
            for name, _ in _parts(m)
        ):
            raise Reject(GateReason.UNUSED_INPUT, param_name)
