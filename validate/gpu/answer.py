"""The device time of an answer: a text of somebody else's, launched as it says.

It was judged on the host before. Here it is run once more at the row's own sizes and compared with
the reference, where the row has one, and at the sizes that it is timed at what it may not touch is
looked at: a text that is wrong on the device has no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from statistics import median, quantiles
from typing import Any

from validate.gpu.bench import Timing, Turn, device_times
from validate.gpu.launch import load_kernel
from validate.gpu.nvrtc import compile_named
from validate.gpu.result import TextResult
from validate.gpu.text import PlainText, Ran, run_text, shape_of
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import run_reference
from validate.row.sizes import describe, own_sizes

Row = Mapping[str, Any]


def time_answer(row: Row, arch: str, result: TextResult) -> Timing | None:
    """Time an answer at `row["timed_sizes"]`, by symbol; None where `result` says what is wrong.

    The row has `program` (the whole text), `kernels` (their names as in C++, in the order of
    `launches.kernels_of`), and the answer's `plain_launch` and `plain_scratch`. Raises Refused,
    NotInBinary, WrongParameters, ReferenceFailed and LaunchFailed.
    """
    binary, symbols = compile_named(row["program"], row["kernels"], arch)
    text = PlainText([load_kernel(binary, symbol) for symbol in symbols])
    own = shape_of(row, own_sizes(row["sizes"]))
    ran = run_text(text, row, own)
    if not _unharmed(ran, result):
        return None
    if row["reference"] is not None:
        wanted = run_reference(
            row["reference"], row["kernel_name"], row["args"], own.dim, own.inputs
        )
        finding = Finding()
        if not compare_outputs(row["args"], ran.outputs, wanted, finding):
            result.fail(finding.status, finding.reason)
            return None
    shape = shape_of(row, row["timed_sizes"])
    if not _unharmed(run_text(text, row, shape), result):
        return None
    times = device_times([Turn.of(text.prepare(row, shape))])
    low, _, high = quantiles(times, n=4)
    return Timing(
        contender="answer",
        elements=prod(shape.dim),
        sizes=describe(shape.sizes),
        repeats=len(times),
        median_us=median(times),
        min_us=min(times),
        spread_us=high - low,
    )


def _unharmed(ran: Ran, result: TextResult) -> bool:
    if ran.trouble is not None:
        result.fail(*ran.trouble)
    return ran.trouble is None
