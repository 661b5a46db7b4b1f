"""How often a launch is timed: less often the longer it takes."""

from __future__ import annotations

import pytest

from validate.gpu.bench import _repeated


@pytest.mark.parametrize(
    ("time_us", "launches", "kept"), [(10.0, 24, 21), (60_000.0, 8, 5), (1_500_000.0, 3, 2)]
)
def test_long_launches_repeat_less(time_us: float, launches: int, kept: int) -> None:
    asked: list[int] = []

    def once(number: int) -> float:
        asked.append(number)
        return time_us

    assert _repeated(once) == [time_us] * kept
    assert asked == list(range(launches))
