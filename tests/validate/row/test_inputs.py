from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hand_rows import all_rows, arg, field, output, scalar, size_of
from hypothesis import given
from hypothesis import strategies as st

from validate.row.inputs import draw_inputs, poison, raw_numbers
from validate.row.sizes import own_sizes


def draw(entry: dict[str, Any], seed: int = 7, **sizes: int) -> np.ndarray[Any, Any]:
    return draw_inputs([entry], {"n": 500} | sizes, seed)[entry["name"]]


def reference_splitmix(stream: str, count: int) -> list[int]:
    mask = (1 << 64) - 1
    state = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:8], "little")
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        numbers.append(z ^ (z >> 31))
    return numbers


def test_the_stream_is_splitmix64() -> None:
    assert raw_numbers("1/x", 50).tolist() == reference_splitmix("1/x", 50)


def test_values_are_pinned() -> None:
    """Published inputs must never change: these digests are part of the format."""
    digest = hashlib.sha256()
    for row in all_rows():
        drawn = draw_inputs(row["args"], own_sizes(row["sizes"]), row["input_seed"])
        for value in drawn.values():
            digest.update(value.tobytes())
    assert digest.hexdigest()[:16] == "362198f67bdafc7a"


def test_values_do_not_depend_on_the_cpu() -> None:
    code = (
        "from hand_rows import arg, field; from validate.row.inputs import draw_inputs; "
        "import hashlib; a = [arg('q', 'quat[float32]', init='unit'), arg('x', 'float64'),"
        " arg('m', 'mat3x3[float32]', init='well_conditioned'), arg('k', 'float16')];"
        "d = draw_inputs(a, {'n': 777}, 5);"
        "print(hashlib.sha256(b''.join(v.tobytes() for v in d.values())).hexdigest())"
    )
    outputs = set()
    for tunables in ("", "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"):
        env = os.environ | {
            "GLIBC_TUNABLES": tunables,
            "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3 AVX512F" if tunables else "",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        outputs.add(subprocess.check_output([sys.executable, "-W", "ignore", "-c", code], env=env))
    assert len(outputs) == 1


def test_one_argument_leaves_the_others_alone() -> None:
    x, y = arg("x", "float32"), arg("y", "int32", low="0", high="9")
    both = draw_inputs([x, y], {"n": 8}, 3)
    assert np.array_equal(both["y"], draw_inputs([y], {"n": 8}, 3)["y"])
    assert not np.array_equal(both["x"], draw_inputs([x], {"n": 8}, 4)["x"])
    assert np.array_equal(both["x"], draw_inputs([x], {"n": 99}, 3)["x"][:8])


def test_uniform() -> None:
    values = draw(arg("x", "float32", low="-2.0", high="3.0"))
    assert values.dtype == np.float32
    assert -2.0 <= values.min() < -1.8
    assert 2.8 < values.max() <= 3.0
    assert 0.4 < draw(arg("b", "bool", low=None, high=None)).mean() < 0.6


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**64 - 1))
def test_integers_stay_in_range(low: int, span: int) -> None:
    high = min(low + span, 2**63 - 1)
    values = draw(arg("x", "int64", low=str(low), high=str(high)), n=20)
    assert low <= int(values.min())
    assert int(values.max()) <= high


def test_integers_reach_both_ends() -> None:
    assert set(draw(arg("x", "int8", low="-1", high="2")).tolist()) == {-1, 0, 1, 2}
    full = draw(arg("x", "uint64", low="0", high=str(2**64 - 1)))
    assert full.max() > 2**63
    wide = draw(arg("x", "int64", low=str(-(2**63)), high=str(2**63 - 1)))
    assert wide.min() < -(2**62)
    assert wide.max() > 2**62
    whole = draw(arg("x", "float32", init="integers", low="-3", high="3.0"))
    assert set(whole.tolist()) == {-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0}


def test_index_size_permutation_sorted_identity() -> None:
    index = draw(arg("i", "int32", init="index_of:2*b", low=None, high=None), b=3)
    assert set(index.tolist()) == set(range(6))
    value = draw(size_of("count", "n+b"), b=3)
    assert (value.shape, value.item()) == ((), 503)
    assert sorted(draw(arg("p", "int32", init="permutation")).tolist()) == list(range(500))
    rows = draw(arg("s", "float32", init="sorted", shape=("4", "n")))
    assert (np.diff(rows, axis=-1) >= 0).all()
    assert len({row[0] for row in rows.tolist()}) == 4
    lowest = draw(arg("m", "float64", init="reduction_identity", low="-inf"))
    assert (lowest == -np.inf).all()
    largest = draw(arg("m", "uint64", init="reduction_identity", low=str(2**64 - 1)))
    assert (largest == 2**64 - 1).all()


def test_unit_and_well_conditioned() -> None:
    for dtype in ("vec3[float64]", "quat[float64]"):
        values = draw(arg("q", dtype, init="unit", low=None, high=None))
        assert np.allclose(np.linalg.norm(values, axis=-1), 1.0, atol=1e-14)
    frames = draw(arg("t", "transform[float64]", init="unit", low="-9.0", high="9.0"))
    assert np.allclose(np.linalg.norm(frames[:, 3:], axis=-1), 1.0, atol=1e-14)
    assert np.abs(frames[:, :3]).max() > 8.0
    matrices = draw(arg("m", "mat4x4[float64]", init="well_conditioned"))
    assert np.linalg.cond(matrices).max() < 20


def test_shapes_and_structs() -> None:
    fields = (field("position", "vec3[float32]"), field("fixed", "bool"))
    array = draw(arg("p", "Particle", fields=fields))
    assert array.shape == (500,)
    assert array["position"].shape == (500, 3)
    assert not np.array_equal(array["position"][0], array["position"][1])
    assert draw(arg("p", "Particle", kind="struct", fields=fields)).shape == ()
    assert draw(scalar("v", "vec3[float16]")).shape == (3,)
    assert draw(arg("m", "mat2x3[float32]", shape=("n", "2"))).shape == (500, 2, 2, 3)


def test_outputs_are_poisoned() -> None:
    assert np.isnan(draw(output("o", "vec3[float16]"))).all()
    assert (draw(output("o", "int8")).view(np.uint8) == 0xA5).all()
    fields = (field("mass", "float64"), field("count", "int32"), field("fixed", "bool"))
    struct = draw(output("o", "Particle", fields=fields))
    assert np.isnan(struct["mass"]).all()
    assert (struct["count"].view(np.uint32) == 0xA5A5A5A5).all()
    assert poison(np.dtype(np.float32), (2, 0)).shape == (2, 0)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"low": None}, "needs 'low'"),
        ({"init": "gaussian"}, "not known"),
        ({"init": "unit"}, "does not fit"),
        ({"init": "well_conditioned"}, "does not fit"),
        ({"dtype": "int32", "low": "0.5"}, "whole"),
        ({"dtype": "int32", "low": "x"}, "bad 'low'"),
        ({"dtype": "int32", "low": "2", "high": "1"}, "no whole number"),
        ({"init": "index_of:z"}, "nothing to index"),
    ],
)
def test_inits_that_do_not_fit(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        draw(arg("x", "float32") | change, z=0)
