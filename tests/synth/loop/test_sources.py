"""Tasks that no dataset holds: what is asked, who says what is wanted, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from loopback_chat import KEY, Model, served

from synth.cli.main import main
from synth.errors import SettingsError
from synth.loop.archive import Archive, ArchivedTask
from synth.loop.sources.find import tasks_of
from validate.score.scorer import Scorer
from validate.statuses import ScoreStatus

NUMPY = '''from __future__ import annotations

import numpy as np

SIZES = {"rows": 9, "cols": 21}
RANGES = {"x": (-2, 2), "picked": "cols"}


def centred(x: "float32[rows, cols]", picked: "int32[rows]") -> ("float32[rows, cols]", "int32[1]"):
    """Rows without their means, and where the picks sum to."""
    y = x - np.mean(x, axis=1, keepdims=True)
    return y, np.array([np.sum(picked)])
'''
CENTRED = """
extern "C" __global__ void centred_kernel(
    const float* x, const int* picked, float* out0, int* out1, int rows, int cols)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r == 0) { int s = 0; for (int i = 0; i < rows; ++i) s += picked[i]; out1[0] = s; }
    if (r >= rows) return;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += x[r * cols + c];
    for (int c = 0; c < cols; ++c) out0[r * cols + c] = x[r * cols + c] - sum / cols;
}
"""
WARP = """import warp as wp

SIZES = {"n": 70}
SHAPES = {"x": "n", "total": ("1",)}
RANGES = {"total": (0, 0)}
DIM = "n"


