"""The scorer: own texts and honest rewrites pass; each way of being wrong has its verdict."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generators.program.serialise import from_json
from synth.dataset.stored import stored_rows
from synth.render.cuda.module import render
from validate.errors import HostRunUnavailable
from validate.host import stranger_case as score_case
from validate.host.plain_launch import PlainEntry
from validate.process.confine import confine
from validate.row.sizes import own_sizes
from validate.score.hidden import draws
from validate.score.judge import Judge
from validate.score.run import RowUnfit, launch_problem
from validate.score.scorer import Answer, Scorer, Verdict
from validate.statuses import ScoreStatus
from validate.text.stranger import cleaned, prepared

Row = dict[str, Any]
DATA = Path(__file__).resolve().parents[2] / "data"
SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
REWRITES = sorted((DATA / "honest_rewrites").glob("*.cu"))
PINNED = DATA / "honest_rewrites" / "rows.jsonl"


def with_plain(row: Row) -> Row:
    """The row with plain columns, made from its program where it has none."""
    if row["cuda_plain"] is None:
        row.update(render(from_json(row["program"])).columns())
    return row


@pytest.fixture(scope="module")
def pinned() -> dict[str, Row]:
    """The rows that the rewrites are of, as they were when these were written."""
    rows = [json.loads(line) for line in PINNED.read_text().splitlines()]
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer(hidden_seed=11) as found:
        yield found


@pytest.fixture(scope="module")
def row(pinned: dict[str, Row]) -> Row:
    """`out[i] = …` of `a[i]`: `solve_cube`, with `int num_steps` and `n` after the arrays."""
    return pinned["6b16cd0fa7b8c977"]


def kernel(body: str, before: str = "") -> str:
    return f"""{before}
