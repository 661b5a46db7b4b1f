"""Choices that are spread evenly over the draws of a dataset."""

from __future__ import annotations

from collections import Counter

import pytest

from generators.build.draw import Draw, Spread, Stream

ODDS = {"common": 6, "rare": 3, "rarer": 1, "never": 0}


def _run(stream: Stream) -> tuple[int, bool, str]:
    """One of five, then one to three, then by weights."""
    return stream.integer(3, 7), stream.chance(0.25), stream.weighted(ODDS)


def _runs(key: str, count: int) -> Counter[tuple[int, bool, str]]:
    return Counter(_run(Spread(key, index)) for index in range(count))


@pytest.mark.parametrize("key", ["1/vector/0/shape", "2/vector/0/shape", "1/math/0/shape"])
@pytest.mark.parametrize("count", [40, 333, 2000])
def test_every_run_of_choices_comes_as_often_as_its_odds_say(key: str, count: int) -> None:
    found = _runs(key, count)
    for number in range(3, 8):
        for taken, share in ((True, 0.25), (False, 0.75)):
            for name, weight in ODDS.items():
                expected = count / 5 * share * weight / 10
                assert abs(found[number, taken, name] - expected) < 3, (number, taken, name)


def test_where_there_are_more_runs_than_draws_hardly_one_comes_twice() -> None:
    count, kinds = 400, 1600

    def distinct(streams: list[Stream]) -> int:
        return len({(s.integer(1, 20), s.integer(1, kinds // 20)) for s in streams})

    assert distinct([Spread("a", index) for index in range(count)]) == count
    assert distinct([Stream(f"a/{index}") for index in range(count)]) < 0.95 * count


def test_a_stream_goes_on_when_its_point_is_used_up() -> None:
    draws = [Draw(7, "math", index, 0).shape for index in range(200)]
    for stream in draws:
        for _ in range(40):
            stream.integer(0, 9)
    later = Counter(stream.integer(0, 9) for stream in draws)
    assert set(later) == set(range(10))
    assert max(later.values()) < 45
    assert 30 < sum(stream.chance(0.3) for stream in draws) < 90


def test_certain_choices_use_nothing_up() -> None:
    once, again = Spread("key", 5), Spread("key", 5)
    assert [once.chance(1.0), once.chance(0.0)] == [True, False]
    assert once.weighted({"only": 3, "none": 0}) == "only"
    assert [once.integer(0, 999) for _ in range(5)] == [again.integer(0, 999) for _ in range(5)]


def test_attempts_seeds_and_categories_share_no_points() -> None:
    places = [(7, "math", 3, 0), (8, "math", 3, 0), (7, "vector", 3, 0), (7, "math", 3, 1)]
    assert len({Draw(*place).shape.integer(0, 10**9) for place in places}) == len(places)
    assert Draw(*places[0]).shape.integer(0, 10**9) == Draw(*places[0]).shape.integer(0, 10**9)
