"""The scorer as a service: errors, limits, seeds, feedback, credit, what it leaves."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from kills import descendants
from score_rows import (
    NOTHING,
    PER_THREAD,
    RIGHT,
    STORE,
    Row,
    cube_answer,
    cube_row,
    cube_verdict,
    kernel,
    pinned_rows,
    statuses,
)

from validate.row.sizes import own_sizes
from validate.score import lane
from validate.score.hidden import draws
from validate.score.scorer import Answer, Scorer
from validate.score.task import row_key

RIGHT_ONE, WRONG_ONE = cube_answer(STORE), cube_answer(NOTHING)


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer(hidden_seed=16) as found:
        yield found


def changed(**columns: Any) -> Answer:
    """A right answer to a row with other columns."""
    return replace(RIGHT_ONE, row={**cube_row(), **columns})


ROW = cube_row()
UNFIT = {
    "no reference": changed(reference=None),
    "does not pass": changed(cuda_plain=ROW["cuda_plain"].replace("0.5f", "0.4f")),
    "does not pass: own: wrong_value": changed(reference=ROW["reference"].replace("0.5", "0.4")),
    "ValueError": changed(reference="raise ValueError"),
    "is refused": changed(cuda_plain=kernel('asm("nop");')),
    "compile_error": changed(cuda_plain=kernel("float x = undeclared;")),
}


def test_a_wrong_row_costs_its_own_answers_alone(scorer: Scorer) -> None:
    found = scorer.score_batch([RIGHT_ONE, *UNFIT.values(), WRONG_ONE, RIGHT_ONE])
    assert [found[k].status for k in (0, -2, -1)] == ["passed", "wrong_value", "passed"]
    for line, verdict in zip(UNFIT, found[1:-2], strict=True):
        assert (verdict.status, verdict.judged) == ("row_unfit", False), verdict
        assert line in verdict.detail
        assert not re.search(r"\d", verdict.reason)
        assert (verdict.credit, verdict.id) == (0.0, ROW["id"])
    assert found[0].judged


def test_a_row_without_a_text_of_its_own_is_judged_by_its_reference(scorer: Scorer) -> None:
    answers = [
        replace(one, row={**cube_row(), "cuda_plain": None}) for one in (RIGHT_ONE, WRONG_ONE)
    ]
    assert statuses(scorer, answers) == ["passed", "wrong_value"]


def test_what_is_not_reached_in_time_is_not_judged(scorer: Scorer) -> None:
    assert statuses(scorer, [RIGHT_ONE]) == ["passed"]
    (late,) = scorer.score_batch([RIGHT_ONE], timeout_s=0.0)
    assert (late.status, late.judged, late.credit) == ("not_judged", False, 0.0)
    endless = cube_answer("for (;;) {}")
    found = scorer.score_batch([RIGHT_ONE, endless, *[RIGHT_ONE] * 4], timeout_s=3.0)
    words = [verdict.status for verdict in found]
    assert words[:2] == ["passed", "timeout"]
    assert words[-1] == "not_judged"
    assert set(words[2:]) <= {"passed", "not_judged"}
    assert statuses(scorer, [RIGHT_ONE, WRONG_ONE]) == ["passed", "wrong_value"]


def test_nothing_and_no_workers() -> None:
    with pytest.raises(ValueError, match="workers is 0"):
        Scorer(workers=0)
    with Scorer() as scorer:
        assert scorer.score_batch([]) == []


def test_a_seed_that_nobody_gave_is_drawn_and_can_be_read() -> None:
    with Scorer() as first, Scorer() as second, Scorer(hidden_seed=0) as third:
        assert first.hidden_seed != second.hidden_seed
        assert third.hidden_seed == 0
        assert min(first.hidden_seed, second.hidden_seed) >= 0
        (found,) = first.score_batch([WRONG_ONE])
    with Scorer(hidden_seed=first.hidden_seed) as again:
        assert again.score_batch([WRONG_ONE]) == [found]


def test_equal_seeds_give_equal_verdicts_and_others_other_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The endless text is to end by its steps, however slow the machine.
    monkeypatch.setattr(lane, "_TIMEOUT_S", 600.0)
    answers = [WRONG_ONE, RIGHT_ONE, cube_answer("out[i] = 0.0f;"), cube_answer("for (;;) ;")]
    found = []
    for seed, order in ((5, 1), (5, -1), (6, 1)):
        with Scorer(hidden_seed=seed) as scorer:
            found.append(scorer.score_batch(answers[::order])[::order])
    assert found[0] == found[1]
    assert [v.status for v in found[0]] == [v.status for v in found[2]]
    assert found[0] != found[2]


def test_rows_of_one_id_are_judged_apart(scorer: Scorer) -> None:
    """Equal ids, and other columns: what is known of one is not used for another."""
    doubled = {
        **ROW,
        "cuda_plain": ROW["cuda_plain"].replace("x_out[tid] = 0.5f", "x_out[tid] = 1.0f"),
        "reference": ROW["reference"].replace("x_out[tid] = 0.5", "x_out[tid] = 1.0"),
    }
    assert doubled["reference"] != ROW["reference"]
    double = kernel(STORE.replace("halve", "2.0f * halve"))
    answers = [
        Answer(text, row, PER_THREAD)
        for text in (kernel(STORE), double)
        for row in (ROW, doubled, ROW)
    ]
    found = statuses(scorer, answers)
    assert found == ["passed", "wrong_value", "passed", "wrong_value", "passed", "wrong_value"]
    assert row_key(ROW) == row_key({**ROW, "description": "other words"})
    columns = ("id", "reference", "cuda_plain", "sizes", "args", "launch", "plain_launch")
    assert len({row_key({**ROW, column: None}) for column in columns} | {row_key(ROW)}) == 8


LAUNCHES = [
    {"grid": ["n"], "block": ["n"]},
    {"grid": ["n - 3000"], "block": [64]},
    {"grid": ["n"], "block": [64], "shared_bytes": "50000 + n"},
]
WRONG_BODIES = [
    NOTHING,
    "if (i < n) out[i] = i == 3 ? 7.5f : halve(a[i], steps);",
    "out[i] = 0.0f;",
    f"if (a[i + 1] == 3.0f) return; {STORE}",
    f"{STORE} if (i == 0) ((float*)a)[i] += 1.0f;",
    "if (threadIdx.x < n) out[threadIdx.x] = halve(a[threadIdx.x], steps);",
    f"if (i == n - 1) __trap(); {STORE}",
    f"if (i == n - 1) __syncthreads(); {STORE}",
    f"if (n / (i - i) == 77) return; {STORE}",
    f"int f[4]; f[i % 5] = 3; if (f[0] == 77) return; {STORE}",
]


@pytest.mark.parametrize("body", WRONG_BODIES)
def test_reasons_tell_nothing_that_is_hidden(scorer: Scorer, body: str) -> None:
    found = cube_verdict(scorer, body)
    assert found.status not in ("passed", "compile_error")
    told = re.sub(r"\d+ % of the elements", "", found.reason)
    assert not re.search(r"\d", told), found.reason
    assert found.reason
    assert re.search(r"\bn=\d+", found.detail)


@pytest.mark.parametrize("launch", LAUNCHES, ids=["block", "grid", "shared"])
def test_reasons_of_launches_tell_nothing_that_is_hidden(
    scorer: Scorer, launch: dict[str, Any]
) -> None:
    found = scorer.score(kernel(STORE), ROW, launch=launch)
    assert found.status == "bad_launch"
    sizes = {size for draw in draws(ROW, 16) for t in draw.trials for size in t.sizes.values()}
    numbers = {int(number) for number in re.findall(r"-?\d+", found.reason)}
    known = {*own_sizes(ROW["sizes"]).values(), 1, 64, 2048, 49152}
    secret = {*sizes, *(s - 3000 for s in sizes), *(s + 50000 for s in sizes)} - known
    assert not numbers & secret, found.reason


def test_more_right_gives_more_credit(scorer: Scorer) -> None:
    bodies = [
        "float x = undeclared;",
        "for (;;) {}",
        NOTHING,
        "if (i < n) out[i] = i % 4 == 0 ? halve(a[i], steps) : 0.0f;",
        "if (i < n) out[i] = i % 4 != 0 ? halve(a[i], steps) : 0.0f;",
        STORE,
    ]
    found = scorer.score_batch([cube_answer(body) for body in bodies])
    credits = [verdict.credit for verdict in found]
    assert credits == sorted(credits)
    assert len({*credits}) == len(credits)
    assert (credits[0], credits[-1]) == (0.0, 1.0)
    assert max(credits[:-1]) <= 0.5
    assert [v.compiled for v in found] == [False] + [True] * 5
    assert [v.launched for v in found] == [False, False] + [True] * 4
    assert found[3].share < found[4].share < 1.0


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_nothing_is_left_after_close(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    children = descendants(os.getpid())
    with Scorer(hidden_seed=1, workers=2) as scorer:
        answers = [RIGHT_ONE, WRONG_ONE, cube_answer("for (;;) {}"), cube_answer("*(int*)0 = 1;")]
        assert len(scorer.score_batch(answers * 3)) == 12
        assert [*tmp_path.glob("pairsmith-score-*")]
        started = descendants(os.getpid()) - children
        assert started
    assert not [*tmp_path.iterdir()]
    assert not descendants(os.getpid()) & started


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_nothing_is_left_when_a_user_forgets_to_close(tmp_path: Path) -> None:
    """Not closed, and the interpreter ends: no process stays, and no folder."""
    program = (
        "import json, sys\n"
        "from validate.score.scorer import Scorer\n"
        "row, text, launch = json.loads(sys.stdin.readline())\n"
        "print(Scorer(hidden_seed=1).score(text, row, launch=launch).status, flush=True)\n"
        "sys.stdin.readline()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as user:
        assert user.stdin
        assert user.stdout
        print(json.dumps([ROW, kernel(STORE), PER_THREAD]), file=user.stdin, flush=True)
        assert user.stdout.readline().strip() == "passed"
        pids = descendants(user.pid)
        assert pids
        user.stdin.close()
        user.wait(timeout=600)
    deadline = time.monotonic() + 600
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert not [*tmp_path.iterdir()]


def test_files_and_memory_do_not_grow_with_answers(scorer: Scorer) -> None:
    def state() -> tuple[int, int]:
        started = [lane._worker._worker for lane in scorer._all_lanes]
        (worker,) = (worker for worker in started if worker is not None)
        gc.collect()
        files = len(list(Path(f"/proc/{worker.process.pid}/fd").iterdir()))
        return files, len(list(Path("/proc/self/fd").iterdir()))

    statuses(scorer, [RIGHT_ONE, WRONG_ONE])
    first = state()
    statuses(scorer, [RIGHT_ONE, WRONG_ONE] * 10)
    assert state() == first


BOMBS = {
    "templates": (
        "template <int N, int M> struct T { static const int v = T<N - 1, 2 * M>::v + "
        "T<N - 1, 2 * M + 1>::v; };\n"
        "template <int M> struct T<0, M> { static const int v = M; };",
        f"if (T<24, 0>::v == 77) return; {STORE}",
    ),
    "constants": (
        "constexpr long spin(long n) { long s = 0; for (long k = 0; k < n; ++k) s += k * s; "
        "return s; }\n",
        f"constexpr long x = spin(900000000); if (x == 77) return; {STORE}",
    ),
    "macros": (
        "\n#define A x = x * 3 + 1;\n"
        + "".join(f"#define {b} {a} {a} {a} {a}\n" for a, b in pairwise("ABCDEFGHI"))
        + "#define J I I\n",
        f"int x = i; J if (x == 77) return; {STORE}",
    ),
    "initialisers": ("__device__ int big[1 << 27] = { 1 };\n", f"if (big[0] == 2) return; {STORE}"),
    "unrolled": (
        "",
        "int x = i;\n#pragma unroll\nfor (int k = 0; k < 4000; ++k) {\n#pragma unroll\n"
        "for (int j = 0; j < 4000; ++j) x = x * 3 + j; }\n" + f"if (x == 77) return; {STORE}",
    ),
    "endless": ("", "for (;;) {}"),
    "endless with stores": ("", "for (;;) out[0] = a[0];"),
    "recursion": (
        "__device__ int down(int k) { return k < -5 ? 1 : down(k + 1) + down(k + 2); }",
        f"if (down(i) == 77) return; {STORE}",
    ),
    "waits for another": (
        "__device__ int flag;\n",
        "if (i == 0) while (atomicAdd(&flag, 0) == 0) {} if (i == 1) atomicAdd(&flag, 1);" + STORE,
    ),
    "output of the compiler": ("", "\n".join(f"float v{k} = undeclared{k};" for k in range(1900))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end_and_cost_nobody_else(scorer: Scorer, name: str) -> None:
    before, body = BOMBS[name]
    found = scorer.score_batch([RIGHT_ONE, cube_answer(body, before), WRONG_ONE, RIGHT_ONE])
    words = [verdict.status for verdict in found]
    assert [words[0], *words[2:]] == ["passed", "wrong_value", "passed"]
    ends = ("timeout", "out_of_memory", "compile_error", "crashed")
    assert words[1] in ends, found[1]
    assert len(found[1].reason) < 20_000


def test_every_answer_has_a_verdict_whatever_it_is(scorer: Scorer) -> None:
    strange: list[Any] = [
        *("", "\ud800", "\0", "x" * 70_000, "_" * 65_000, None, 7, b"k", [], {}, ["a"], object()),
        RIGHT + "__global__ void k(const float* a, float* out, int steps, int n) { \ud800 }",
    ]
    found = scorer.score_batch([Answer(text, ROW, PER_THREAD) for text in strange])
    assert {verdict.status for verdict in found} <= {"no_kernel", "compile_error"}
    assert all(verdict.credit == 0.0 and verdict.reason for verdict in found)


def test_several_rows_at_once_have_their_own_verdicts(scorer: Scorer) -> None:
    rows: list[Row] = list(pinned_rows().values())[:5]
    answers = [Answer(row["cuda_plain"], row) for row in rows for _ in range(2)]
    found = scorer.score_batch([*answers, WRONG_ONE])
    assert [v.id for v in found] == [a.row["id"] for a in answers] + [ROW["id"]]
    assert [v.status for v in found] == ["passed"] * len(answers) + ["wrong_value"]
