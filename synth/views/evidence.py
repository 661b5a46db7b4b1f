"""What was wrong with a text, in words: of a compiler, or of a run on inputs that nobody showed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from synth.views.plain import fenced
from synth.views.sizes import size_names
from validate.row.inputs import OTHER_POISON
from validate.score.scorer import Verdict
from validate.statuses import ScoreStatus

Row = Mapping[str, Any]

_LOG_CHARS = 1500
_FEW_DIGITS, _ALL_DIGITS = 6, 17
_UNWRITTEN = frozenset(
    int.from_bytes(OTHER_POISON * size, "little", signed=signed)
    for size in (2, 4, 8)
    for signed in (True, False)
)
"""What integers of outputs hold before a kernel writes them; of one byte it might be a result."""

CAUGHT: dict[str, str] = {
    ScoreStatus.WRONG_VALUE: "An output is wrong",
    ScoreStatus.WROTE_OUT_OF_BOUNDS: "The kernel writes outside an array",
    ScoreStatus.READ_OUT_OF_BOUNDS: "The kernel reads outside an array",
    ScoreStatus.DATA_RACE: "The kernel has a data race",
    ScoreStatus.BAD_SYNC: "Threads do not meet at a barrier",
    ScoreStatus.INPUT_CHANGED: "The kernel changes an input",
    ScoreStatus.UNDEFINED: "The kernel does what C++ leaves open",
    ScoreStatus.BAD_LAUNCH: "The launch cannot be made",
}
"""Verdicts that name a fault of the text; a crash or a time limit says less."""

_ELSEWHERE = re.compile(r"^(?:/|<scratch space>|error code -?\d+$)|^\d+ errors? generated\.$")
_ITS_LINE = re.compile(r"^\s*(?:\d+ )?\|")


def evidence_of(row: Row, verdict: Verdict) -> str:
    """What a verdict says of a text, with the input on which it fails."""
    example = None if verdict.counter_example is None else asdict(verdict.counter_example)
    return evidence(row, verdict.status, verdict.reason, verdict.detail, example)


def evidence(
    row: Row, status: str, reason: str, detail: str = "", example: Mapping[str, Any] | None = None
) -> str:
    """The same from a verdict's parts; without ``detail`` and ``example`` nothing of inputs."""
    if status == ScoreStatus.COMPILE_ERROR:
        return f"The compiler says:\n\n{fenced('', compiler_log(reason))}"
    if status not in CAUGHT:
        return " ".join(part for part in (ScoreStatus(status).sentence, detail or reason) if part)
    what = CAUGHT[status]
    if example is not None:
        return f"{what}: {_wrong_element(row, example)}."
    said = _with_sizes(detail, size_names(row)) if detail else reason
    return f"{what}: {said}." if said else f"{what}."


def compiler_log(text: str) -> str:
    """A log under the name that a file would have, without what it says of other files, cut after
    some lines."""
    lines = text.replace("cuda_plain", "kernel.cu").strip().split("\n")
    kept: list[str] = []
    elsewhere = False
    for line in lines:
        elsewhere = bool(_ELSEWHERE.match(line)) or (elsewhere and bool(_ITS_LINE.match(line)))
        if elsewhere:
            continue
        if sum(map(len, kept)) + len(line) > _LOG_CHARS:
            return "\n".join([*kept, "…"])
        kept.append(line)
    return "\n".join(kept)


def _wrong_element(row: Row, example: Mapping[str, Any]) -> str:
    names = size_names(row)
    sizes = ", ".join(f"{names.get(s, s)} = {value}" for s, value in example["sizes"].items())
    index = ", ".join(map(str, example["index"]))
    place = f"{example['output']}[{index}]" + (f".{example['field']}" if example["field"] else "")
    (role,) = {arg["role"] for arg in row["args"] if arg["name"] == example["output"]}
    digits = _telling_digits(example["got"], example["want"])
    got = _got(example["got"], role != "out", digits)
    return f"with {sizes}, `{place}` {got}; it should be {_number(example['want'], digits)}"


def _telling_digits(got: Any, want: Any) -> int:
    """How many digits it takes to tell two numbers apart."""
    digits = range(_FEW_DIGITS, _ALL_DIGITS)
    return next((d for d in digits if _number(got, d) != _number(want, d)), _ALL_DIGITS)


def _with_sizes(detail: str, names: Mapping[str, str]) -> str:
    """A verdict's detail, which ends with the sizes, in the words of the kernel."""
    detail = re.sub(r"\b0 bytes after", "right after", detail)
    said, _, sizes = detail.rpartition(" at ")
    pairs = [pair.partition("=") for pair in sizes.split(",")]
    if not said or not all(equals for _, equals, _ in pairs):
        return detail
    told = ", ".join(f"{names.get(name, name)} = {value}" for name, _, value in pairs)
    return f"{said} with {told}"


def _got(value: float | int | bool | str, written_before: bool, digits: int = _FEW_DIGITS) -> str:
    """What an element is; outputs hold a pattern until a kernel writes them."""
    if not written_before and value in _UNWRITTEN:
        return "is never written"
    if not written_before and (value != value or value == "nan"):
        return "is nan, or never written"
    return f"is {_number(value, digits)}"


def _number(value: float | int | bool | str, digits: int) -> str:
    """Few digits, because the last ones depend on the machine's maths library."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
