"""Arrays at chosen addresses: equal in every run, every bit of them seen both ways."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from validate.host.placed import PlacedArena

VALUES = {"x": np.arange(5, dtype=np.float32), "out": np.zeros(70_000, np.int32)}
_FIRST_BIT, _LAST_BIT = 20, 45

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux gives the places")


def addresses(number: int) -> list[int]:
    with PlacedArena(VALUES, number) as arena:
        arena.bytes_of("out")[:] = 7
        assert (arena.array("x") == VALUES["x"]).all()
        return [arena.address(name) for name in VALUES]


def test_a_launch_finds_its_arrays_where_they_were_before() -> None:
    assert addresses(0) == addresses(0) == addresses(2)
    assert addresses(1) == addresses(3)


def test_each_bit_of_an_address_is_seen_both_ways() -> None:
    for first, second in zip(addresses(0), addresses(1), strict=True):
        differ = first ^ second
        assert all(differ >> bit & 1 for bit in range(_FIRST_BIT, _LAST_BIT + 1))


def test_a_place_that_is_taken_costs_nothing_but_the_place() -> None:
    with PlacedArena(VALUES, 0) as first, PlacedArena(VALUES, 0) as second:
        assert first.address("x") != second.address("x")
        second.bytes_of("out")[:] = 7
        assert not first.array("out").any()
        assert not second.written_outside()
