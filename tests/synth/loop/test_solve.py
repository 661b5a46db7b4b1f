"""A model in the loop, over HTTP, with all that goes wrong there."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from kills import killed_at, points
from loopback_chat import FAULTS, KEY, Model, served

import pairsmith
from synth.errors import RunError, SettingsError
from synth.loop.archive import Archive, ArchivedTask, Judgement, best_of
from synth.loop.budget import Budget, Price
from synth.loop.client import Chat, Endpoint
from synth.loop.solve import Judge, Outcome, Plan, Solver, archived_tasks
from synth.loop.timed import Time

pytest.importorskip("openai")

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
Messages = Sequence[dict[str, str]]
_QUICK = {"first_pause_s": 0.0}


class Words:
    """In a judge's place where compiling would say nothing more: a text with RIGHT passes."""

    async def judge(self, task: ArchivedTask, attempt: str, text: str, turn: int) -> Judgement:
        passed = "RIGHT" in text
        status = "passed" if passed else "wrong_value"
        return Judgement(attempt, status, "", None, {}, {"credit": 1.0}, passed, True, 0.0)


@pytest.fixture(scope="module")
def tasks() -> list[ArchivedTask]:
    return archived_tasks(pairsmith.tasks("sft", path=SAMPLES, size=4), "sft")


@pytest.fixture
def model() -> Iterator[Model]:
    """It is right at its second try."""
    with served(Model(lambda messages: "RIGHT" if len(messages) > 2 else "wrong")) as made:
        yield made


def solve(
    path: Path,
    model: Model,
    tasks: list[ArchivedTask],
    plan: Plan,
    *,
    judge: Judge | Words | None = None,
    price: Price | None = None,
    **more: object,
) -> Outcome:
    """A run over tasks; ``more`` are limits and settings of the endpoint."""
    limits = {name: more.pop(name, None) for name in ("tokens", "usd", "seconds")}
    endpoint = Endpoint(model.url, "toy", **{"key": KEY, "answer_tokens": 64, **more})  # type: ignore[arg-type]

    async def run() -> Outcome:
        with Archive(path, create=True) as archive:
            budget = Budget(spent=archive.spent("toy"), **limits)  # type: ignore[arg-type]
            async with Chat(endpoint) as chat:
                solver = Solver(
                    archive,
                    chat,
                    judge or Words(),  # type: ignore[arg-type]
                    plan,
                    budget=budget,
                    price=price or Price(1.0, 2.0),
                )
                return await solver.run(tasks)

    return asyncio.run(run())


def test_right_answers_come_of_feedback(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask]
) -> None:
    answers = {entry["question"]: entry["answer"] for entry in pairsmith.tasks(path=SAMPLES)}

    def answer(messages: Messages) -> str:
        right = answers[messages[1]["content"]]
        if len(messages) == 2:
            return f"<think>Easy.</think>{right.replace('blockIdx.x', '7 + blockIdx.x')}"
        assert "Easy" not in messages[2]["content"]
        return f"<think>So it is {messages[3]['content'][:20]}</think>{right}"

    model.answer = answer
    path = tmp_path / "a.sqlite"
    with Archive(path, create=True) as archive:
        seed = archive.hidden_seed
    with Judge(seed, workers=1) as judge:
        found = solve(path, model, tasks[:1], Plan(turns=3), judge=judge)
    assert (found.asked, found.passed, found.whole) == (2, 1, True)
    with Archive(path) as archive:
        first, second = archive.query(task=tasks[0].id)
        assert second["parent"] == first["id"]
        assert (first["passed"], second["verdict"]) == (0, "passed")
        told = json.loads(second["prompt"])[-1]["content"]
        assert "That is not right yet." in told
        assert first["completion"].startswith("<think>")
        assert json.loads(second["launch"])[0]["block"]
        assert json.loads(second["metrics"])["credit"] == 1.0


