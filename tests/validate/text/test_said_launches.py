"""Launches that are said in Markdown or by host code with helpers of its own."""

from __future__ import annotations

import pytest
from judge_texts import judge_rows

from validate.text.answer import read_answer
from validate.text.completion import code_launch
from validate.text.formula import evaluate
from validate.text.host_functions import functions_of
from validate.text.layout import sizes_of
from validate.text.lexer import brackets, lex
from validate.text.toplevel import declarations

ROW = judge_rows()["6a968701bfd1c576"]
KERNEL = (
    "__global__ void k(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)"
    " { }\n"
)


def extents(text: str, n: int) -> tuple[int, int, int]:
    """Grid, block and shared bytes of a text's launch at a size."""
    reading = read_answer(text, ROW)
    assert reading.launch is not None, reading.problem
    shared = reading.launch["shared_bytes"]
    said = (reading.launch["grid"][0], reading.launch["block"][0], shared)
    grid, block, shared = (evaluate(one, {"n": n}) for one in said)
    return grid, block, shared


@pytest.mark.parametrize(
    ("host", "n", "wanted"),
    [
        ("int g = n / 256; if (n % 256 != 0) g++; k<<<g, 256>>>(0, 0, 0, n);", 257, (2, 256, 0)),
        ("int g = n / 256; if (n % 256 != 0) g++; k<<<g, 256>>>(0, 0, 0, n);", 256, (1, 256, 0)),
        ("int g = n / 64; g += 2; k<<<g, 64>>>(0, 0, 0, n);", 130, (4, 64, 0)),
        ("k<<<(n + C::T - 1) / C::T, C::T>>>(0, 0, 0, n);", 193, (2, 192, 0)),
        ("k<<<blocks_for(n), 128>>>(0, 0, 0, n);", 0, (1, 128, 0)),
        ("k<<<blocks_for(n), 128>>>(0, 0, 0, n);", 129, (2, 128, 0)),
        ("k<<<1, 32, n * sizeof(Voice)>>>(0, 0, 0, n);", 10, (1, 32, 120)),
        ("k<<<1, 32, n * sizeof(real)>>>(0, 0, 0, n);", 10, (1, 32, 80)),
    ],
)
def test_host_code_is_followed(host: str, n: int, wanted: tuple[int, int, int]) -> None:
    before = (
        "struct C { static constexpr int T = 192; };\n"
        "struct Voice { float p, d; int g; };\nusing real = double;\n"
        "int blocks_for(int n) { const int t = 128; if (n == 0) return 1; "
        "return (n + t - 1) / t; }\n"
    )
    assert extents(f"{before}{KERNEL}void go(int n) {{ {host} }}\n", n) == wanted


@pytest.mark.parametrize("host", ["for (;;) g++;", "while (n > g) { g += 1; }"])
def test_a_count_that_a_loop_changes_is_not_understood(host: str) -> None:
    text = f"{KERNEL}void go(int n) {{ int g = 1; {host} k<<<g, 64>>>(0, 0, 0, n); }}\n"
    assert read_answer(text, ROW).status == "bad_launch"


@pytest.mark.parametrize(
    ("prose", "wanted"),
    [
        ("Launch it with grid `(n + 63) / 64`, block `64`.", (3, 64, 0)),
        ("Launch it with grid `(n + 63) / 64`, block `(64)`.", (3, 64, 0)),
        ("- **Grid**: `dim3((n + 63) / 64)`\n- **Block**: `64`\n- Shared: `4 * n`", (3, 64, 520)),
        ("A grid of `ceil(n / 64)` blocks with `64` threads each.", (3, 64, 0)),
        ("grid `(n + 63) / 64`, block `64` and `8 * n` bytes of shared memory", (3, 64, 1040)),
    ],
)
def test_code_spans_say_a_launch(prose: str, wanted: tuple[int, int, int]) -> None:
    assert extents(f"```cuda\n{KERNEL}```\n{prose}\n", 130) == wanted


def test_code_spans_that_are_no_sizes_say_nothing() -> None:
    reading = read_answer(f"```cuda\n{KERNEL}```\nThe grid has `gridDim.x` blocks of `b`.\n", ROW)
    assert (reading.launch, reading.status) == (None, "")
    assert code_launch("The grid is large.") is None


def test_structs_are_laid_out_as_in_c() -> None:
    text = (
        "struct A { char c; double d; short s; };\nstruct B { A a[2]; float3 v; };\n"
        "union U { float f; float4 v; };\ntypedef unsigned short half_t;\n"
        "struct alignas(16) Odd { float f; };\nstruct M { int f() const { return 1; } };\n"
    )
    tokens = lex(text)
    declared = declarations(tokens, brackets(tokens))
    assert sizes_of(tokens, declared) == {"A": 24, "B": 64, "U": 16, "half_t": 2}


def test_functions_with_loops_are_not_understood() -> None:
    tokens = lex("int f(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }\n")
    assert functions_of(tokens, declarations(tokens, brackets(tokens)))[0] == {}
