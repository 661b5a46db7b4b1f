"""How often a launch is timed: less often the longer it takes."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from validate.gpu import bench
from validate.gpu.bench import Turn, _repeated, device_times


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


def test_what_works_in_place_is_restored_for_who_shares_its_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a GPU: the calls in their order, of which a launch sorts and a restore unsorts."""
    runtime = SimpleNamespace(
        getDevice=lambda: 0,
        getDeviceProperties=lambda _device: {"l2CacheSize": 1},
        deviceSynchronize=lambda: None,
    )
    event = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    cuda = SimpleNamespace(
        runtime=runtime, Event=lambda: event, get_elapsed_time=lambda _start, _end: 0.001
    )
    cupy = SimpleNamespace(
        cuda=cuda, uint8=None, empty=lambda *_: SimpleNamespace(fill=lambda _byte: None)
    )
    monkeypatch.setattr(bench, "load_cupy", lambda: cupy)
    monkeypatch.setattr(bench, "failures", lambda _cupy: nullcontext())
    monkeypatch.setattr(bench, "stream_of", lambda _device: nullcontext())
    array, met = [2, 1], []

    def work() -> None:
        met.append(list(array))
        array.sort()

    assert len(device_times([Turn(lambda: array.__setitem__(slice(None), [2, 1]), work)])) == 21
    assert array == [2, 1]
    assert met == [[2, 1]] * 24