extern "C" __global__ void k(const float* a, float* out, int steps, int n)
{{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
"""


# Halving as the row wants it, in a function for the wrong kernels to use.
RIGHT = """
__device__ float halve(float c, int steps)
{
    float lo = 0.0f, hi = 3.0f;
    for (int k = 0; k < steps; ++k) {
        const float m = 0.5f * (lo + hi);
        if (m * m * m + m - c > 0.0f) hi = m; else lo = m;
    }
    return 0.5f * (lo + hi);
}
"""
STORE = "if (i < n) out[i] = halve(a[i], steps);"
PER_THREAD = {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0}


def verdict(scorer: Scorer, row: Row, body: str, before: str = "") -> Verdict:
    return scorer.score(kernel(body, RIGHT + before), row, launch=PER_THREAD)


def test_own_texts_of_the_samples_pass_on_inputs_that_they_do_not_show(scorer: Scorer) -> None:
    rows = [with_plain(row) for _, row in stored_rows(SAMPLES)]
    verdicts = scorer.score_batch([Answer(row["cuda_plain"], row) for row in rows])
    assert [v.id for v in verdicts] == [row["id"] for row in rows]
    assert [v.reason for v in verdicts] == [""] * len(rows)
    assert {v.inputs for v in verdicts} == {"hidden"}


def test_honest_rewrites_pass(scorer: Scorer, pinned: dict[str, Row]) -> None:
    assert len(REWRITES) >= 20
    answers = []
    for path in REWRITES:
        text = path.read_text()
        named, launch = re.search(r"// row: (\w+)", text), re.search(r"// launch: (.*)", text)
        assert named is not None
        assert launch is not None
        answers.append(Answer(text, pinned[named[1]], json.loads(launch[1])))
    verdicts = scorer.score_batch(answers)
    wrong = {p.name: v for p, v in zip(REWRITES, verdicts, strict=True) if not v.passed}
    assert not wrong


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("passed", STORE),
        ("wrong_value", "if (i < n) out[i] = 0.0f;"),
        ("wrong_value", "if (i < n) out[i] = a[i];"),
        ("wrong_value", "if (i < n && i < 64) out[i] = halve(a[i], steps);"),
        ("data_race", "if (threadIdx.x < n) out[threadIdx.x] = halve(a[threadIdx.x], steps);"),
        ("read_out_of_bounds", f"if (a[i + 1] == 3.0f) return; {STORE}"),
        ("wrote_out_of_bounds", "out[i] = 0.0f;"),
        ("input_changed", f"{STORE} if (i == 0) ((float*)a)[i] += 1.0f;"),
        ("timeout", "while (n > 0) { out[0] = a[0]; }"),
        ("timeout", "for (;;) {}"),
        ("crashed", f"*(volatile int*)0 = 1; {STORE}"),
        ("crashed", f"((void (*)())0x10)(); {STORE}"),
        ("bad_sync", f"if (i % 2) __syncthreads(); {STORE}"),
        ("bad_sync", f"if (i >= n) return; __syncthreads(); {STORE}"),
        (
            "data_race",
            "__shared__ float s[64]; const int t = threadIdx.x; s[t] = i < n ? a[i] : 0.0f;"
            "if (i < n) out[i] = halve(s[t > 0 ? t - 1 : 0] * 0.0f + a[i], steps);",
        ),
    ],
)
def test_each_wrong_kernel_has_its_verdict(
    scorer: Scorer, row: Row, status: str, body: str
) -> None:
    found = verdict(scorer, row, body)
    assert found.status == status, found
    assert found.status in {*ScoreStatus}
    assert bool(found.reason) == (status != "passed")


def test_a_wrong_value_comes_with_a_counter_example(scorer: Scorer, row: Row) -> None:
    found = verdict(scorer, row, "if (i < n) out[i] = i == 3 ? 7.5f : halve(a[i], steps);")
    example = found.counter_example
    assert example is not None
    assert (example.output, example.index, example.got) == ("x_out", (3,), 7.5)
    assert example.sizes["n"] != own_sizes(row["sizes"])["n"]
    assert 0.0 <= float(example.want) <= 3.0


HOSTILE = {
    "asm that prints": kernel('asm volatile("syscall"); ' + STORE, RIGHT),
    "asm behind a string": kernel(f'const char* s = "//"; asm("syscall"); {STORE}', RIGHT),
    "asm behind a digit separator": kernel(
        "int q = 1'0; asm(\"nop\"); int r = 1'0;" + STORE, RIGHT
    ),
    "pasted names": kernel(f"A(as, m)(0); {STORE}", "#define A(x, y) x##y" + RIGHT),
    "pasted by a digraph": kernel(STORE, "%:define A(x, y) x%:%:y" + RIGHT),
    "spliced": kernel('as\\\nm("nop"); ' + STORE, RIGHT),
    "spliced after blanks": kernel('as\\ \nm("nop"); ' + STORE, RIGHT),
    "a file of the host": '#include "/etc/passwd"\n' + kernel(STORE, RIGHT),
    "a file behind a form feed": '\f#include "/etc/passwd"\n' + kernel(STORE, RIGHT),
    "a file behind a return": 'int z;\r#include "/etc/passwd"\n' + kernel(STORE, RIGHT),
    "a file named by a macro": "#define F </etc/passwd>\n#include F\n" + kernel(STORE, RIGHT),
    "a question about a file": "#if __has_include(</etc/passwd>)\n#endif\n" + kernel(STORE, RIGHT),
    "code behind an include": "#include <math.h> // \\\nint asm_;\n" + kernel("asm(0);"),
    "the judge's names": kernel("pairsmith::watch = nullptr; " + STORE, RIGHT),
    "the judge's names by using": kernel(f"using namespace pairsmith; watch = 0; {STORE}", RIGHT),
    "the judge's names by a macro": kernel(STORE, "#define barrier(x) watch\n" + RIGHT),
    "words of the judge's text": kernel(STORE, "#define watch nullptr\n" + RIGHT),
    "a jump to the scheduler": kernel("_longjmp(nullptr, 1); " + STORE, RIGHT),
    "another context": kernel("swapcontext(nullptr, nullptr); " + STORE, RIGHT),
    "the index changed": kernel("threadIdx.x = 0; " + STORE, RIGHT),
    "a pragma": "#pragma redefine_extname k printf\n" + kernel(STORE, RIGHT),
    "an attribute": kernel(STORE, "[ [gnu::constructor]] void f() {}\n" + RIGHT),
    "out of the namespace": RIGHT + "}\nint printf(const char*);\nnamespace x {" + kernel(STORE),
    "code of the library": kernel(
        "printf(0); " + STORE, 'extern "C" int printf(const char*, ...);'
    ),
    "exit declared": kernel("exit(1); " + STORE, "void exit(int);" + RIGHT),
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


@pytest.mark.parametrize("name", ["x", "barrier", "max", "solve_cube", "launch", "kernel"])
def test_the_kernel_may_have_any_name(scorer: Scorer, row: Row, name: str) -> None:
    body = "__shared__ float s[64]; s[threadIdx.x] = 0.0f; __syncthreads(); " + STORE
    text = kernel(body, RIGHT).replace("void k(", f"void {name}(")
    assert scorer.score(text, row, launch=PER_THREAD).passed
    plain = text.replace('extern "C" ', "")
    assert scorer.score("\ufeff" + plain, row, launch=PER_THREAD).passed


def test_a_kernel_may_be_declared_first(scorer: Scorer, row: Row) -> None:
    head = 'extern "C" __global__ void k(const float* a, float* out, int steps, int n);\n'
    assert scorer.score(head + kernel(STORE, RIGHT), row, launch=PER_THREAD).passed


def test_two_kernels_are_one_too_many(scorer: Scorer, row: Row) -> None:
    text = kernel(STORE, RIGHT)
    found = scorer.score(text + text.replace("void k", "void other").replace(RIGHT, ""), row)
    assert found.status == "no_kernel"


def test_other_parameters_are_a_bad_signature(scorer: Scorer, row: Row) -> None:
    text = kernel(STORE, RIGHT)
    for other in (text.replace("int steps, ", ""), text.replace("int steps", "double steps")):
        found = scorer.score(other.replace("steps)", "3)"), row)
        assert found.status in ("bad_signature", "compile_error")
    found = scorer.score('extern "C" __global__ void k(const float* a, double* out) {}', row)
    assert found.status == "bad_signature"


def test_warp_text_of_another_row_does_not_compile(scorer: Scorer, row: Row) -> None:
    (_, other), *_ = stored_rows(SAMPLES)
    text = other["cuda_prologue"] + other["cuda_helpers"] + other["cuda_forward"]
    assert scorer.score(text, row).status == "compile_error"
    assert scorer.score(with_plain(other)["cuda_plain"], row).status == "bad_signature"


ASKS = {
    "fork": os.fork,
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "open": lambda: os.open("/dev/null", os.O_WRONLY),
    "socket": socket.socket,
    "kill": lambda: os.kill(os.getppid(), 0),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can filter system calls")
@pytest.mark.parametrize("ask", ASKS)
def test_a_confined_process_can_only_compute_and_answer(ask: str) -> None:
    read_fd, write_fd = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            confine(write_fd, 5)
            os.write(write_fd, str(sum(range(10**6))).encode())
            ASKS[ask]()
            os.write(write_fd, b" and more")
        finally:
            os._exit(0)
    os.close(write_fd)
    _, status = os.waitpid(child, 0)
    with os.fdopen(read_fd) as answer:
        assert answer.read() == "499999500000"
    assert os.waitstatus_to_exitcode(status) == -signal.SIGSYS


def test_a_system_that_cannot_confine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_values: int) -> None:
        raise OSError(1, "prctl is refused")

    monkeypatch.setattr(score_case, "confine", refused)
    with pytest.raises(HostRunUnavailable, match="give up system calls"):
        score_case.run_apart({}, PlainEntry(0, 0, False))


def test_a_crash_does_not_touch_the_neighbours(scorer: Scorer, row: Row) -> None:
    good = Answer(kernel(STORE, RIGHT), row, PER_THREAD)
    wild = "for (long k = 0; k < 1l << 40; k += 64) ((char*)out)[k] = 0;"
    bad = [Answer(kernel(b, RIGHT), row, PER_THREAD) for b in (wild, "for (;;) {}")]
    statuses = [v.status for v in scorer.score_batch([good, *bad, good, *bad, good])]
    assert [statuses[k] for k in (0, 3, 6)] == ["passed"] * 3
    assert "passed" not in (statuses[1], statuses[2], statuses[4], statuses[5])


def test_shared_memory_that_was_not_asked_for_is_out_of_bounds(scorer: Scorer, row: Row) -> None:
    body = "extern __shared__ float s[]; s[threadIdx.x] = i < n ? a[i] : 0.0f;"
    text = kernel(body + "if (i < n) out[i] = halve(s[threadIdx.x], steps);", RIGHT)
    for asked, status in ((256, "passed"), (252, "wrote_out_of_bounds")):
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
        {"grid": ["n -"], "block": [64]},
        {"grid": ["m"], "block": [64]},
        {"grid": ["__import__('os')"], "block": [64]},
        {"grid": ["n * 1000000"], "block": [64]},
    ],
)
def test_a_launch_that_cannot_be(scorer: Scorer, row: Row, launch: Any) -> None:
    found = scorer.score(kernel(STORE, RIGHT), row, launch=launch)
    assert found.status == "bad_launch", found
    assert launch_problem(PER_THREAD) == ""


def test_a_row_that_is_wrong_itself_is_an_error(row: Row) -> None:
    wrong = [
        ({"cuda_plain": None}, "no plain CUDA"),
        ({"reference": None}, "no reference"),
        ({"cuda_plain": row["cuda_plain"].replace("0.5f", "0.4f")}, "wrong_value"),
        ({"reference": row["reference"].replace("0.5", "0.4")}, "wrong_value"),
        ({"reference": "raise ValueError"}, "ValueError"),
    ]
    with Scorer() as scorer:
        for columns, line in wrong:
            with pytest.raises(RowUnfit, match=line):
                scorer.score(kernel(STORE, RIGHT), {**row, **columns})
        assert scorer.score(row["cuda_plain"], row).passed


def test_draws_follow_from_the_seed_and_the_row(row: Row) -> None:
    first = list(draws(row, 5))
    assert first == list(draws(row, 5))
    assert first[0] != next(draws(row, 6))
    assert first[0] != next(draws({**row, "id": "0" * 16}, 5))
    assert [draw.kind for draw in first] == ["hidden"] * 4 + ["own inputs, hidden shapes", "own"]
    own = own_sizes(row["sizes"])
    for draw in first[:-1]:
        assert own not in draw.shapes
    assert max(shape["n"] for shape in first[0].shapes) > 1024


def test_shapes_respect_what_sizes_demand(row: Row) -> None:
    sizes = [
        {"symbol": "n", "value": 64, "min": 32, "multiple_of": 32},
        {"symbol": "m", "value": 5, "min": 3, "multiple_of": 1},
    ]
    odd = {**row, "sizes": sizes, "launch": {"dim": ["n", "m"]}}
    for seed in range(20):
        for draw in draws(odd, seed):
            for shape in draw.shapes:
                assert shape["n"] % 32 == 0
                assert shape["n"] >= 32
                assert shape["m"] >= 3


def test_a_forged_answer_is_read_as_data(row: Row) -> None:
    judge = Judge(row, next(draws(row, 5)))
    for answer in ("", "{}", "[]", "null", '{"status": "passed", "reason": "", "outputs": []}'):
        assert judge.judge(answer).status == "crashed"
    short = {"status": "ran", "reason": "", "outputs": [{"x_out": "AAAA"}] * len(judge.shapes)}
    assert judge.judge(json.dumps(short)).status == "crashed"
    assert judge.judge("[" * 100000).status == "crashed"


def test_cleaning_keeps_code_and_literals() -> None:
    text = 'a /* b */ c // d\ne "C" f \\\ng'
    assert cleaned(text) == 'a   c  \ne "C" f g'
    assert prepared("__global__ void k() {}") == ('extern "C" __global__ void k() {}', "")
