from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from validate.row.sizes import awkward_sizes, describe, evaluate, evaluate_all, symbols


@pytest.mark.parametrize(
    ("expression", "value"),
    [("n", 5), ("m*k", 6), ("n+1", 6), ("2*n", 10), ("2*n+m*k+3", 19), ("7", 7), ("n*n*n", 125)],
)
def test_evaluate(expression: str, value: int) -> None:
    assert evaluate(expression, {"n": 5, "m": 2, "k": 3}) == value


@pytest.mark.parametrize("bad", ["", "n+", "*n", "n-1", "n//2", "(n)", "n**2", "2n", "n;m", "ñ"])
def test_text_that_is_no_size(bad: str) -> None:
    with pytest.raises(ValueError, match="size expression"):
        evaluate(bad, {"n": 5, "m": 2})


def test_unknown_symbol_is_named() -> None:
    with pytest.raises(ValueError, match="no size is called 'q'"):
        evaluate("n+q", {"n": 1})


def test_symbols_and_tuples() -> None:
    assert symbols("2*n+m*k+3") == {"n", "m", "k"}
    assert evaluate_all(["n", "n+1"], {"n": 3}) == (3, 4)


def entry(symbol: str, value: int, least: int = 1, multiple_of: int = 1) -> dict[str, Any]:
    return {"symbol": symbol, "value": value, "min": least, "multiple_of": multiple_of}


def test_shapes_of_a_plain_row() -> None:
    shapes = awkward_sizes([entry("m", 8), entry("n", 16)])
    assert shapes == [{"m": 8, "n": 16}, {"m": 1, "n": 1}, {"m": 13, "n": 19}]
    assert [describe(shape) for shape in shapes] == ["m=8,n=16", "m=1,n=1", "m=13,n=19"]


def test_equal_shapes_are_listed_once() -> None:
    assert awkward_sizes([]) == [{}]
    assert awkward_sizes([entry("n", 1)]) == [{"n": 1}, {"n": 251}]


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=6
    )
)
@example([(16, 3, 1), (16, 3, 5)])
def test_shapes_respect_their_limits(drawn: list[tuple[int, int, int]]) -> None:
    entries = [
        entry(f"s{i}", multiple * (-(-least // multiple) + more), least, multiple)
        for i, (least, multiple, more) in enumerate(drawn)
    ]
    shapes = awkward_sizes(entries)
    assert shapes[0] == {e["symbol"]: e["value"] for e in entries}
    for shape in shapes:
        for e in entries:
            assert shape[e["symbol"]] >= e["min"]
            assert shape[e["symbol"]] % e["multiple_of"] == 0
    # the shape of different primes is listed first when it is the row's own, else last
    primes = [
        {s[e["symbol"]] // e["multiple_of"] for e in entries} for s in (shapes[0], shapes[-1])
    ]
    assert any(len(found) == len(entries) and all(map(_is_prime, found)) for found in primes)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, number))
