"""A text's own variables: races on them, what runs past them, constants, shared memory, links."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from host_texts import Host, text

from validate.host import clang
from validate.host.objects import ObjectFile
from validate.text import plain_host
from validate.text.plain_host import section_name


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize(
    ("status", "before", "body"),
    [
        ("data_race", "__device__ int v;", "v = t; out[i] = 0;"),
        ("data_race", "__device__ int v;", "if (t == 0) v = 1; out[i] = v;"),
        ("data_race", "__device__ int v = 3;", "if (t == 5) v = 1; out[i] = v;"),
        ("data_race", "", "static int v; v = t; out[i] = 0;"),
        ("data_race", "", "static int v = 7; if (t == 0) v = 1; out[i] = v;"),
        ("data_race", "namespace { __device__ int v; }", "v += 1; out[i] = 0;"),
        ("data_race", "struct S { int a; }; __device__ S s[2];", "s[1].a = t; out[i] = 0;"),
        ("data_race", "__device__ int v;", "atomicAdd(&v, 1); if (t == 0) out[0] = v;"),
        ("ran", "__device__ int v;", "atomicAdd(&v, 1); __syncthreads(); out[i] = v;"),
        ("ran", "__device__ int v[64];", "v[t] = t; out[i] = v[t];"),
        ("ran", "__device__ int v;", "if (t == 0) v = 1; __syncthreads(); out[i] = v;"),
        ("ran", "__device__ int v = 3;", "out[i] = v;"),
        ("ran", "__constant__ int c[4] = {1, 2, 3, 4};", "out[i] = c[t % 4];"),
        ("ran", "", "const int c[4] = {1, 2, 3, 4}; out[i] = c[t % 4];"),
        ("ran", "", "static const float c[3] = {1.5f, 2.f, 3.f}; out[i] = (int)c[t % 3];"),
        ("ran", "__device__ const int c[] = {1, 2, 3};", "out[i] = c[t % 3];"),
        ("ran", "constexpr int c[] = {1, 2, 3};", "out[i] = c[t % 3];"),
    ],
)
def test_variables_are_watched(host: Host, status: str, before: str, body: str) -> None:
    found, reason, _ = host.run(text(body, before))
    assert found == status, reason


ONE = pytest.mark.xfail(strict=True, reason="no gap between variables of one declaration")
PAST = ("read_out_of_bounds", "wrote_out_of_bounds", "undefined")


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("__device__ int v[64];", "v[t + 1] = t; out[i] = 0;"),
        ("__device__ int v[64];", "int* p = v; p[t + 1] = t; out[i] = 0;"),
        ("__device__ int v[64];", "int* p = v; out[i] = p[t + 64];"),
        ("__device__ int v[64];", "int* p = v; out[i] = p[t - 1];"),
        pytest.param("__device__ int v[64], w[64];", "int* p = v; out[i] = p[t + 64];", marks=ONE),
        ("__device__ int v[64]; __device__ int w[64];", "int* p = v; p[t + 64] = 1; out[i] = 0;"),
        ("__device__ int v[2] = {1, 2};", "int* p = v; out[i] = p[t];"),
        ("__constant__ int v[2] = {1, 2};", "const int* p = v; out[i] = p[2 + t];"),
        ("", "__shared__ int s[(64)]; s[t + 1] = 1; out[i] = 0;"),
        ("", "__shared__ int s[64]; int* p = s; p[t + 1] = 1; out[i] = 0;"),
        pytest.param(
            "",
            "__shared__ int s[64], r[64]; r[t] = 0; int* p = s; p[t + 64] = 1; out[i] = 0;",
            marks=ONE,
        ),
        ("", "__shared__ int s[8][8]; int* p = &s[7][7]; p[1 + t] = 3; out[i] = 0;"),
        ("", "int v[4] = {1, 2, 3, 4}; out[i] = v[t % 5];"),
    ],
)
def test_what_runs_past_a_variable_is_seen(host: Host, before: str, body: str) -> None:
    found, reason, _ = host.run(text(body, before))
    assert found in PAST, (found, reason)
    assert reason


def test_shared_memory_holds_nothing_until_it_is_written(host: Host) -> None:
    body = "__shared__ int s[64]; out[i] = s[t];"
    found, reason, _ = host.run(text(body))
    assert (found, "nobody has written" in reason) == ("read_out_of_bounds", True)
    # Nor does the next block find what the one before it wrote.
    body = "__shared__ int s[64]; if (blockIdx.x == 0) s[t] = 1; __syncthreads(); out[i] = s[t];"
    assert host.status(text(body), grid=1) == "ran"
    assert host.status(text(body), grid=2) == "read_out_of_bounds"


def test_a_block_may_end_on_a_read_of_shared_memory(host: Host) -> None:
    """As in NVIDIA's threadFenceReduction: the last thing that a thread does is such a read."""
    body = (
        "__shared__ bool last; if (t == 0) last = atomicAdd(&counter, 1u) == gridDim.x - 1;"
        "__syncthreads(); if (last && n < 0) out[i] = 1;"
    )
    before = "__device__ unsigned int counter;"
    for block in (1, 64, 96):
        assert host.status(text(body, before), grid=7, block=block) == "ran"


