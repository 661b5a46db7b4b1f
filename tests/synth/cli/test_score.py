"""``pairsmith score``: counts, pass@k, and one line for what is wrong with a request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generators.program.serialise import from_json
from synth.check.answers import pass_at_k
from synth.render.cuda.module import render
from validate.row.columns import ROW_SCHEMA

ROOT = Path(__file__).resolve().parents[3]
SHARD = ROOT / "data" / "samples" / "train" / "shard-00000.parquet"
ASM = 'extern "C" __global__ void k() { asm("nop"); }'
Row = dict[str, Any]


def pairsmith_score(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "synth", "score", *map(str, arguments), "--quiet"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Four rows, the last without plain CUDA."""
    found: list[Row] = pq.read_table(SHARD).slice(0, 4).to_pylist()
    for row in found:
        row.update(render(from_json(row["program"])).columns())
    found[3].update(cuda_plain=None, plain_args=None, plain_launch=None, schedule=None)
    return found


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> Path:
    out = tmp_path_factory.mktemp("score") / "out"
    (out / "train").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, ROW_SCHEMA), out / "train" / "shard-00000.parquet")
    return out


def write(path: Path, *lines: Any) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


def answer(row: Row, cuda: str | None = None) -> Row:
    return {"id": row["id"], "cuda": row["cuda_plain"] if cuda is None else cuda}


@pytest.mark.parametrize("workers", [1, 2])
def test_samples_are_counted(dataset: Path, rows: list[Row], tmp_path: Path, workers: int) -> None:
    right, other, third = rows[:3]
    lines = [answer(right)] * 2 + [answer(right, "nothing")] * 3
    lines += [answer(other, ASM)] * 5 + [answer(third)] * 40
    report = tmp_path / "report.json"
    file = write(tmp_path / "answers.jsonl", *lines)
    done = pairsmith_score(dataset, file, "--workers", workers, "--report", report)
    assert done.returncode == 0, done.stderr
    assert "50 answers to 3 rows scored" in done.stdout
    assert "rows/s" in done.stdout
    found = json.loads(report.read_text())
    assert found["verdicts"] == {"passed": 42, "no_kernel": 3, "compile_error": 5}
    everything = found["groups"]["all"]
    assert everything["pass_at"] == {"1": pytest.approx(1.4 / 3), "5": pytest.approx(2 / 3)}
    assert (everything["tasks"], everything["samples"]) == (3, 50)
    assert any(name.startswith("category ") for name in found["groups"])
    assert any(name.startswith("level ") for name in found["groups"])
    assert [entry["line"] for entry in found["answers"]] == list(range(1, 51))
    assert "pass@1" in done.stdout
    assert "pass@10" not in done.stdout


def test_a_launch_of_its_own_is_used(dataset: Path, rows: list[Row], tmp_path: Path) -> None:
    lines = [answer(rows[0]), {**answer(rows[0]), "launch": {"grid": ["1"], "block": [4096]}}]
    done = pairsmith_score(dataset, write(tmp_path / "a.jsonl", *lines))
    assert done.returncode == 0, done.stderr
    assert "bad_launch" in done.stdout


def test_bad_requests_get_one_line_and_code_2(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    good = answer(rows[0])
    for lines, what in (
        ([good, "{not json"], "line 2 is no JSON"),
        ([good, "[]"], "line 2 is no JSON object"),
        ([good, {"id": rows[0]["id"]}], "line 2 has no text 'cuda'"),
        ([{**good, "text": "x"}], "line 1 has the unknown key 'text'"),
        ([{**good, "launch": 3}], "line 1: launch is no JSON object"),
        ([good, {**good, "id": "feedfeedfeedfeed"}], "line 2: no row"),
        ([answer(rows[3], "x")], "has no plain CUDA"),
        ([""], "holds no answer"),
    ):
        done = pairsmith_score(dataset, write(tmp_path / "bad.jsonl", *lines))
        assert done.returncode == 2, done.stderr
        assert what in done.stderr
        assert done.stderr.count("\n") == 1
    for arguments in (
        (dataset, tmp_path / "missing.jsonl"),
        (tmp_path, write(tmp_path / "good.jsonl", good)),
        (dataset, tmp_path / "good.jsonl", "--workers", 0),
        (dataset, tmp_path / "good.jsonl", "--report", tmp_path / "none" / "r.json"),
    ):
        done = pairsmith_score(*arguments)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1


def test_a_row_that_is_wrong_itself_breaks_the_run(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    wrong = {**rows[0], "cuda_plain": "int x;"}
    (tmp_path / "train").mkdir()
    table = pa.Table.from_pylist([wrong], ROW_SCHEMA)
    pq.write_table(table, tmp_path / "train" / "shard-00000.parquet")
    done = pairsmith_score(tmp_path, write(tmp_path / "a.jsonl", answer(rows[0])))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "its own plain CUDA" in done.stderr


def test_pass_at_k_is_the_unbiased_estimator() -> None:
    assert pass_at_k(10, 0, 5) == 0.0
    assert pass_at_k(10, 10, 10) == 1.0
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(5, 2, 2) == pytest.approx(1 - 3 / 10)
    assert pass_at_k(5, 4, 2) == 1.0
