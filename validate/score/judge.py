"""What a row wants on hidden inputs, and whether the outputs of an answer are that.

The reference runs in the process of the caller, behind `reference.check_syntax`: score rows of
datasets that you trust. It runs once for all answers to a row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from validate.host.answered import Answered, Written
from validate.oracle.compare import Mismatch, compare_widely, measure
from validate.oracle.reference import ReferenceFailed
from validate.row import dtypes
from validate.row.inputs import Array, poison
from validate.row.sizes import describe, evaluate_all
from validate.score.feedback import public_reason
from validate.score.hidden import OWN, Draw, reference_outputs
from validate.statuses import ScoreStatus

Value = float | int | bool
Outputs = dict[str, Array]

# What the process of a kernel may say of itself; other words are those of a text that forges.
SAYS = frozenset({"ran", *ScoreStatus}) - {
    *(ScoreStatus.PASSED, ScoreStatus.WRONG_VALUE),
    *(ScoreStatus.NO_KERNEL, ScoreStatus.COMPILE_ERROR),
}
_MOST_REASON = 500
# The tolerance of an output at shapes at which it was not measured.
_WIDE = 100.0


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

    `reason` may be shown to who answers: it has no hidden size, value or index. `detail` and
    `counter_example` have them. `tolerance_used` is the largest error as a share of its tolerance,
    over the trials that the reference decides. `share` is the part of the outputs that is right:
    the mean over all trials of the elements that are, 0 for a trial that did not run.
    """

    status: str
    reason: str = ""
    counter_example: CounterExample | None = None
    tolerance_used: float = 0.0
    detail: str = ""
    share: float = 0.0


@dataclass(frozen=True)
class _Compared:
    """One trial: its right elements of all, and the worst element of the first wrong output."""

    right: int
    total: int
    used: float
    output: str = ""
    worst: Mismatch | None = None


class Judge:
    """The wanted outputs of one row on one draw.

    What the reference wants is known from the start. What the row's own text wrote at the other
    trials is to be handed in by `take_own`; trials that have neither are not judged.
    """

    def __init__(self, row: Mapping[str, Any], draw: Draw) -> None:
        """Run the reference where that has not been done. Raises ReferenceFailed, and ValueError
        when no inputs can be drawn."""
        self.args, self.draw, self.trials = row["args"], draw, draw.trials
        # Nothing is decided by a rounding where there are whole numbers alone.
        self.jumps = any(map(_has_floats, self.args))
        self.wanted: dict[int, Outputs] = dict(draw.wanted)
        for number, trial in enumerate(draw.trials):
            if trial.oracle != OWN and number not in self.wanted:
                self.wanted[number] = reference_outputs(row, trial, draw)

    def take_own(self, number: int, outputs: Written | None) -> bool:
        """Let a trial whose oracle is "own" be judged by what the row's own text wrote there.

        False, and the trial is not judged, when these are no outputs of it, or have a value with
        which nothing agrees.
        Raises ValueError for a trial that the reference decides.
        """
        if self.trials[number].oracle != OWN:
            raise ValueError(f"trial {number} is decided by the reference")
        if outputs is None:
            return False
        try:
            own = self._read(number, outputs)
        except (ValueError, KeyError):
            return False
        return self._take(number, own)

    def take_reference(self, row: Mapping[str, Any], number: int) -> bool:
        """The same where a row has no text: what its reference wants there decides.

        False, and the trial is not judged, when the reference fails or gives what is no number.
        """
        try:
            wanted = reference_outputs(row, self.trials[number], self.draw)
        except (ReferenceFailed, ValueError):
            return False
        return self._take(number, wanted)

    def _take(self, number: int, wanted: Outputs) -> bool:
        if any(has_nan(array) for array in wanted.values()):
            return False
        self.wanted[number] = wanted
        return True

    def differs(self, number: int, outputs: Written) -> bool:
        """Whether outputs of one trial that is judged are wrong.

        Raises ValueError or KeyError when they are no outputs of it.
        """
        return self._compare(number, self._read(number, outputs)).worst is not None

    def judge(self, said: Answered, skipped: Collection[int] = ()) -> Judged:
        """Compare what a kernel's process handed back. Whatever it is, this comes to a verdict.

        Trials that are `skipped`, by number, were not asked of it. Only outputs of a trial that is
        not judged may be None.
        """
        status, reason, outputs = said.status, said.reason[:_MOST_REASON], said.outputs
        try:
            if status not in SAYS:
                raise ValueError(f"status {status}")
            if len(outputs) > len(self.trials) or (
                status == "ran" and len(outputs) != len(self.trials)
            ):
                raise ValueError("outputs of other trials")
            read = {
                number: self._read(number, written)
                for number, written in enumerate(outputs)
                if number in self.wanted and number not in skipped and written is not None
            }
        except (ValueError, KeyError):
            return Judged(ScoreStatus.CRASHED, "answered something else than its outputs")
        compared = {number: self._compare(number, arrays) for number, arrays in read.items()}
        return self._conclude(status, reason, len(outputs), compared, skipped)

    def _conclude(
        self,
        status: str,
        reason: str,
        ran: int,
        compared: Mapping[int, _Compared],
        skipped: Collection[int],
    ) -> Judged:
        asked = sorted(self.wanted.keys() - set(skipped))
        share = sum(c.right / max(1, c.total) for c in compared.values()) / max(1, len(asked))
        used = max((c.used for c in compared.values()), default=0.0)
        for number in sorted(compared):
            if compared[number].worst is not None:
                return self._wrong(number, compared[number], used, share)
        missing = [n for n in asked if n < ran and n not in compared]
        if status == "ran" and missing:
            status, reason, ran = ScoreStatus.TIMEOUT, "takes too many steps", missing[0]
        if status == "ran":
            return Judged(ScoreStatus.PASSED, tolerance_used=used, share=share)
        sizes = describe(self.trials[min(ran, len(self.trials) - 1)].sizes)
        names = [arg["name"] for arg in self.args]
        public = public_reason(status, reason, names)
        return Judged(status, public, None, used, f"{reason} at {sizes}", share)

    def _wrong(self, number: int, compared: _Compared, used: float, share: float) -> Judged:
        bad, sizes = compared.worst, self.trials[number].sizes
        assert bad is not None
        name = compared.output
        example = CounterExample(dict(sizes), name, bad.index, bad.got, bad.want, bad.field)
        field = f".{bad.field}" if bad.field else ""
        reason = f"{name}{field}: {_part(bad)} differ"
        detail = f"{name}{bad} at {describe(sizes)}"
        return Judged(ScoreStatus.WRONG_VALUE, reason, example, used, detail, share)

    def _read(self, number: int, written: Written) -> Outputs:
        arrays, sizes = {}, self.trials[number].sizes
        for arg in self.args:
            if arg["kind"] != "array" or arg["role"] == "in":
                continue
            name, dtype = arg["name"], np.dtype(dtypes.storage(arg["dtype"], arg["fields"]))
            shape = evaluate_all(arg["shape"], sizes) + dtypes.parse(arg["dtype"]).shape
            arrays[name] = np.frombuffer(written[name], dtype).reshape(shape)
        return arrays

    def _compare(self, number: int, arrays: Outputs) -> _Compared:
        right = total = 0
        used, output, worst = 0.0, "", None
        for arg in self.args:
            name = arg["name"]
            if name not in arrays:
                continue
            got, want = arrays[name], self.wanted[number][name]
            if self.trials[number].oracle == OWN:
                bad, all_of = _worst_widely(arg, got, want, self.jumps), _elements(got)
                wrong = bad.bad if bad is not None else 0
            else:
                agreement = measure(got, want, arg["rtol"], arg["atol"])
                used, bad = max(used, agreement.tolerance_used), agreement.mismatch
                all_of, wrong = _elements(got), bad.bad if bad is not None else 0
            right, total = right + all_of - wrong, total + all_of
            if bad is not None and worst is None:
                output, worst = name, bad
        return _Compared(right, total, used, output, worst)


