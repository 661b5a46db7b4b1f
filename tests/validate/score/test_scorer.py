"""The scorer: each way of being wrong has its verdict, and what is right passes however written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from score_rows import (
    NOTHING,
    PER_THREAD,
    RIGHT,
    STORE,
    Row,
    cube_row,
    cube_verdict,
    kernel,
)

from validate.row.sizes import own_sizes
from validate.score.scorer import Scorer
from validate.statuses import ScoreStatus
from validate.text.launches import launch_problem


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer(hidden_seed=11) as found:
        yield found


@pytest.fixture(scope="module")
def row() -> Row:
    return cube_row()


NEIGHBOUR = (
    "__shared__ float s[64]; const int t = threadIdx.x; s[t] = i < n ? a[i] : 0.0f;"
    "if (i < n) out[i] = halve(s[t > 0 ? t - 1 : 0] * 0.0f + a[i], steps);"
)
PAIR = "float2 d = *(const float2*)(a + i); if (d.x == -3.5f) return;"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("passed", STORE),
        ("passed", f"if (n > 2000000000) return; {STORE}"),
        ("wrong_value", NOTHING),
        ("wrong_value", "if (i < n) out[i] = a[i];"),
        ("wrong_value", "if (i < n && i < 64) out[i] = halve(a[i], steps);"),
        ("wrong_value", f"if (blockIdx.x == 0) {{ {STORE} }}"),
        ("wrong_value", "float more; if (i < n) out[i] = halve(a[i], steps) + more;"),
        ("wrong_value", "if (i < n) out[i] = halve(a[i], 8);"),
        ("data_race", "if (threadIdx.x < n) out[threadIdx.x] = halve(a[threadIdx.x], steps);"),
        ("data_race", NEIGHBOUR),
        ("read_out_of_bounds", f"if (a[i + 1] == 3.0f) return; {STORE}"),
        ("wrote_out_of_bounds", "out[i] = 0.0f;"),
        ("input_changed", f"{STORE} if (i == 0) ((float*)a)[i] += 1.0f;"),
        ("timeout", "while (n > 0) { out[0] = a[0]; }"),
        ("timeout", "for (;;) {}"),
        ("crashed", f"*(volatile int*)0 = 1; {STORE}"),
        ("crashed", f"((void (*)())0x10)(); {STORE}"),
        ("crashed", f"if (i == 3) __trap(); {STORE}"),
        ("bad_sync", f"if (i % 2) __syncthreads(); {STORE}"),
        ("bad_sync", f"if (i >= n) return; __syncthreads(); {STORE}"),
        ("undefined", f"if (i + 1 < n) {{ {PAIR} }} {STORE}"),
        ("undefined", f"if ((1 << (steps + 30)) == 77) return; {STORE}"),
        ("undefined", f"if ((int)(a[0] * 1e30f) == 77) return; {STORE}"),
        ("undefined", f"if (n / (i - i) == 77) return; {STORE}"),
        ("undefined", f"int f[4]; f[i % 5] = 3; if (f[0] == 77) return; {STORE}"),
        ("unseen_branch", f"if (n > 4000000) return; {STORE}"),
        ("unseen_branch", f"if (n > 300000) {{ out[0] = 0.0f; return; }} {STORE}"),
        ("compile_error", f"float f = undeclared; {STORE}"),
        ("compile_error", f"float tmp[steps]; tmp[0] = a[0]; if (tmp[0] == 0.0f) return; {STORE}"),
        (
            "bad_launch",
            "__shared__ float s[12289]; for (int k = threadIdx.x; k < 12289; k += 64) s[k] = a[0];"
            f"__syncthreads(); if (s[i % 64 + 9] == 77.0f) return; {STORE}",
        ),
    ],
)
def test_each_wrong_kernel_has_its_verdict(scorer: Scorer, status: str, body: str) -> None:
    found = cube_verdict(scorer, body)
    assert found.status == status, found
    assert found.status in {*ScoreStatus}
    assert bool(found.reason) == (status != "passed")


def test_a_far_read_ends_or_is_seen(scorer: Scorer) -> None:
    for distance in (100_000, 100_000_000):
        found = cube_verdict(scorer, f"if (a[i + {distance}] == 3.0f) return; {STORE}")
        assert found.status in ("crashed", "read_out_of_bounds"), found


def test_a_function_without_its_return_is_undefined(scorer: Scorer) -> None:
    before = "__device__ int three(int i) { if (i < 0) return 3; }"
    assert cube_verdict(scorer, f"if (three(i) == 77) return; {STORE}", before).status == (
        "undefined"
    )


def test_a_failed_assertion_ends_the_kernel(scorer: Scorer) -> None:
    header = "\n#include <assert.h>\n"
    assert cube_verdict(scorer, f"assert(i < 0); {STORE}", header).status == "crashed"
    assert cube_verdict(scorer, f"assert(i >= 0); {STORE}", header).passed


def test_a_wrong_value_comes_with_a_counter_example(scorer: Scorer, row: Row) -> None:
    found = cube_verdict(scorer, "if (i < n) out[i] = i == 3 ? 7.5f : halve(a[i], steps);")
    example = found.counter_example
    assert example is not None
    assert (example.output, example.index, example.got) == ("x_out", (3,), 7.5)
    assert example.sizes["n"] != own_sizes(row["sizes"])["n"]
    assert 0.0 <= float(example.want) <= 3.0


HOSTILE = {
    "asm that prints": kernel('asm volatile("syscall"); ' + STORE),
    "asm behind a string": kernel(f'const char* s = "//"; asm("syscall"); {STORE}'),
    "asm behind a digit separator": kernel("int q = 1'0; asm(\"nop\"); int r = 1'0;" + STORE),
    "pasted names": kernel(f"A(as, m)(0); {STORE}", "#define A(x, y) x##y" + RIGHT),
    "pasted by a digraph": kernel(STORE, "%:define A(x, y) x%:%:y" + RIGHT),
    "spliced": kernel('as\\\nm("nop"); ' + STORE),
    "spliced after blanks": kernel('as\\ \nm("nop"); ' + STORE),
    "a file of the host": '#include "/etc/passwd"\n' + kernel(STORE),
    "a file behind a form feed": '\f#include "/etc/passwd"\n' + kernel(STORE),
    "a file behind a return": 'int z;\r#include "/etc/passwd"\n' + kernel(STORE),
    "a file named by a macro": "#define F </etc/passwd>\n#include F\n" + kernel(STORE),
    "a question about a file": "#if __has_include(</etc/passwd>)\n#endif\n" + kernel(STORE),
    "code behind an include": "#include <math.h> // \\\nint asm_;\n" + kernel("asm(0);" + STORE),
    "the judge's names": kernel("pairsmith::watch = nullptr; " + STORE),
    "the judge's names by using": kernel(f"using namespace pairsmith; watch = 0; {STORE}"),
    "the judge's names without theirs": kernel(f"watch = nullptr; {STORE}"),
    "the judge's names by C's": kernel(f"pairsmith_plain_0(0, 0, 0); {STORE}"),
    "a jump to the scheduler": kernel("_longjmp(nullptr, 1); " + STORE),
    "another context": kernel("swapcontext(nullptr, nullptr); " + STORE),
    "the index changed": kernel("threadIdx.x = 0; " + STORE),
    "a pragma": "#pragma redefine_extname k printf\n" + kernel(STORE),
    "an attribute": kernel(STORE, "[[gnu::constructor]] __device__ void f() {}\n" + RIGHT),
    "an attribute of the compiler's": kernel(
        STORE, "__device__ __attribute__((constructor)) void f() { for (;;) {} }\n" + RIGHT
    ),
    "code before the kernel": kernel(
        STORE, "__device__ int g() { for (;;) {} }\n__device__ int v = g();\n" + RIGHT
    ),
    "out of the namespace": RIGHT + "}\nint printf(const char*);\nnamespace x {" + kernel(STORE),
    "nonsense": "x{9 #" * 20000,
    "long nonsense": "__global__ void k() " + "@!$ " * 4000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_not_run(scorer: Scorer, row: Row, name: str) -> None:
    found = scorer.score(HOSTILE[name], row, launch=PER_THREAD)
    assert found.status == "compile_error", found
    assert "error" in found.reason


@pytest.mark.parametrize("text", ["", "   \n", "int x;", "// __global__ void k() {}", "none"])
def test_no_kernel(scorer: Scorer, row: Row, text: str) -> None:
    assert scorer.score(text, row).status == "no_kernel"


@pytest.mark.parametrize("name", ["x", "barrier", "max", "solve_cube", "launch", "kernel", "watch"])
def test_the_kernel_may_have_any_name(scorer: Scorer, row: Row, name: str) -> None:
    body = "__shared__ float s[64]; s[threadIdx.x] = 0.0f; __syncthreads(); " + STORE
    text = kernel(body).replace("void k(", f"void {name}(")
    found = scorer.score(text, row, launch=PER_THREAD)
    assert found.passed, found
    plain = text.replace('extern "C" ', "")
    assert scorer.score("\ufeff" + plain, row, launch=PER_THREAD).passed


def test_names_of_the_judges_own_texts_are_free(scorer: Scorer, row: Row) -> None:
    for macro in ("#define barrier(x) watch\n", "#define watch nullptr\n", "#define touch 1\n"):
        assert scorer.score(kernel(STORE, macro + RIGHT), row, launch=PER_THREAD).passed


def test_a_kernel_may_be_declared_first(scorer: Scorer, row: Row) -> None:
    head = 'extern "C" __global__ void k(const float* a, float* out, int steps, int n);\n'
    assert scorer.score(head + kernel(STORE), row, launch=PER_THREAD).passed


def test_of_two_kernels_the_rows_name_decides_or_neither_runs(scorer: Scorer, row: Row) -> None:
    other = kernel(NOTHING, "").replace("void k(", "void other(")
    assert scorer.score(kernel(STORE) + other, row, launch=PER_THREAD).status == "no_kernel"
    named = kernel(STORE).replace("void k(", "void solve_cube(")
    assert scorer.score(named + other, row, launch=PER_THREAD).passed
    named = other.replace("void other(", "void solve_cube(")
    found = scorer.score(kernel(STORE) + named, row, launch=PER_THREAD)
    assert found.status == "wrong_value", found


def test_other_parameters_are_a_bad_signature(scorer: Scorer, row: Row) -> None:
    text = kernel(STORE).replace("steps)", "3)")
    for other in (text.replace("int steps, ", ""), text.replace("int steps", "double steps")):
        assert scorer.score(other, row, launch=PER_THREAD).status == "compile_error" or (
            scorer.score(other, row, launch=PER_THREAD).status == "bad_signature"
        )
    found = scorer.score('extern "C" __global__ void k(const float* a, double* out) {}', row)
    assert found.status == "bad_signature"


def test_a_crash_does_not_touch_the_neighbours(scorer: Scorer) -> None:
    wild = "for (long k = 0; k < 1l << 40; k += 64) ((char*)out)[k] = 0;"
    bodies = [STORE, wild, "for (;;) {}", STORE, wild, NOTHING, STORE]
    found = [cube_verdict(scorer, body).status for body in bodies]
    assert [found[k] for k in (0, 3, 6)] == ["passed"] * 3
    assert "passed" not in (found[1], found[2], found[4], found[5])


@pytest.mark.parametrize(
    ("asked", "status"), [(256, "passed"), ("64 * 4", "passed"), (252, "wrote_out_of_bounds")]
)
def test_shared_memory_that_was_not_asked_for_is_out_of_bounds(
    scorer: Scorer, row: Row, asked: Any, status: str
) -> None:
    body = "extern __shared__ float s[]; s[threadIdx.x] = i < n ? a[i] : 0.0f;"
    text = kernel(body + "if (i < n) out[i] = halve(s[threadIdx.x], steps);")
    found = scorer.score(text, row, launch={**PER_THREAD, "shared_bytes": asked})
    assert found.status == status, found


@pytest.mark.parametrize(
    "launch",
    [
        [],
        {"grid": [], "block": [64]},
        {"grid": "n", "block": [64]},
        {"grid": ["n"], "block": [64.0]},
        {"grid": ["n"], "block": [64], "shared_bytes": 1 << 20},
        {"grid": ["n"], "block": [64], "shared_bytes": True},
        {"grid": ["n"], "block": [2048]},
        {"grid": ["n"], "block": [1, 1, 256]},
        {"grid": ["1", "70000"], "block": [64]},
        {"grid": ["n -"], "block": [64]},
        {"grid": ["m"], "block": [64]},
        {"grid": ["__import__('os')"], "block": [64]},
        {"grid": ["n * 1000000"], "block": [64]},
        {"grid": ["(" * 5000 + "n" + ")" * 5000], "block": [64]},
    ],
    ids=range(14),
)
def test_a_launch_that_cannot_be(scorer: Scorer, row: Row, launch: Any) -> None:
    found = scorer.score(kernel(STORE), row, launch=launch)
    assert found.status == "bad_launch", found
    assert launch_problem(PER_THREAD) == ""


def test_more_threads_than_the_text_promises_are_a_bad_launch(scorer: Scorer, row: Row) -> None:
    text = kernel(STORE).replace("void k(", "void __launch_bounds__(63) k(")
    assert scorer.score(text, row, launch=PER_THREAD).status == "bad_launch"
    assert scorer.score(text.replace("(63)", "(64)"), row, launch=PER_THREAD).passed