@wp.kernel
def add_squares(x: wp.array(dtype=float), scale: float, total: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(total, 0, scale * x[i] * x[i])
"""
SQUARES = """
extern "C" __global__ void add_squares(const float* x, float scale, float* total, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, scale * x[i] * x[i]);
}
"""
OF_VECTORS = WARP.replace("scale: float", "scale: wp.vec3").replace("scale *", "scale[0] *")
HALF = """
#include <cuda_fp16.h>
extern "C" __global__ void matmul(
    const __half* a, const __half* b, __half* c, int m, int n, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    float sum = 0.0f;
    for (int p = 0; p < k; ++p)
        sum += __half2float(a[i / n * k + p]) * __half2float(b[p * n + i % n]);
    c[i] = __float2half(sum);
}
"""
LAUNCH = '\n```json\n{"grid": ["(rows + 63) / 64"], "block": [64]}\n```\n'


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer(hidden_seed=11) as made:
        yield made


def the_task(folder: Path, name: str, text: str, **more: Any) -> ArchivedTask:
    (folder / name).write_text(text)
    (task,) = tasks_of(str(folder / name), "sft", **more)
    return task


def statuses(scorer: Scorer, task: ArchivedTask, answers: Sequence[str]) -> list[str]:
    row = json.loads(task.row)
    return [str(scorer.score(answer, row).status) for answer in answers]


def test_a_numpy_function_is_its_own_judge(scorer: Scorer, tmp_path: Path) -> None:
    task = the_task(tmp_path, "mine.py", NUMPY)
    assert "`centred_kernel(const float* x, const int* picked, float* out0, int* out1" in (
        task.question
    )
    assert "SIZES" not in task.question
    assert "__future__" not in task.question
    row = json.loads(task.row)
    assert row["cuda_plain"] is None
    assert [arg["init"] for arg in row["args"][:2]] == ["uniform", "index_of:cols"]
    assert row["args"][2]["rtol"] == 1e-4
    right = f"```cuda{CENTRED}```{LAUNCH}"
    beyond_the_shape_that_is_shown = right.replace("c < cols", "c < min(cols, 200)")
    wrong = right.replace("sum / cols", "sum / (cols + 1)")
    assert statuses(scorer, task, [right, wrong, beyond_the_shape_that_is_shown, ""]) == [
        ScoreStatus.PASSED,
        ScoreStatus.WRONG_VALUE,
        ScoreStatus.WRONG_VALUE,
        ScoreStatus.NO_KERNEL,
    ]


def test_a_warp_kernel_says_what_is_wanted(scorer: Scorer, tmp_path: Path) -> None:
    task = the_task(tmp_path, "mine.py", WARP)
    row = json.loads(task.row)
    assert (row["reference"], row["launch"]["dim"]) == (None, ["n"])
    assert "It is launched over (n)." in task.question
    stores = SQUARES.replace("atomicAdd(total, ", "total[0] = (")
    assert statuses(scorer, task, [SQUARES, SQUARES.replace("* x[i] *", "*"), stores]) == [
        ScoreStatus.PASSED,
        ScoreStatus.WRONG_VALUE,
        ScoreStatus.DATA_RACE,
    ]


def test_a_spec_of_tensor_cores_is_judged_by_its_reference(scorer: Scorer, tmp_path: Path) -> None:
    spec = json.dumps({"op": "matmul", "dtype": "float16"})
    task = the_task(tmp_path, "spec.json", spec, sizes={"k": 24})
    row = json.loads(task.row)
    assert row["cuda_plain"] is None
    assert {one["symbol"]: one["value"] for one in row["sizes"]} == {"m": 37, "n": 41, "k": 24}
    assert statuses(scorer, task, [HALF, HALF.replace("p = 0", "p = 1")]) == [
        ScoreStatus.PASSED,
        ScoreStatus.WRONG_VALUE,
    ]


def test_a_spec_without_assembly_has_its_text(tmp_path: Path) -> None:
    specs = [{"op": "softmax"}, {"op": "transpose", "dtype": "float16"}]
    (tmp_path / "specs.json").write_text(json.dumps(specs))
    found = tasks_of(str(tmp_path / "specs.json"), "sft")
    assert len({task.id for task in found}) == 2
    assert all(json.loads(task.row)["cuda_plain"] for task in found)
    assert len(tasks_of(str(tmp_path / "specs.json"), "sft", limit=1)) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", "x = (", "line 1"),
        ("a.py", "import numpy as np\n", "no SIZES"),
        ("a.py", "SIZES = dict(n=1)\n", "no literal"),
        ("a.py", 'SIZES = {"n": 0}\n', "no number up to 65536"),
        ("a.py", 'SIZES = {"n": 8}\n', "does not have a function"),
        ("a.py", NUMPY.replace('"int32[rows]"', '"int32[m]"'), "the size 'm' is not in SIZES"),
        ("a.py", NUMPY.replace('"int32[rows]"', '"complex64[rows]"'), "write a dtype and a shape"),
        ("a.py", NUMPY.replace("np.mean", "np.load"), "np.load"),
        ("a.py", NUMPY.replace('"picked": "cols"', '"other": (0, 1)'), "no argument 'other'"),
        ("a.py", NUMPY.replace("axis=1", "axis=7"), "does not run at its sizes"),
        ("a.py", NUMPY.replace("x - np", "np.log(x) - np"), "no finite number"),
        ("a.py", WARP.replace('"x": "n", ', ""), "write SHAPES"),
        (
            "a.py",
            WARP.replace("scale: float", "scale: wp.vec3").replace("scale *", "scale[0] *"),
            "no array of",
        ),
        ("a.py", WARP.replace("x[i] * x[i]", "y[i]"), "Warp does not translate it"),
        ("a.json", "{", "cannot be read"),
        ("a.json", '[{"op": "sofmax"}]', "op:"),
        ("a.json", "[1]", "holds no spec"),
    ],
)
def test_what_cannot_be_a_task_is_one_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SettingsError) as error:
        tasks_of(str(tmp_path / name), "sft")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_function_is_solved_as_it_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    (tmp_path / "mine.py").write_text(NUMPY)
    answers = [CENTRED.replace("sum / cols", "sum"), CENTRED]

    def answer(messages: Sequence[dict[str, str]]) -> str:
        return f"```cuda{answers[len(messages) > 2]}```{LAUNCH}"

    with served(Model(answer)) as model:
        words = ["solve", f"{tmp_path / 'mine.py'}:centred", "--base-url", model.url, "--model"]
        words += ["toy", "--key-variable", "LOOPBACK_KEY", "--turns", "2", "--quiet"]
        words += ["--size", "rows=12"]
        done = CliRunner().invoke(main, words, env={"LOOPBACK_KEY": KEY})
        assert done.exit_code == 0, done.output
        assert "1 of 1 tasks solved, 1 answers passed" in done.output
        again = CliRunner().invoke(main, words, env={"LOOPBACK_KEY": KEY})
        assert "0 answers now, 2 known before" in again.output
    assert "`out0[" in model.requests[1]["messages"][-1]["content"]
    with Archive(tmp_path / "mine.py.attempts.sqlite") as archive:
        assert [row["verdict"] for row in archive.query()] == ["wrong_value", "passed"]


@pytest.mark.parametrize("words", [("--size", "n"), ("--size", "n=0"), ("--size", "n=8")])
def test_a_wrong_size_is_one_line(words: Sequence[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(NUMPY)
    more = ["--base-url", "http://x", "--model", "m"]
    done = CliRunner().invoke(main, ["solve", str(tmp_path / "mine.py"), *more, *words])
    assert (done.exit_code, len(done.output.strip().splitlines())) == (2, 1), done.output
