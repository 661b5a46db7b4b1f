"""What candidates are compared with: the result in float64, and how far off an output may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from synth.errors import SettingsError
from synth.lower.op import OpSpec
from synth.lower.ops import ops
from synth.lower.spec import read_spec
from synth.lower.tune.case import Case, computable
from synth.lower.tune.gpu import launches_at

SIZES = {"m": 24, "n": 40, "k": 16, "batch": 1}


def case_of(said: dict[str, Any]) -> tuple[OpSpec, Case]:
    spec = read_spec(said)
    assert isinstance(spec, OpSpec)
    ragged = spec.kind.shapes(spec.plan)[1]
    sizes = dict(zip(spec.sizes, ragged, strict=True))
    return spec, Case(spec, sizes, np)


def legal(op: str, dtype: str) -> dict[str, Any] | None:
    """A spec of an op and a dtype; None where there is none."""
    for more in ({}, {"transpose_b": True}):
        try:
            read_spec({"op": op, "dtype": dtype, **more})
        except SettingsError:
            continue
        return {"op": op, "dtype": dtype, **more}
    return None


@pytest.mark.parametrize("op", sorted(ops()))
def test_the_result_itself_is_right_and_another_is_not(op: str) -> None:
    for dtype in ops()[op].dtypes:
        said = legal(op, dtype)
        if said is None:
            continue
        spec, case = case_of(said)
        if case.wanted is None:
            continue
        out = case.arrays[case.out.name]
        case.clear()
        assert case.errors(spec).share > 1.0
        exact = np.asarray(case.wanted)
        if dtype == "bfloat16":
            bits = exact.astype(np.float32).view(np.uint32)
            out[...] = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        else:
            out[...] = exact.astype(out.dtype)
        right = case.errors(spec)
        assert right.share <= 1.0, (op, dtype)
        assert right.norm < 1e-2
        out.reshape(-1)[:1] += out.dtype.type(2)
        assert case.errors(spec).share > 1.0


def test_products_are_those_of_numpy() -> None:
    _, case = case_of({"op": "matmul", "transpose_a": True, "bias": True, "activation": "relu"})
    a, b, bias = (case.arrays[name].astype(np.float64) for name in ("a", "b", "bias"))
    assert np.allclose(case.wanted, np.maximum(a.T @ b + bias, 0.0), rtol=1e-13)


def test_a_reference_of_single_elements_is_not_run_on_large_arrays() -> None:
    spec, case = case_of({"op": "matmul", "activation": "gelu"})
    assert case.wanted is None
    rows, _ = case_of({"op": "softmax"})
    assert computable(rows, {"m": 4096, "n": 4096})
    assert not computable(rows, {"m": 1 << 20, "n": 16})
    assert not computable(spec, SIZES)


def test_launches_at_sizes_have_names_and_numbers() -> None:
    spec = read_spec({"op": "matmul", "schedule": {"core": "simt", "split_k": 2}})
    assert isinstance(spec, OpSpec)
    text = spec.kind.lower(spec.plan)
    (first, _, passed), (second, launch, rest) = launches_at(text, SIZES)
    assert (first, second) == ("matmul", "matmul_add")
    assert passed == ["a", "b", "parts", 24, 40, 16]
    assert rest == ["parts", "c", 24, 40]
    assert launch["block"] == [256]
