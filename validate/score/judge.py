"""What a row wants on hidden inputs, and whether the outputs of an answer are that.

The reference runs in the process of the caller, behind `reference.check_syntax`: score rows of
datasets that you trust. It runs once for all answers to a row.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from validate.oracle.compare import measure
from validate.oracle.reference import run_reference
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import describe, evaluate_all
from validate.score.hidden import Draw
from validate.statuses import ScoreStatus

Value = float | int | bool

# What the process of a kernel may say of itself; other words are those of a text that forges.
SAYS = frozenset({"ran", *ScoreStatus}) - {
    *(ScoreStatus.PASSED, ScoreStatus.WRONG_VALUE),
    *(ScoreStatus.NO_KERNEL, ScoreStatus.COMPILE_ERROR),
}
_MOST_REASON = 500


@dataclass(frozen=True)
class CounterExample:
    """One element that is wrong: at these sizes, `output[index]` (of a struct: its `field`)."""

    sizes: dict[str, int]
    output: str
    index: tuple[int, ...]
    got: Value
    want: Value
    field: str | None = None


@dataclass(frozen=True)
class Judged:
    """`status` is the `ScoreStatus` of the comparison, or what the kernel's process said of itself.

    `tolerance_used` is the largest error as a share of its tolerance.
    """

    status: str
    reason: str = ""
    counter_example: CounterExample | None = None
    tolerance_used: float = 0.0


class Judge:
    """The inputs' shapes and wanted outputs of one row on one draw."""

    def __init__(self, row: Mapping[str, Any], draw: Draw) -> None:
        """Draw and run the reference. Raises ReferenceFailed, and ValueError when no inputs can
        be drawn."""
        self.args = row["args"]
        self.shapes = draw.shapes
        self.wanted: list[dict[str, Array]] = []
        self.laid: list[dict[str, Array]] = []
        for sizes in draw.shapes:
            inputs = draw_inputs(self.args, sizes, draw.input_seed)
            dim = evaluate_all(row["launch"]["dim"], sizes)
            wanted = run_reference(row["reference"], row["kernel_name"], self.args, dim, inputs)
            self.wanted.append(wanted)
            # Only type and shape matter of these.
            self.laid.append({name: inputs[name] for name in wanted})

    def judge(self, answer: str) -> Judged:
        """Compare what a kernel's process handed back. Whatever it is, this comes to a verdict."""
        try:
            found = json.loads(answer)
            status, reason = found["status"], str(found["reason"])[:_MOST_REASON]
            outputs = found["outputs"]
            if status not in SAYS or not isinstance(outputs, list):
                raise ValueError(f"status {status}")
            if len(outputs) > len(self.shapes) or (
                status == "ran" and len(outputs) != len(self.shapes)
            ):
                raise ValueError("outputs of other shapes")
            read = [self._read(number, written) for number, written in enumerate(outputs)]
        except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, RecursionError):
            return Judged(ScoreStatus.CRASHED, "answered something else than its outputs")
        used = 0.0
        for number, arrays in enumerate(read):
            judged = self._compare(number, arrays)
            if judged.status != ScoreStatus.PASSED:
                return judged
            used = max(used, judged.tolerance_used)
        if status == "ran":
            return Judged(ScoreStatus.PASSED, tolerance_used=used)
        return Judged(
            status, f"{reason} at {describe(self.shapes[min(len(read), len(self.shapes) - 1)])}"
        )

    def _read(self, number: int, written: Mapping[str, str]) -> dict[str, Array]:
        arrays = {}
        for name, like in self.laid[number].items():
            raw = base64.b64decode(written[name], validate=True)
            if len(raw) != like.nbytes:
                raise ValueError(f"{name} has {len(raw)} bytes")
            arrays[name] = np.frombuffer(raw, like.dtype).reshape(like.shape)
        return arrays

    def _compare(self, number: int, arrays: Mapping[str, Array]) -> Judged:
        used, sizes = 0.0, self.shapes[number]
        for arg in self.args:
            name = arg["name"]
            if name not in arrays:
                continue
            agreement = measure(arrays[name], self.wanted[number][name], arg["rtol"], arg["atol"])
            used = max(used, agreement.tolerance_used)
            if (bad := agreement.mismatch) is not None:
                example = CounterExample(dict(sizes), name, bad.index, bad.got, bad.want, bad.field)
                return Judged(
                    ScoreStatus.WRONG_VALUE, f"{name}{bad} at {describe(sizes)}", example, used
                )
        return Judged(ScoreStatus.PASSED, tolerance_used=used)
