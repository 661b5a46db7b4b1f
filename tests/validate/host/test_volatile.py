"""Volatile reads beside what other threads do: as relaxed loads, they may meet atomics alone."""

from __future__ import annotations

import pytest
from host_texts import Host, text


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


LEAST = "__device__ int least = 1000000;"
LOOK_FIRST = """
    if (x[i] < KIND&least) { atomicMin(&least, x[i]); }
    out[i] = x[i];
"""


def test_a_volatile_look_before_an_atomic_is_no_race(host: Host) -> None:
    body = LOOK_FIRST.replace("KIND", "*(volatile int*)")
    status, reason, _ = host.run(text(body, LEAST), grid=3)
    assert (status, reason) == ("ran", "")


def test_a_plain_look_before_an_atomic_is_one(host: Host) -> None:
    body = LOOK_FIRST.replace("KIND", "*")
    assert host.status(text(body, LEAST), grid=3) == "data_race"


LOOK = "int seen = *(volatile int*)&out[0];"


@pytest.mark.parametrize(
    "body",
    [
        f"{LOOK} if (i == 70) {{ out[0] = 5; }} else {{ out[i == 0 ? 1 : i] = seen; }}",
        f"if (i == 0) {{ out[0] = 5; }} {LOOK} if (i > 0) {{ out[i] = seen; }}",
    ],
    ids=["before", "behind"],
)
def test_a_volatile_look_at_what_another_writes_is_one(host: Host, body: str) -> None:
    assert host.status(text(body), grid=2) == "data_race"


def test_volatile_and_plain_reads_may_meet(host: Host) -> None:
    body = "out[i] = i % 2 ? x[0] : *(const volatile int*)&x[0];"
    assert host.status(text(body), grid=2) == "ran"