@pytest.mark.parametrize(
    ("asked", "status"),
    [(256, "ran"), (260, "ran"), (252, "wrote_out_of_bounds"), (0, "wrote_out_of_bounds")],
)
def test_dynamic_shared_memory_is_what_was_asked_for(host: Host, asked: int, status: str) -> None:
    body = "extern __shared__ int s[]; s[t] = x[i]; __syncthreads(); out[i] = s[63 - t];"
    assert host.status(text(body), shared=asked) == status
    body = body.replace("s[]", "__align__(16) s[]")
    bytes_of = body.replace("int __align__(16) s[]", "__align__(16) unsigned char raw[]").replace(
        "; s[t]", "; int* s = (int*)raw; s[t]"
    )
    assert host.status(text(bytes_of), shared=asked) == status


def test_dynamic_and_static_shared_memory_do_not_meet(host: Host) -> None:
    body = (
        "extern __shared__ int d[]; __shared__ int s[64]; s[t] = 1; d[t] = 2; out[i] = s[t] + d[t];"
    )
    assert host.status(text(body), shared=256) == "ran"
    assert host.status(text(body.replace("d[t] = 2", "d[t + 1] = 2")), shared=256) in PAST


@pytest.mark.parametrize(
    "before",
    [
        'extern "C" __device__ int getpid();',
        'extern "C" __device__ int PyRun_SimpleString(const char*);',
        "__device__ int getpid();",
    ],
)
def test_a_symbol_that_is_not_on_the_list_is_not_linked(host: Host, before: str) -> None:
    call = 'PyRun_SimpleString("")' if "Py" in before else "getpid()"
    with pytest.raises(clang.CompileError, match=r"nothing of the name \S*(getpid|PyRun)"):
        host.run(text(f"out[i] = {call};", before))
    assert host.status(text("out[i] = (int)sinf(x[i]) + (int)log1pf(2.0f);")) == "ran"


def test_too_many_variables_are_refused(host: Host) -> None:
    with pytest.raises(clang.CompileError, match=r"variables of 2\d+ bytes"):
        host.run(text("big[i] = 1;", "__device__ int big[5000000];"))


def test_an_object_says_what_it_holds(host: Host, tmp_path: Path) -> None:
    before = "__device__ int zeros[10]; __device__ int ones[3] = {1, 1, 1}; __device__ char last;"
    body = "__shared__ float s[5]; s[t] = zeros[0] + ones[1] + last; __sincosf(s[t], &s[1], &s[2]);"
    row = {"cuda_plain": text(body, before), "kernels": ["k"]}
    path = tmp_path / "one.o"
    (layout,) = host.linker.build([row], path)
    assert layout.inside[0].sum() == 5 * 4
    assert sum(int(inside.sum()) for inside in layout.inside[1:]) == 10 * 4 + 3 * 4 + 1
    # Between variables lie gaps, of which nothing belongs to the text.
    assert all(inside.size > inside.sum() for inside in layout.inside[:3])
    linked = ObjectFile(path.read_bytes())
    found = ObjectFile(path.read_bytes()).variables(section_name("bss", 0))
    own = [v for v in found if "pairsmith_gap_" not in v.name]
    assert [v.size for v in own] == [40, 1]
    assert all(a.start + a.size <= b.start for a, b in pairwise(found))
    assert linked.section_bytes("no such section") == 0
    assert linked.variables("no such section") == []
    missing = [name for name in linked.undefined if "pairsmith_s" not in name]
    assert not [name for name in missing if name.startswith(("__tsan", "__sanitizer", "__ubsan"))]


def test_what_is_no_object_is_refused() -> None:
    for data in (b"", b"\x7fELF", b"MZ" + bytes(100), b"\x7fELF\x01\x01" + bytes(100)):
        with pytest.raises(ValueError, match="ELF-64"):
            ObjectFile(data)


def test_gaps_follow_variables_and_nothing_else() -> None:
    text_of = text(
        "__shared__ int s[4]; s[t] = 1;",
        "__device__ int f(int a) { return a; } __device__ int v = 3; // __device__ int w;\n",
    )
    unit = plain_host.translation_unit([{"cuda_plain": text_of, "kernels": ["k"]}])
    body = unit.split('#line 1 "cuda_plain"')[1].split("#line")[0]
    assert body.count("pairsmith_gap_1[") == 1
    assert "f(int a) { return a; } __device__ int v = 3; static" in body
    assert "__shared__ int s[4]; static" in body
