from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from validate.oracle.compare import compare, compare_widely, max_ulp, measure, round_up_125


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_tolerance_is_absolute_plus_relative() -> None:
    want = np.array([100.0, 0.0])
    assert compare(f32(101.0, 0.5), want, 0.01, 0.5) is None
    mismatch = compare(f32(102.0, 0.0), want, 0.01, 0.5)
    assert mismatch is not None
    assert (mismatch.index, mismatch.got, mismatch.want) == ((0,), 102.0, 100.0)
    assert (mismatch.error, mismatch.bad, mismatch.total) == (2.0, 1, 2)
    assert str(mismatch) == "[0] is 102.0, not 100.0 (1 of 2 differ)"


def test_the_worst_element_is_the_one_named() -> None:
    want = np.zeros((2, 3))
    got = want.astype(np.float32)
    got[0, 1], got[1, 2] = 1.0, 2.0
    mismatch = compare(got, want, 0.0, 0.1)
    assert mismatch is not None
    assert (mismatch.index, mismatch.bad) == ((1, 2), 2)


@pytest.mark.parametrize(
    ("got", "want"),
    [(np.nan, 1.0), (1.0, np.nan), (np.nan, np.nan), (np.inf, 1.0), (np.inf, -np.inf), (1, np.inf)],
)
def test_nan_and_lone_infinities_never_pass(got: float, want: float) -> None:
    mismatch = compare(f32(1.0, got), np.array([1.0, want]), 1e9, 1e9)
    assert mismatch is not None
    assert mismatch.index == (1,)
    assert mismatch.error == math.inf


def test_equal_infinities_pass() -> None:
    assert compare(f32(np.inf, -np.inf), np.array([np.inf, -np.inf]), 0.0, 0.0) is None


def test_widely_one_element_in_500_may_be_off() -> None:
    want = np.ones(1000)
    got = want.astype(np.float32)
    got[:] += 0.5
    assert compare_widely(got, want, 0.0, 0.006, 100.0) is None
    assert compare_widely(got, want, 0.0, 0.004, 100.0) is not None
    got[:] = 1.0
    got[:2] = 7.0
    assert compare_widely(got, want, 0.0, 0.006, 100.0) is None
    got[:3] = 7.0
    found = compare_widely(got, want, 0.0, 0.006, 100.0)
    assert found is not None
    assert (found.bad, found.total) == (3, 1000)


def test_integers_and_bools_are_exact() -> None:
    big = np.array([2**63, 5], np.uint64)
    assert compare(big, big.copy(), None, None) is None
    mismatch = compare(big, big + np.uint64(1), None, None)
    assert mismatch is not None
    assert mismatch.error == 1.0
    odd = np.array([1, 0xA5], np.uint8).view(np.bool_)
    mismatch = compare(odd, np.array([True, True]), None, None)
    assert mismatch is not None
    assert mismatch.index == (1,)


def test_structs_are_compared_by_field() -> None:
    got = np.zeros(3, [("mass", np.float32), ("count", np.int32)])
    want = np.zeros(3, [("mass", np.float64), ("count", np.int32)])
    want["mass"] = 1e-6
    assert compare(got, want, 0.0, 1e-5) is None
    want["count"][2] = 1
    mismatch = compare(got, want, 0.0, 1e-5)
    assert mismatch is not None
    assert (mismatch.index, mismatch.field) == ((2,), "count")
    assert str(mismatch).startswith("[2].count is 0")


def test_misuse() -> None:
    with pytest.raises(ValueError, match="shapes"):
        compare(f32(1.0), np.zeros(2), 0.0, 0.0)
    with pytest.raises(ValueError, match="rtol"):
        compare(f32(1.0), np.ones(1), None, None)


def test_how_much_of_the_tolerance_is_used() -> None:
    agreement = measure(f32(1.0, 2.5), np.array([1.0, 2.0]), 0.25, 0.5)
    assert agreement.tolerance_used == 0.5
    assert measure(f32(), np.zeros(0), 0.0, 0.0).tolerance_used == 0.0


def test_ulps() -> None:
    one_up = float(np.nextafter(np.float32(1.5), np.float32(2)))
    assert max_ulp(f32(one_up), np.array([1.5]), 1e-5, 0.0) == 1.0
    assert max_ulp(f32(1e-9), np.array([0.0]), 1e-5, 1e-5) < 1.0
    largest = float(np.finfo(np.float32).max)
    assert math.isfinite(max_ulp(f32(largest), np.array([largest * 0.999]), 1e-5, 1e-5))


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0.0, 0.0), (0.00123, 0.002), (1.0, 1.0), (1.01, 2.0), (2.1, 5.0), (5.1, 10.0), (0.5, 0.5)],
)
def test_round_up_125(value: float, rounded: float) -> None:
    assert round_up_125(value) == rounded


@given(st.floats(1e-300, 1e300))
def test_rounding_never_goes_down_and_is_stable(value: float) -> None:
    rounded = round_up_125(value)
    assert value <= rounded <= value * 2.5000001
    assert round_up_125(rounded) == rounded
