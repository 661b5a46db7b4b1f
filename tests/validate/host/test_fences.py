"""Fences and what they publish: messages, counters, locks, variables that threads share."""

from __future__ import annotations

import pytest
from host_texts import Host, text


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


FENCE = "__threadfence();"

# A block writes, counts itself, and the last to count reads what all have written.
LAST_BLOCK = """
    __shared__ bool last;
    if (t == 0) { partial[blockIdx.x] = x[i]; FENCE
        last = atomicAdd(&counter, 1u) == gridDim.x - 1; }
    __syncthreads();
    if (last && t == 0) { AFTER
        int sum = 0; for (int b = 0; b < gridDim.x; ++b) sum += partial[b]; out[0] = sum; }
"""
PARTIAL = "__device__ int partial[64]; __device__ unsigned int counter;"
# Every thread writes, the block meets, and its first thread fences and counts.
BY_BARRIER = """
    __shared__ bool last;
    many[i] = x[i];
    BEFORE
    __syncthreads();
    if (t == 0) { FENCE last = atomicAdd(&counter, 1u) == gridDim.x - 1; }
    __syncthreads();
    if (!last) return;
    AFTER
    int sum = 0; for (int k = t; k < n; k += blockDim.x) sum += many[k];
    atomicAdd(&out[0], sum + (t == 0));
"""
MANY = "__device__ int many[4096]; __device__ unsigned int counter;"
# A thread of each block takes a lock, changes what it protects, and gives it back.
LOCK = """
    if (t == 0) {
        while (atomicCAS(&held, 0, 1) != 0) {}
        TAKEN
        total = total + x[i];
        GIVEN
        atomicExch(&held, 0);
    }
"""
LOCKED = "__device__ int held; __device__ int total;"


def fill(body: str, **words: str) -> str:
    for word in ("FENCE", "AFTER", "BEFORE", "TAKEN", "GIVEN"):
        body = body.replace(word, words.get(word, ""))
    return body


def test_the_last_block_may_read_what_was_fenced(host: Host) -> None:
    body = fill(LAST_BLOCK, FENCE=FENCE, AFTER=FENCE)
    status, reason, out = host.run(text(body, PARTIAL), grid=5)
    assert (status, reason) == ("ran", "")
    assert out is not None
    assert out[0] == sum(range(0, 5 * 64, 64))


def test_without_the_fence_it_is_a_race(host: Host) -> None:
    body = fill(LAST_BLOCK, AFTER=FENCE)
    status, reason, _ = host.run(text(body, PARTIAL), grid=5)
    assert status == "data_race", reason
    # Of one block there is nobody to wait for.
    assert host.status(text(body, PARTIAL), grid=1) == "ran"


def test_a_fence_of_the_block_is_none_for_others(host: Host) -> None:
    body = fill(LAST_BLOCK, FENCE="__threadfence_block();", AFTER=FENCE)
    assert host.status(text(body, PARTIAL), grid=5) == "data_race"
    body = fill(LAST_BLOCK, FENCE="__threadfence_system();", AFTER=FENCE)
    assert host.status(text(body, PARTIAL), grid=5) == "ran"


def test_a_plain_counter_publishes_nothing(host: Host) -> None:
    body = fill(LAST_BLOCK, FENCE=FENCE, AFTER=FENCE)
    body = body.replace("atomicAdd(&counter, 1u)", "counter++")
    assert host.status(text(body, PARTIAL), grid=5) == "data_race"


def test_a_message_before_its_fence_is_a_race(host: Host) -> None:
    """The fence comes first and the write after it."""
    body = fill(LAST_BLOCK, AFTER=FENCE).replace(
        "partial[blockIdx.x]", f"{FENCE} partial[blockIdx.x]"
    )
    assert host.status(text(body, PARTIAL), grid=5) == "data_race"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ({"FENCE": FENCE, "AFTER": FENCE}, "ran"),
        ({"BEFORE": FENCE, "AFTER": FENCE}, "ran"),
        ({"AFTER": FENCE}, "data_race"),
        ({}, "data_race"),
    ],
    ids=["first thread fences", "every thread fences", "only the reader", "nobody"],
)
def test_a_barrier_hands_writes_to_who_publishes(
    host: Host, words: dict[str, str], status: str
) -> None:
    found, reason, out = host.run(text(fill(BY_BARRIER, **words), MANY), grid=3)
    assert found == status, reason
    if out is not None:
        # It starts at -1, and the first thread adds one.
        assert out[0] == sum(range(3 * 64))


def test_a_lock_holds_with_fences_and_not_without(host: Host) -> None:
    assert host.status(text(fill(LOCK, TAKEN=FENCE, GIVEN=FENCE), LOCKED), grid=4) == "ran"
    assert host.status(text(fill(LOCK, TAKEN=FENCE), LOCKED), grid=4) == "data_race"
    assert host.status(text(fill(LOCK), LOCKED), grid=4) == "data_race"


def test_a_lock_that_is_not_taken_protects_nothing(host: Host) -> None:
    body = fill(LOCK, TAKEN=FENCE, GIVEN=FENCE).replace("while (", "if (n < 0) while (")
    assert host.status(text(body, LOCKED), grid=4) == "data_race"


def test_a_wait_for_a_later_block_never_ends_and_is_told(host: Host) -> None:
    body = "if (blockIdx.x == 0) { while (atomicAdd(&counter, 0u) == 0) {} } else if (t == 0) "
    body += "atomicAdd(&counter, 1u);"
    assert host.status(text(body, MANY), grid=2) == "timeout"


# What nobody has written yet may show before the race does.
NOT_MET = ("data_race", "read_out_of_bounds")


def test_lanes_see_each_others_writes_after_a_meeting(host: Host) -> None:
    body = "__shared__ int s[64]; s[t] = x[i]; MEET out[i] = s[t ^ 1];"
    assert host.status(text(body.replace("MEET", "__syncwarp();"))) == "ran"
    assert host.status(text(body.replace("MEET", "__syncthreads();"))) == "ran"
    assert host.status(text(body.replace("MEET", ""))) in NOT_MET
    far = body.replace("t ^ 1", "t ^ 32")
    assert host.status(text(far.replace("MEET", "__syncthreads();"))) == "ran"
    assert host.status(text(far.replace("MEET", "__syncwarp();"))) in NOT_MET
