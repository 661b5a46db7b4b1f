"""Which fast functions keep a row's promise: those whose documented error its tolerance covers.

CUDA's guide bounds the error of each fast function (CUDA C++ Programming Guide, "Mathematical
Functions", table of single-precision intrinsic functions). A text that is right with every call off
by all of its bound, upwards and downwards, is right with the fast function as well. Sines and
cosines have a bound between -pi and pi alone: beyond, nothing is said for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from validate.host.runner import RunResult
from validate.mutants.kill import Find, Trial
from validate.mutants.plain.tables import FAST
from validate.mutants.warp.draw import Mutant
from validate.statuses import RunStatus

FAST_FUNCTION = "fast_function"
_NAME = "off_by_its_bound"
_ULP = "1.1920929e-7f"
"""Of a result, at most, one unit in its last place."""


def _relative(function: str, ulps: str) -> str:
    return f"const float y = {function}(x); return y + {{sign}} * {_ULP} * ({ulps}) * fabsf(y);"


def _logarithm(function: str, near: str, ulps: str) -> str:
    return (
        f"const float y = {function}(x); return y + {{sign}} * "
        f"(x >= 0.5f && x <= 2.0f ? {near} : {ulps} * {_ULP} * fabsf(y));"
    )


def _periodic(function: str, near: str) -> str:
    # Beyond the bound's range no promise holds.
    return (
        f"return fabsf(x) <= 3.1415927f ? {function}(x) + {{sign}} * {near} : {{sign}} * 1.0e30f;"
    )


_LOG2 = f"(x >= 0.5f && x <= 2.0f ? 2.3841858e-7f : 2.0f * {_ULP} * fabsf(log2f(x)))"
_BOUNDS = {
    "__expf": _relative("expf", "2.0f + floorf(fabsf(1.173f * x))"),
    "__exp10f": _relative("exp10f", "2.0f + floorf(fabsf(2.97f * x))"),
    "__logf": _logarithm("logf", "3.5889e-7f", "3.0f"),
    "__log2f": _logarithm("log2f", "2.3841858e-7f", "2.0f"),
    "__log10f": _logarithm("log10f", "5.9604645e-8f", "3.0f"),
    "__sinf": _periodic("sinf", "3.5889e-7f"),
    "__cosf": _periodic("cosf", "4.1799e-7f"),
    # `exp2f(p * __log2f(x))`: what the logarithm is off moves the power, and so does what rounding
    # the product does; `exp2f` is two units off itself.
    "__powf": (
        "const float y = powf(x, p); "
        f"return y + {{sign}} * fabsf(y) * (0.6931472f * fabsf(p) * ({_LOG2} + "
        f"0.5f * {_ULP} * fabsf(log2f(x))) + 2.0f * {_ULP});"
    ),
}
"""The result off by its bound; `__tanf` has none of its own and is none of them."""


def at_its_bound(row: Mapping[str, Any], mutant: Mutant) -> list[dict[str, Any]]:
    """The row with the one call that a mutant made fast off by its documented bound: above, below.

    Empty where the guide has no bound for it.
    """
    before, after = row[mutant.column], mutant.text
    start = next((i for i, pair in enumerate(zip(before, after, strict=False)) if len({*pair}) > 1))
    name = next((n for n in FAST.values() if after.startswith(f"{n}(", start)), "")
    if name not in _BOUNDS:
        return []
    parameters = "float x, float p" if name == "__powf" else "float x"
    call = f"{after[:start]}{_NAME}{after[start + len(name) :]}"
    return [
        dict(row)
        | {
            "id": f"{row['id']}.{way}",
            mutant.column: f"__device__ __forceinline__ float {_NAME}({parameters}) "
            f"{{ {_BOUNDS[name].format(sign=sign)} }}\n{call}",
        }
        for way, sign in (("above", "1.0f"), ("below", "-1.0f"))
    ]


def with_promised(
    trials: Sequence[Trial],
    rows: Sequence[Mapping[str, Any]],
    run: Callable[[Sequence[Mapping[str, Any]]], list[RunResult]],
    find: Find,
) -> list[Trial]:
    """The trials, with `promised` told of the fast functions that live on.

    `rows` holds the row of every trial; `run` and `find` are those of
    :func:`validate.mutants.kill.try_mutants`.
    """
    by_id = {row["id"]: row for row in rows}
    jobs = [
        (at, text)
        for at, t in enumerate(trials)
        if t.operator == FAST_FUNCTION and t.counts and not t.killed
        for text in at_its_bound(by_id[t.row_id], find(by_id[t.row_id])[t.position])
    ]
    kept: dict[int, bool] = {}
    for (at, _), result in zip(jobs, run([text for _, text in jobs]), strict=True):
        kept[at] = kept.get(at, True) and result.status == RunStatus.AGREES
    return [replace(t, promised=kept.get(at, False)) for at, t in enumerate(trials)]
