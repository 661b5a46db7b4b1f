"""``pairsmith solve`` as it is typed, from an endpoint to files that trainers load."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from datasets import load_dataset
from loopback_chat import KEY, Model, served

import pairsmith
from synth.cli.main import main
from synth.loop.archive import Archive

pytest.importorskip("openai")

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
TASKS = 2


class Learner:
    """Its first answer to a question is wrong, all others are right."""

    def __init__(self) -> None:
        entries = pairsmith.tasks(path=SAMPLES)
        self.right = {entry["question"]: entry["answer"] for entry in entries}
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def __call__(self, messages: Sequence[dict[str, str]]) -> str:
        question = messages[1]["content"]
        with self.lock:
            self.asked[question] += 1
            first = self.asked[question] == 1
        right = self.right[question]
        return (
            right.replace("blockIdx.x", "7 + blockIdx.x") if first else f"<think>.</think>{right}"
        )


def pairsmith_solve(*words: object) -> Result:
    environment = {"LOOPBACK_KEY": KEY}
    return CliRunner().invoke(main, ["solve", *map(str, words)], env=environment)


@pytest.fixture(scope="module")
def served_model() -> Iterator[Model]:
    with served(Model(Learner())) as model:
        yield model


@pytest.fixture(scope="module")
def archive(served_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("solve") / "a.sqlite"
    done = pairsmith_solve(*asked(served_model, path), "--prices", "1,2", "--at-once", 1)
    assert done.exit_code == 0, done.output
    assert "2 of 2 tasks solved, 4 answers passed" in done.output
    assert "6 answers now, 0 known before, 0 requests failed" in done.output
    return path


def asked(model: Model, path: Path) -> list[object]:
    where = ["--base-url", model.url, "--model", "toy", "--key-variable", "LOOPBACK_KEY"]
    how = ["-k", 2, "--turns", 2, "--limit", TASKS, "--archive", path, "--quiet"]
    return [SAMPLES, *where, *how]


def test_the_same_again_asks_for_nothing(archive: Path, served_model: Model) -> None:
    before = len(served_model.requests)
    done = pairsmith_solve(*asked(served_model, archive))
    assert done.exit_code == 0
    assert "0 answers now, 6 known before" in done.output
    assert len(served_model.requests) == before


def test_the_archive_is_looked_at(archive: Path) -> None:
    listed = pairsmith_solve("list", archive).output
    assert "2 tasks      2 solved       6 attempts      4 passed" in listed
    lines = pairsmith_solve("query", archive, "--not-passed", "--json").output.splitlines()
    wrong = [json.loads(line) for line in lines]
    assert len(wrong) == 2
    assert {one["passed"] for one in wrong} == {0}
    short = pairsmith_solve("query", archive, "--passed", "--limit", 3).output.splitlines()
    assert len(short) == 3
    # The answers are the rows' own texts, whose times the cost model predicts.
    assert all(re.search(r"  passed  \S+ us on NVIDIA H200, predicted$", line) for line in short)
    best = pairsmith_solve("show", archive, wrong[0]["task"]).output
    said, took = best.rstrip().splitlines()[-2:]
    assert said == "--- passed"
    assert took.endswith("us on NVIDIA H200, predicted")
    own = pairsmith_solve("show", archive, wrong[0]["id"]).output
    assert wrong[0]["verdict"] in own


def test_exports_load_and_are_judged_again(archive: Path, tmp_path: Path) -> None:
    loaded = {}
    for form in ("attempts", "best", "trajectories", "preference"):
        out = tmp_path / f"{form}.parquet"
        done = pairsmith_solve("export", archive, "-o", out, "--form", form, "--quiet")
        assert done.exit_code == 0, done.output
        assert "0 answers were judged otherwise" in done.output
        cache = str(tmp_path / "cache")
        loaded[form] = load_dataset("parquet", data_files=str(out), cache_dir=cache)["train"]
    assert len(loaded["attempts"]) == 6
    assert len({one["task"] for one in loaded["best"]}) == len(loaded["best"]) == 2
    assert all(one["passed"] for one in loaded["best"])
    assert len(loaded["trajectories"]) == 4
    two = next(one for one in loaded["trajectories"] if len(one["verdicts"]) == 2)
    roles = [message["role"] for message in two["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant"]
    assert two["verdicts"][-1] == "passed"
    assert two["reward"] == 1.0
    assert "<think>" not in two["messages"][-1]["content"]
    assert len(loaded["preference"]) == 2
    for pair in loaded["preference"]:
        assert [message["role"] for message in pair["prompt"]] == ["system", "user"]
        assert pair["chosen"] != pair["rejected"]
        assert "7 + blockIdx.x" in pair["rejected"][0]["content"]
        assert "7 + blockIdx.x" not in pair["chosen"][0]["content"]


def test_a_verdict_that_does_not_hold_is_left_out(archive: Path, tmp_path: Path) -> None:
    with Archive(archive) as opened, Archive(tmp_path / "b.sqlite", create=True) as other:
        tasks = {row["task"] for row in opened.query()}
        other.add_tasks([task for task in map(opened.task, sorted(tasks)) if task is not None])
        for row in opened.query():
            attempt, judged = opened.attempt(row["id"]), opened.judgement(row["id"])
            assert attempt is not None
            assert judged is not None
            other.add_attempt(attempt)
            # What is wrong is said to have passed.
            lie = {**vars(judged), "passed": True, "status": "passed"}
            other.add_judgement(type(judged)(**lie))
    out = tmp_path / "t.parquet"
    done = pairsmith_solve("export", tmp_path / "b.sqlite", "-o", out, "--form", "trajectories")
    assert "2 rows in" in done.output
    assert "2 answers were judged otherwise" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((SAMPLES,), "Missing option '--base-url'"),
        ((SAMPLES, "--base-url", "ftp://x", "--model", "m"), "begins with http"),
        ((SAMPLES, "--base-url", "http://x", "--model", "m", "--view", "warp"), "no plain CUDA"),
        ((SAMPLES, "--base-url", "http://x", "--model", "m", "--extra", "[]"), "no JSON object"),
        ((SAMPLES, "--base-url", "http://x", "--model", "m", "--most-usd", 1), "needs --prices"),
        ((SAMPLES, "--base-url", "http://x", "--model", "m", "--prices", "1"), "two numbers"),
        ((SAMPLES / "nothing", "--base-url", "http://x", "--model", "m"), "no dataset"),
        (("list", SAMPLES / "a.sqlite"), "no archive"),
        (("list", SAMPLES / "manifest.json"), "cannot be used as an archive"),
    ],
)
def test_a_wrong_request_is_one_line(words: Sequence[object], said: str, tmp_path: Path) -> None:
    more = [] if words[0] == "list" else ["--archive", tmp_path / "a.sqlite"]
    done = pairsmith_solve(*words, *more)
    assert done.exit_code == 2
    assert said in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_what_is_not_in_an_archive(archive: Path, tmp_path: Path) -> None:
    done = pairsmith_solve("show", archive, "x")
    assert (done.exit_code, "no attempt and no task 'x'" in done.output) == (2, True)
    done = pairsmith_solve("export", archive, "-o", tmp_path / "x", "--model", "other")
    assert (done.exit_code, "no attempt that fits" in done.output) == (2, True)