def test_turns_that_are_left_are_asked_for_a_faster_one(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask]
) -> None:
    class Timed(Words):
        """Says of a text that passes that it takes as long as it is."""

        async def judge(self, task: ArchivedTask, attempt: str, text: str, turn: int) -> Judgement:
            found = await super().judge(task, attempt, text, turn)
            sizes = {"n": 1000}
            time = Time(float(len(text)), "measured", "", "a GPU", sizes, 2.0, "memory")
            return replace(found, metrics={**found.metrics, "time": time.as_dict()})

    model.answer = lambda messages: ("RIGHT", "RIGHT RIGHT", "R", "!RIGHT")[len(messages) // 2 - 1]
    path = tmp_path / "a.sqlite"
    plan = Plan(turns=4, faster=True)
    found = solve(path, model, tasks[:1], plan, judge=Timed())
    assert (found.asked, found.passed) == (4, 3)
    with Archive(path) as archive:
        chain = archive.query(task=tasks[0].id)
        assert best_of(chain)["completion"] == "RIGHT"
        last = json.loads(chain[-1]["prompt"])
    said = [message["content"] for message in last if message["role"] == "user"]
    assert "it takes 5 µs on one a GPU" in said[1]
    assert "it takes 11 µs on one a GPU" in said[2]
    assert "would take 2 µs, 18% of that" in said[2]
    assert "not right yet" in said[3]
    again = solve(path, model, tasks[:1], plan, judge=Timed())
    assert (again.asked, again.known) == (0, 4)


def test_an_input_on_which_it_is_wrong_is_told() -> None:
    entries = list(pairsmith.tasks("sft", path=SAMPLES))
    stores = [re.search(r"(\w+)\[[^=\n]*\] = (?=\w+;)", e["answer"]) for e in entries]
    tasks = archived_tasks(entries, "sft")
    task, entry, store = next(
        (task, entry, store)
        for task, entry, store in zip(tasks, entries, stores, strict=True)
        if store and store[1] in {a["name"] for a in json.loads(task.row)["args"]}
    )
    output, wrong = store[1], entry["answer"].replace(store[0], f"{store[0]}3 + ", 1)
    with Judge(3, workers=1) as judge:
        found = asyncio.run(judge.judge(task, "x", wrong, 0))
    assert found.status == "wrong_value"
    assert found.findings["counter_example"]["output"] == output
    from synth.loop.prompts import feedback_of

    row = json.loads(task.row)
    full = feedback_of(row, found.status, found.reason, found.findings, "stop", full=True)
    assert "it should be" in full
    public = feedback_of(row, found.status, found.reason, found.findings, "stop", full=False)
    assert "it should be" not in public


@pytest.mark.parametrize("stream", [False, True])
def test_faults_are_tried_again_and_counted(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask], stream: bool
) -> None:
    faults = [fault for fault in FAULTS if stream or fault != "half a stream"]
    if stream:
        # These two are answers to requests that do not stream.
        faults = [fault for fault in faults if fault not in ("malformed", "no choices")]
    model.faults, model.thinking = list(faults), "Hm."
    plan = Plan(turns=2, at_once=2, **_QUICK)
    found = solve(tmp_path / "a.sqlite", model, tasks, plan, stream=stream)
    assert (found.retries, found.asked, found.passed) == (len(faults), 8, 4)
    assert len(model.requests) == 8 + len(faults)
    assert model.most_at_once <= 2
    with Archive(tmp_path / "a.sqlite") as archive:
        rows = archive.query()
        assert sum(row["failures"] for row in rows) == len(faults)
        assert {row["thinking"] for row in rows} == {"Hm."}
        assert {row["completion"] for row in rows} == {"wrong", "RIGHT"}
        assert not any(row["tokens_estimated"] for row in rows)


def test_empty_answers_are_answers(tmp_path: Path, model: Model, tasks: list[ArchivedTask]) -> None:
    model.answer = lambda messages: "" if len(messages) == 2 else "RIGHT"
    model.usage = False
    found = solve(tmp_path / "a.sqlite", model, tasks[:1], Plan(turns=2))
    assert (found.asked, found.passed) == (2, 1)
    with Archive(tmp_path / "a.sqlite") as archive:
        first, second = archive.query()
    assert first["completion"] == ""
    assert first["tokens_estimated"]
    assert first["prompt_tokens"] > 100
    assert json.loads(second["prompt"])[2]["content"] == "(no answer)"


def test_an_endpoint_that_never_answers(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask]
) -> None:
    path, plan = tmp_path / "a.sqlite", Plan(retries=2, **_QUICK)
    model.faults = ["500"] * 3
    found = solve(path, model, tasks[:1], plan)
    assert (found.failed, found.retries, found.whole) == (1, 3, False)
    # The next run asks again.
    found = solve(path, model, tasks[:1], plan)
    assert (found.asked, found.whole) == (1, True)
    # What is too long is not tried again, now or later.
    model.faults = ["400"]
    found = solve(path, model, tasks[1:2], plan)
    assert (found.hopeless, found.retries, found.asked) == (1, 1, 0)
    found = solve(path, model, tasks[1:2], plan)
    assert (found.known, found.asked) == (1, 0)
    with pytest.raises(RunError, match="answers 401 for the model 'toy'"):
        solve(path, model, tasks[2:3], plan, key="sk-wrong")
    with pytest.raises(SettingsError, match="begins with http"):
        Endpoint("ftp://x", "toy", "x")