def _worst_widely(arg: Mapping[str, Any], got: Array, want: Array, jumps: bool) -> Mismatch | None:
    """The worst element at a shape that the row's own text decides.

    What was not written, or is no number, counts however few elements it is.
    """
    if got.dtype.names is not None:
        for name in got.dtype.names:
            if (bad := _worst_widely(arg, got[name], want[name], jumps)) is not None:
                return replace(bad, field=name)
        return None
    bad = compare_widely(got, want, arg["rtol"], arg["atol"], _WIDE, jumps)
    if bad is not None:
        return bad
    lost = _lost(got, want, arg["role"])
    count = int(np.count_nonzero(lost))
    if not count:
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(lost)), got.shape))
    return Mismatch(index, got[index].item(), want[index].item(), float("inf"), count, got.size)


def _lost(got: Array, want: Array, role: str) -> Array:
    if got.dtype.kind == "f":
        return np.asarray(np.isfinite(want) & ~np.isfinite(got))
    if role != "out":
        return np.zeros(got.shape, bool)
    unwritten = poison(got.dtype, (1,)).view(np.uint8)
    size = got.dtype.itemsize
    raw = np.ascontiguousarray(got).view(np.uint8).reshape(*got.shape, size)
    return np.asarray((raw == unwritten).all(-1) & (got != want))


def has_nan(array: Array) -> bool:
    """Whether any element, or any field of one, is no number."""
    if array.dtype.names is not None:
        return any(has_nan(array[name]) for name in array.dtype.names)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def _has_floats(arg: Mapping[str, Any]) -> bool:
    dtype = np.dtype(dtypes.storage(arg["dtype"], arg["fields"]))
    return any(field.base.kind == "f" for field, *_ in (dtype.fields or {"": (dtype,)}).values())


def _elements(array: Array) -> int:
    """Elements as a comparison counts them: of a struct, those of one field."""
    if array.dtype.names is not None:
        return max(int(array[name].size) for name in array.dtype.names)
    return int(array.size)


def _part(bad: Mismatch) -> str:
    """How many elements differ, without how many there are."""
    if bad.bad == bad.total:
        return "all elements"
    return f"{max(1, round(100 * bad.bad / bad.total))} % of the elements"
