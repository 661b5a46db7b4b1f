"""The part of a sweep that `make test` takes."""

from __future__ import annotations

import pytest
from sweeps import WHOLE, part_of

NAMES = [f"{kind}{number}" for kind in "abc" for number in range(40)] + ["d0"]


def _part(names: list[str], one_in: int) -> list[str]:
    return part_of(names, one_in, str, lambda name: name[0])


def test_a_part_has_every_kind_in_order_and_is_the_same_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(WHOLE, raising=False)
    part = _part(NAMES, 10)
    assert [name[0] for name in part] == [*"aaaabbbbccccd"]
    assert part == _part(NAMES, 10) == [name for name in NAMES if name in part]
    assert set(part) < set(_part(NAMES, 5))
    assert len({*_part([*NAMES, "a40"], 10)} - {*part}) <= 2


def test_the_whole_is_taken_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHOLE, "1")
    assert _part(NAMES, 10) == NAMES