def test_what_is_there_is_not_asked_for_again(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask]
) -> None:
    path = tmp_path / "a.sqlite"
    assert solve(path, model, tasks[:2], Plan()).asked == 2
    # More samples, turns and tasks are added to what is there.
    found = solve(path, model, tasks[:3], Plan(samples=2, turns=2))
    assert (found.known, found.asked) == (2, 10)
    assert solve(path, model, tasks[:3], Plan(samples=2, turns=2)).asked == 0
    assert set(model.times.values()) == {1}
    assert len(model.billed) == 12


@pytest.mark.parametrize("limit", [{"tokens": 6000}, {"usd": 0.006}])
def test_budgets_are_kept_over_runs(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask], limit: dict[str, float]
) -> None:
    path, plan = tmp_path / "a.sqlite", Plan(samples=8, at_once=4)
    found = solve(path, model, tasks, plan, **limit)
    assert found.refused == {"tokens": "tokens", "usd": "money"}[next(iter(limit))]
    assert 1 <= found.asked < 32
    # What answers under way might have cost is free again once they have come.
    for _ in range(8):
        more = solve(path, model, tasks, plan, **limit)
        if not more.asked:
            break
    assert more.asked == 0
    with Archive(path) as archive:
        tokens, usd = archive.spent("toy")
    assert tokens <= 6000
    assert usd <= 0.006
    again = solve(tmp_path / "b.sqlite", model, tasks, plan, seconds=1e-9)
    assert (again.refused, again.asked) == ("time", 0)


def test_cut_answers_are_paid_for(tmp_path: Path, model: Model, tasks: list[ArchivedTask]) -> None:
    model.faults = ["cut", "500"]
    found = solve(tmp_path / "a.sqlite", model, tasks[:1], Plan(**_QUICK))
    assert found.asked == 1
    with Archive(tmp_path / "a.sqlite") as archive:
        (row,) = archive.query()
        answered = row["prompt_tokens"] + row["completion_tokens"]
        tokens, _usd = archive.spent("toy")
    # The whole of what it may have cost, once: the other fault costs nothing.
    assert tokens > answered + len(tasks[0].question)


def test_kills_lose_nothing_and_pay_for_nothing_twice(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask]
) -> None:
    plan = Plan(samples=4, turns=2, at_once=2)

    def work(name: str) -> Callable[[], object]:
        return lambda: solve(tmp_path / name, model, tasks[:2], plan)

    assert len(points(work("whole.sqlite"))) == 16 * 5
    keys, kills = set(model.billed), 0
    model.billed.clear()
    model.times.clear()
    model.requests.clear()
    while killed_at(1 + kills % 7, work("killed.sqlite")):
        kills += 1
    assert kills >= 20
    # What was under way is asked for again, under its key; what was kept is not.
    assert len(model.requests) <= len(keys) + plan.at_once * kills
    found = solve(tmp_path / "killed.sqlite", model, tasks[:2], plan)
    assert (found.passed, found.asked, found.whole) == (8, 0, True)
    assert set(model.billed) == keys
    with Archive(tmp_path / "killed.sqlite") as archive:
        assert {row["id"] for row in archive.query()} == keys
        assert len(archive.query(passed=True)) == 8
        with Archive(tmp_path / "whole.sqlite") as whole:
            texts = [{r["id"]: r["completion"] for r in one.query()} for one in (archive, whole)]
    assert texts[0] == texts[1]


def test_two_writers_share_the_work(
    tmp_path: Path, model: Model, tasks: list[ArchivedTask]
) -> None:
    path, plan = tmp_path / "a.sqlite", Plan(samples=3, turns=2)
    with Archive(path, create=True):
        pass
    assert not killed_at(10_000, lambda: _together(path, model, tasks, plan))
    with Archive(path) as archive:
        assert len(archive.query()) == 24
    assert set(model.times.values()) == {1}


def _together(path: Path, model: Model, tasks: list[ArchivedTask], plan: Plan) -> None:
    """Two processes at the same tasks, and what either left to the other."""
    import os

    child = os.fork()
    found = solve(path, model, tasks, plan)
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    if not found.whole:
        found = solve(path, model, tasks, plan)
    assert found.whole
