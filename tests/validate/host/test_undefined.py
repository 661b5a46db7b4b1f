"""What C++ leaves open ends a launch; warps vote, match and reduce as on a device."""

from __future__ import annotations

import numpy as np
import pytest
from host_texts import Host, text


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


UNDEFINED = {
    "float4 at an odd place": "float4 v = *(const float4*)(x + 1); out[i] = v.x > 0.0f;",
    "int4 at an odd place": "int4 v = *reinterpret_cast<const int4*>(x + 2); out[i] = v.y;",
    "float4 written at an odd place": "if (t == 0) *(float4*)(out + 1) = make_float4(1, 2, 3, 4);",
    "double2 at an odd place": "double2 v = *(const double2*)(x + 2); out[i] = v.x > 0.0;",
    "double at an odd place": "double v = *(const double*)(x + 1); out[i] = v > 0.0;",
    "int2 at an odd place": "int2 v = ((const int2*)(x + 1))[0]; out[i] = v.x;",
    "int at an odd byte": "out[i] = *(const int*)((const char*)x + 1);",
    "short at an odd byte": "out[i] = *(const short*)((const char*)x + 3);",
    "a float4 of shared memory": (
        "__shared__ float s[72]; s[t] = 1.0f; __syncthreads();"
        "float4 v = *(float4*)(s + 1); out[i] = v.x > 0;"
    ),
    "a shift by 32": "out[i] = x[i] << (32 + n - 64);",
    "a shift by more": "out[i] = 1u >> (n + 1);",
    "a shift by less than nothing": "out[i] = 1 << (t - n);",
    "a shift of 64 bits": "out[i] = (int)(1ull << n);",
    "a large float to an int": "out[i] = (int)(3e9f + x[i]);",
    "NaN to an int": "out[i] = (int)sqrtf(-1.0f - x[i]);",
    "a negative float to an unsigned": "out[i] = (unsigned int)(-2.0f - x[i]);",
    "a large float to a byte": "out[i] = (unsigned char)(300.0f + x[i]);",
    "a division by zero": "out[i] = n / (x[i] - t);",
    "a remainder by zero": "out[i] = n % (x[i] - t);",
    "an index past a local array": "int v[8]; v[t] = 1; out[i] = v[0];",
    "an index before a local array": "int v[8]; v[7 - t] = 1; out[i] = v[0];",
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_left_open_ends_the_launch(host: Host, name: str) -> None:
    found, reason, _ = host.run(text(UNDEFINED[name]))
    assert found == "undefined", (found, reason)
    assert reason


def test_a_missing_return_ends_the_launch(host: Host) -> None:
    before = "__device__ int f(int a) { if (a < 60) return a; }"
    found, reason, _ = host.run(text("out[i] = f(t);", before))
    assert (found, "must return" in reason) == ("undefined", True)
    assert host.status(text("out[i] = f(t / 2);", before)) == "ran"


DEFINED = {
    "float4 in its place": ("out[i] = (int)((const float4*)x)[t % 4].y * 0 + 4;", 4),
    "int4 in its place": ("out[i] = ((const int4*)x)[3].z;", 14),
    "bytes anywhere": ("out[i] = ((const signed char*)x)[4];", 1),
    "a shift by 31": ("out[i] = 1u << 31 == 0x80000000u;", 1),
    "a funnel shift by 32": ("out[i] = __funnelshift_lc(5, 0, 32) == 5;", 1),
    "a rounded large float": ("out[i] = __float2int_rz(3e9f) == 2147483647;", 1),
    "a rounded NaN": ("out[i] = __float2int_rn(0.0f / (x[i] - t));", 0),
    "a float divided by zero": ("out[i] = isinf(1.0f / (x[i] - t));", 1),
    "signs that wrap": ("out[i] = (unsigned)(x[i] - t) - 1u == 0xffffffffu;", 1),
}


@pytest.mark.parametrize("name", DEFINED)
def test_what_a_device_defines_runs(host: Host, name: str) -> None:
    body, want = DEFINED[name]
    found, reason, out = host.run(text(body))
    assert (found, reason) == ("ran", "")
    assert out is not None
    assert set(out.tolist()) == {want}


LANE = np.arange(64) % 32
WARP = np.arange(64) // 32


VOTES = {
    "activemask of all": ("out[i] = (int)__activemask();", np.full(64, -1)),
    "activemask in a branch": (
        "if (t % 32 < 5) out[i] = (int)__activemask(); else out[i] = 7;",
        np.where(LANE < 5, 31, 7),
    ),
    "activemask of both sides": (
        "out[i] = t % 2 ? (int)__activemask() : (int)__activemask();",
        np.where(LANE % 2, 0xAAAAAAAA, 0x55555555),
    ),
    "activemask in a loop": (
        "int c = 0; for (int k = 0; k < t % 32 + 1; ++k) c = (int)__activemask(); out[i] = c;",
        np.array([(-1 << k) for k in LANE]),
    ),
    "match_any": (
        "out[i] = (int)__match_any_sync(0xffffffff, t % 3);",
        np.array(
            [
                sum(1 << j for j in range(32) if (32 * w + j) % 3 == (32 * w + k) % 3)
                for w, k in zip(WARP.tolist(), LANE.tolist(), strict=True)
            ]
        ),
    ),
    "match_any of part": (
        "if (t % 32 < 16) out[i] = (int)__match_any_sync(0xffff, t % 2); else out[i] = 0;",
        np.where(LANE < 16, np.where(LANE % 2, 0xAAAA, 0x5555), 0),
    ),
    "match_all": (
        "int same; unsigned m = __match_all_sync(0xffffffff, t / 32, &same);"
        "out[i] = same + (m != 0);",
        np.full(64, 2),
    ),
    "reduce_add": ("out[i] = __reduce_add_sync(0xffffffff, t);", 496 + 1024 * WARP),
    "reduce_add of part": (
        "out[i] = t % 32 < 8 ? __reduce_add_sync(0xff, t % 32) : -5;",
        np.where(LANE < 8, 28, -5),
    ),
    "reduce_max": ("out[i] = __reduce_max_sync(0xffffffff, -t);", -32 * WARP),
    "reduce_min": ("out[i] = __reduce_min_sync(0xffffffff, 3u + t);", 3 + 32 * WARP),
    "reduce_and": ("out[i] = __reduce_and_sync(0xffffffff, 0xf0u | t % 2);", np.full(64, 0xF0)),
    "reduce_or": ("out[i] = __reduce_or_sync(0xffffffff, 1u << (t % 4));", np.full(64, 15)),
    "reduce_xor": (
        "out[i] = __reduce_xor_sync(0xffffffff, t % 32 == 3 ? 9u : 0u);",
        np.full(64, 9),
    ),
    "ballot": ("out[i] = (int)__ballot_sync(0xffffffff, t % 32 < 3);", np.full(64, 7)),
}


@pytest.mark.parametrize("name", VOTES)
def test_warps_vote_and_reduce(host: Host, name: str) -> None:
    body, want = VOTES[name]
    found, reason, out = host.run(text(body))
    assert (found, reason) == ("ran", "")
    assert out is not None
    wanted = np.asarray(want).astype(np.int64) & 0xFFFFFFFF
    assert (out.astype(np.int64) & 0xFFFFFFFF).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "body",
    [
        "out[i] = (int)__match_any_sync(0xff, t);",
        "if (t == 40) return; out[i] = __shfl_sync(0xffffffff, t, 8);",
        "out[i] = t % 2 ? __shfl_sync(0xffffffff, t, 0) : __shfl_sync(0xffffffff, t, 0);",
    ],
)
def test_lanes_that_do_not_come_are_a_bad_sync(host: Host, body: str) -> None:
    assert host.status(text(body)) == "bad_sync"
