"""C expressions of launches: their values, and what is none."""

from __future__ import annotations

import time
from typing import Any

import pytest

from validate.host.plain_launch import Grid, grid_of
from validate.text.formula import evaluate
from validate.text.launches import Launch, launch_problem, launches_of

SIZES = {"n": 1000, "m": 7, "rows": 10, "cols": 33}

VALUES = {
    "(n + 255) / 256": 4,
    "(n - 1) / 256 + 1": 4,
    "(n + 256 - 1) / 256": 4,
    "n>>2": 250,
    "1 << 10": 1024,
    "0x10u * n": 16000,
    "0b101": 5,
    "010": 8,
    "1'000": 1000,
    "1ull + 2LU": 3,
    "n % 256": 232,
    "-7 / 2": -3,
    "-7 % 3": -1,
    "10 - 3 - 2": 5,
    "100 / 10 / 2": 5,
    "2 + 3 * 4": 14,
    "(n + 31) & ~31": 1024,
    "n + 32 - 1 & ~31": 1024,
    "6 ^ 3 | 8": 13,
    "n == 1000 && m != 7 || 1 > 2": 0,
    "m <= 7": 1,
    "!n": 0,
    "+m": 7,
    "n > 512 ? 512 : n": 512,
    "n == 0 ? n / 0 : 3": 3,
    "0 && 1 / 0": 0,
    "1 || 1 % 0": 1,
    "ceil(n / 256.0)": 4,
    "ceilf((float)n / 256)": 4,
    "(int)ceil(n / 256.f)": 4,
    "ceil(n / 256)": 3,
    "floor(n / 256.0)": 3,
    "int(n / 3.0)": 333,
    "(int)(n / 3.0)": 333,
    "static_cast<unsigned int>(n)": 1000,
    "(unsigned)-1": 4294967295,
    "(unsigned char)300": 44,
    "(signed char)200": 200 - 256,
    "(size_t)n * sizeof(double)": 8000,
    "sizeof(float) * (256 + m)": 1052,
    "sizeof(float4) + sizeof(uchar3) + sizeof(half2)": 23,
    "sizeof(unsigned long long) + sizeof(int64_t) + sizeof(bool)": 17,
    "sizeof(float*)": 8,
    "std::min((n + 63) / 64, 65535)": 16,
    "std::min<int>(n, 3)": 3,
    "max(m, 3u)": 7,
    "cdiv(n, 256)": 4,
    "ceil_div(n, 256)": 4,
    "CEIL_DIV(n, 16)": 63,
    "divUp(n, 16)": 63,
    "1.5 * 2": 3,
    "rows * cols": 330,
    "(n)+(3)": 1003,
    "(n)": 1000,
}

WRONG = {
    "": "ends too early",
    "(": "ends too early",
    "n n": "not expected",
    "n +": "ends too early",
    "n ** 2": "not expected",
    "foo": "no size",
    "foo(n)": "no function",
    "n / 0": "division by zero",
    "n % (m - 7)": "division by zero",
    "cdiv(n, 0)": "division by zero",
    "n / 256.0": "no whole number",
    "1 << 70": "shift",
    "1 >> -1": "shift",
    "1 << 60 << 60 << 60 << 60 << 60": "too large",
    "1e999": "no whole number|infinity",
    "ceil(1e999)": "infinity",
    "08": "no number",
    "1.5.2": "no number",
    "~1.5": "point",
    "1.5 << 2": "point",
    "sizeof(Foo)": "sizeof",
    "sizeof n": "missing",
    "__import__('os')": "not expected",
    "dim3(3)": "no function",
    "\ud800": "character",
    '"n"': "not expected",
    "n; m": "not expected",
    "#define n 3": "ends too early",
    "/* n": "comment",
    "(" * 100: "too deep",
    "- " * 149: "too deep",
    "n" * 301: "300 characters",
    "9" * 299: "too large",
}


@pytest.mark.parametrize("formula", VALUES)
def test_a_formula_has_the_value_that_c_gives_it(formula: str) -> None:
    assert evaluate(formula, SIZES) == VALUES[formula]


@pytest.mark.parametrize("formula", WRONG)
def test_what_is_no_formula_is_named_in_one_line(formula: str) -> None:
    with pytest.raises(ValueError, match=WRONG[formula]) as caught:
        evaluate(formula, SIZES)
    assert "\n" not in str(caught.value)
    assert str(caught.value).isascii()


def test_numbers_stand_for_themselves_and_nothing_else_does() -> None:
    assert evaluate(5, {}) == 5
    for value in (True, 5.0, None, [5]):
        with pytest.raises(ValueError, match="neither text nor a whole number"):
            evaluate(value, {})  # type: ignore[arg-type]


@pytest.mark.parametrize("piece", ["(", "-", "n?", "n+", "<", "a", "(int)", "ceil(", "1<<"])
def test_long_formulas_are_refused_at_once(piece: str) -> None:
    for count in (300 // len(piece), 65536 // len(piece)):
        start = time.process_time()
        with pytest.raises(ValueError, match="formula"):
            evaluate(piece * count, SIZES)
        assert time.process_time() - start < 0.2


def launch_of(launch: dict[str, Any]) -> Launch:
    (found,) = launches_of({"plain_launch": launch, "plain_args": []})
    return found


def test_a_launch_takes_formulas_everywhere() -> None:
    launch = {"grid": ["cdiv(n, 128)", "m"], "block": ["32 * 4", 2], "shared_bytes": "128 * 4"}
    assert grid_of(launch_of(launch), SIZES) == Grid([8, 7, 1], [128, 2, 1], 512)
    threes = launch_of({"grid": [3], "block": [32]})
    assert grid_of(threes, SIZES) == Grid([3, 1, 1], [32, 1, 1], 0)
    assert launch_problem(launch) == ""


@pytest.mark.parametrize(
    ("launch", "line"),
    [
        ({"grid": ["1"], "block": [1, 1, 65]}, "1024, 1024, 64"),
        ({"grid": ["1"], "block": [1025]}, "cannot be launched"),
        ({"grid": ["1"], "block": [64, 32]}, "cannot be launched"),
        ({"grid": ["0"], "block": [64]}, "cannot be launched"),
        ({"grid": ["1", "65536"], "block": [1]}, "65535"),
        ({"grid": ["1", "1", "65536"], "block": [1]}, "65535"),
        ({"grid": ["1 << 31"], "block": [1]}, "2147483647"),
        ({"grid": ["1 << 25"], "block": [1]}, "threads"),
        ({"grid": ["1"], "block": [32], "shared_bytes": "n * 64"}, "shared_bytes"),
        ({"grid": ["1"], "block": [32], "shared_bytes": "-4"}, "shared_bytes"),
    ],
)
def test_what_no_device_launches_is_named(launch: dict[str, object], line: str) -> None:
    assert launch_problem(launch) == ""
    with pytest.raises(ValueError, match=line):
        grid_of(launch_of(launch), SIZES)
