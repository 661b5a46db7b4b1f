"""A model in the loop: asked, judged, told what was wrong, asked again; all of it kept.

A chain is one sample of one task: a first answer, and as long as none passes one more in each
further turn. What the archive has is not asked for again. Each turn is judged on other hidden
inputs, so that a counter-example that a model was told of does not decide on its next answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from synth.check.answers import told_of
from synth.dataset.failpoints import failpoint
from synth.loop.archive import Archive, ArchivedTask, Attempt, Judgement
from synth.loop.budget import Budget, Price, estimated_tokens, most_prompt_tokens
from synth.loop.client import Chat, Reply, Trouble
from synth.loop.findings import Findings
from synth.loop.prompts import (
    Messages,
    attempt_id,
    faster_of,
    feedback_of,
    first_messages,
    next_messages,
    task_id,
)
from validate.row.archs import DEFAULT_ARCH
from validate.score.scorer import Scorer
from validate.score.task import Task, task_of

if TYPE_CHECKING:
    from synth.loop.stopwatch import Stopwatch
    from synth.loop.times import Predictor

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
_FINDINGS = ("detail", "counter_example", "inputs")
_METRICS = ("credit", "share", "compiled", "launched")


@dataclass(frozen=True)
class Plan:
    """``samples`` chains a task of at most ``turns`` answers; ``at_once`` requests at a time, each
    tried again ``retries`` times. ``full`` feedback has the input on which an answer is wrong.
    ``faster``: turns that are left after an answer that passes are asked for a faster one."""

    samples: int = 1
    turns: int = 1
    at_once: int = 8
    retries: int = 6
    full: bool = True
    hardware: str = ""
    first_pause_s: float = _FIRST_PAUSE_S
    faster: bool = False


@dataclass
class Outcome:
    """Counts of attempts of a run: ``asked`` and answered now, ``known`` from before, ``passed``
    of both; ``retries`` are requests without an answer, ``failed`` attempts that had none in the
    end, ``hopeless`` those that the endpoint will never answer, ``elsewhere`` those that another
    process is at, ``unfit`` answers to rows that are wrong."""

    asked: int = 0
    known: int = 0
    passed: int = 0
    retries: int = 0
    failed: int = 0
    hopeless: int = 0
    elsewhere: int = 0
    unfit: int = 0
    solved: set[str] = field(default_factory=set)
    refused: str = ""

    @property
    def whole(self) -> bool:
        """Whether nothing is left to be asked for."""
        return not (self.refused or self.failed or self.elsewhere)


def archived_task(
    entry: dict[str, Any], view: str, more: Mapping[str, Any] | None = None
) -> ArchivedTask:
    """A task as `synth.loop.tasks` has it, for an archive; columns of ``more`` come to its row, and
    do not decide which task it is."""
    told, question = entry["metadata"], entry["question"]
    found = task_id(told["row"], view, question)
    row = json.dumps({**json.loads(told["row"]), **more}) if more else told["row"]
    return ArchivedTask(found, told["id"], view, told["category"], told["level"], question, row)


def turn_seed(hidden_seed: int, turn: int) -> int:
    """The seed of the hidden inputs of a turn."""
    digest = hashlib.sha256(f"{hidden_seed}/{turn}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class Judge:
    """A scorer for each turn; use it as a context manager. ``timer`` tells the times of answers
    that pass; None: nobody asks for them."""

    def __init__(
        self,
        hidden_seed: int,
        workers: int,
        arch: str = DEFAULT_ARCH,
        timer: Stopwatch | Predictor | None = None,
    ) -> None:
        self._seed, self._workers = hidden_seed, workers
        self._findings, self._timer = Findings(arch), timer
        self._timing = asyncio.Lock()
        self._scorers: dict[int, Scorer] = {}
        self._open = ExitStack()

    def __enter__(self) -> Judge:
        self._open.enter_context(self._findings)
        if self._timer is not None:
            self._open.enter_context(self._timer)
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    async def judge(self, task: ArchivedTask, attempt: str, text: str, turn: int) -> Judgement:
        """What is to be said of a text."""
        if turn not in self._scorers:
            scorer = Scorer(hidden_seed=turn_seed(self._seed, turn), workers=self._workers)
            self._scorers[turn] = self._open.enter_context(scorer)
        began_s = time.monotonic()
        row = _row_of(task.row)
        verdict = await self._scorers[turn].score_async(text, row)
        told = told_of(verdict, "full")
        found = {name: told[name] for name in _FINDINGS}
        if verdict.compiled:
            found |= await asyncio.to_thread(self._findings.of, text, row)
        metrics = {name: told[name] for name in _METRICS}
        if verdict.passed and self._timer is not None:
            async with self._timing:
                time_ = await asyncio.to_thread(self._timer.of, text, row)
            metrics["time"] = time_.as_dict()
        return Judgement(
            attempt,
            str(verdict.status),
            verdict.reason,
            _launch_of(text, row),
            found,
            metrics,
            verdict.passed,
            verdict.judged,
            time.monotonic() - began_s,
        )


@lru_cache(maxsize=256)
def _row_of(text: str) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(text)
    return row


def _launch_of(text: str, row: dict[str, Any]) -> list[dict[str, Any]] | None:
    """How a text is launched, where it can be read."""
    read = task_of(text, row, None)
    return [asdict(launch) for launch in read.launches] if isinstance(read, Task) else None


class Solver:
    """One run over tasks. The archive and the budget are used in the thread of the event loop."""

    def __init__(
        self,
        archive: Archive,
        chat: Chat,
        judge: Judge,
        plan: Plan,
        *,
        budget: Budget,
        price: Price,
        progress: Callable[[int], object] = lambda _chains: None,
    ) -> None:
        self._archive, self._chat, self._judge, self._plan = archive, chat, judge, plan
        self._budget, self._price, self._progress = budget, price, progress
        self.outcome = Outcome()

    async def run(self, tasks: Sequence[ArchivedTask]) -> Outcome:
        """Solve the tasks. Raises RunError when the endpoint refuses all requests."""
        self._archive.add_tasks(tasks)
        chains = iter([(task, n) for n in range(self._plan.samples) for task in tasks])
        workers = [asyncio.create_task(self._work(chains)) for _ in range(self._plan.at_once)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        self.outcome.refused = self._budget.refused
        return self.outcome

    async def _work(self, chains: Iterator[tuple[ArchivedTask, int]]) -> None:
        for task, sample in chains:
            await self._chain(task, sample)
            self._progress(1)

    async def _chain(self, task: ArchivedTask, sample: int) -> None:
        messages = first_messages(task.question, self._plan.hardware)
        parent: str | None = None
        for turn in range(self._plan.turns):
            attempt = await self._attempt(task, sample, turn, parent, messages)
            if attempt is None or attempt.error is not None:
                return
            judged = await self._judgement(task, attempt)
            self.outcome.passed += judged.passed
            self.outcome.unfit += not judged.judged
            if judged.passed:
                self.outcome.solved.add(task.id)
            if not judged.judged or (judged.passed and not self._plan.faster):
                return
            parent, said = attempt.id, self._said(task, attempt, judged)
            messages = next_messages(messages, attempt.completion, said)

    def _said(self, task: ArchivedTask, attempt: Attempt, judged: Judgement) -> str:
        """What the model is told of its answer."""
        row = _row_of(task.row)
        if judged.passed:
            return faster_of(row, judged.findings, judged.metrics.get("time"))
        return feedback_of(
            row, judged.status, judged.reason, judged.findings, attempt.finish, self._plan.full
        )

    async def _attempt(
        self, task: ArchivedTask, sample: int, turn: int, parent: str | None, messages: Messages
    ) -> Attempt | None:
        """The attempt, from the archive or asked for; None when it cannot be had now."""
        wanted = attempt_id(self._chat.endpoint.body(), task.id, sample, messages)
        found = self._archive.attempt(wanted)
        if found is None and not self._archive.claim(wanted):
            # Another process had its answer since, or is at it.
            found = self._archive.attempt(wanted)
            self.outcome.elsewhere += found is None
            if found is None:
                return None
        if found is not None:
            self.outcome.known += 1
            return found
        failpoint("an attempt is claimed")
        model = self._chat.endpoint.model
        asked = Attempt(wanted, parent, task.id, model, sample, turn, messages, "")
        try:
            return await self._asked(asked)
        finally:
            self._archive.release(wanted)

    async def _asked(self, attempt: Attempt) -> Attempt | None:
        """The attempt with its answer, kept; None when there is none or no budget for it."""
        pause_s = self._plan.first_pause_s
        for left in reversed(range(self._plan.retries + 1)):
            most = most_prompt_tokens(attempt.prompt), self._chat.endpoint.most_tokens()
            held = sum(most), self._price.usd(*most)
            if not await self._budget.hold(*held):
                return None
            began_s, spent = time.monotonic(), (0, 0.0)
            try:
                reply = await self._chat.ask(attempt.prompt, attempt.id)
                done = self._answered(attempt, reply, time.monotonic() - began_s)
                spent = done.prompt_tokens + done.completion_tokens, done.usd
                failpoint("an answer came")
                self._archive.add_attempt(done)
                failpoint("an answer is kept")
                self.outcome.asked += 1
                return done
            except Trouble as trouble:
                spent = held if trouble.sent else spent
                self._failed(attempt, trouble, time.monotonic() - began_s, spent)
                if not trouble.again:
                    return self._hopeless(attempt, trouble, time.monotonic() - began_s)
                wait_s = pause_s if trouble.after_s is None else trouble.after_s
            finally:
                await self._budget.settle(held, *spent)
            if left:
                await asyncio.sleep(min(wait_s, _LONGEST_PAUSE_S))
                pause_s *= 2
        self.outcome.failed += 1
        return None

    def _answered(self, attempt: Attempt, reply: Reply, seconds: float) -> Attempt:
        told = reply.prompt_tokens is not None and reply.completion_tokens is not None
        prompt_text = "".join(message["content"] for message in attempt.prompt)
        said = reply.text + reply.thinking
        prompt = reply.prompt_tokens if told else estimated_tokens(prompt_text)
        completion = reply.completion_tokens if told else estimated_tokens(said)
        assert prompt is not None
        assert completion is not None
        return Attempt(
            **{
                **asdict(attempt),
                "completion": reply.text,
                "thinking": reply.thinking,
                "finish": reply.finish,
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "tokens_estimated": not told,
                "usd": self._price.usd(prompt, completion),
                "seconds": seconds,
            }
        )

    def _failed(
        self, attempt: Attempt, trouble: Trouble, seconds: float, spent: tuple[int, float]
    ) -> None:
        self.outcome.retries += 1
        self._archive.add_failure(
            attempt.id, attempt.model, str(trouble), seconds, tokens=spent[0], usd=spent[1]
        )

    def _hopeless(self, attempt: Attempt, trouble: Trouble, seconds: float) -> Attempt:
        """A request that the endpoint will never answer, such as one that is too long."""
        done = Attempt(**{**asdict(attempt), "error": str(trouble), "seconds": seconds})
        self._archive.add_attempt(done)
        self.outcome.hopeless += 1
        return done

    async def _judgement(self, task: ArchivedTask, attempt: Attempt) -> Judgement:
        found = self._archive.judgement(attempt.id)
        if found is None:
            said = attempt.completion
            found = await self._judge.judge(task, attempt.id, said, attempt.turn)
            failpoint("a verdict came")
            self._archive.add_judgement(found)
            failpoint("a verdict is kept")
        return found


def archived_tasks(entries: Iterable[dict[str, Any]], view: str) -> list[ArchivedTask]:
    """Tasks of entries, each once."""
    found = (archived_task(entry, view) for entry in entries)
    return list({task.id: task for task in found}.values())
