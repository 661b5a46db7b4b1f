"""Verdicts as numbers, in the form that trainers call."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from validate.score.scorer import Answer, Scorer, Verdict

Row = Mapping[str, Any]


def passed(verdict: Verdict) -> float:
    """1.0 for a text that passes, else 0.0."""
    return float(verdict.passed)


def credit(verdict: Verdict) -> float:
    """1.0 for a text that passes, at most 0.5 for one that does not (`Verdict.credit`)."""
    return verdict.credit


def processors() -> int:
    """Processors that this process may use."""
    known = getattr(os, "sched_getaffinity", None)
    return len(known(0)) if known else os.cpu_count() or 1


@lru_cache(maxsize=4)
def _scorer_of(_process: int) -> Scorer:
    scorer = Scorer(workers=processors())
    atexit.register(scorer.close)
    return scorer


def shared_scorer() -> Scorer:
    """The scorer of this process, made when it is first asked for and closed at its end.

    Trainers call rewards from processes that they fork; each has its own, for two must not speak
    with the same children. The hidden seed is drawn anew in each.
    """
    return _scorer_of(os.getpid())


def text_of(completion: Any) -> str:
    """What a model said: a text, or the last message of a conversation.

    Raises TypeError for anything else.
    """
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence) and completion and isinstance(completion[-1], Mapping):
        return text_of(completion[-1].get("content") or "")
    if isinstance(completion, Sequence) and not completion:
        return ""
    if isinstance(completion, Sequence) and isinstance(completion[-1], str):
        return "".join(completion)
    raise TypeError(f"a completion is a text or a list of messages, not {type(completion)}")


def row_of(row: Row | str) -> Row:
    """A row, or what ``metadata["row"]`` of a task has: its judged columns as JSON."""
    return json.loads(row) if isinstance(row, str) else row


class Reward:
    """``reward(prompts, completions, row=…)``: what TRL calls with the columns of its dataset.

    ``row`` has a row for each completion, or its JSON. The result has None where nothing can be
    said of the answer, because the row is wrong; TRL leaves these out. Raises TypeError for calls
    without ``row``, and what `Scorer.score_batch` does.
    """

    def __init__(
        self,
        value: Callable[[Verdict], float] = passed,
        scorer: Callable[[], Scorer] = shared_scorer,
    ) -> None:
        self._value, self._scorer = value, scorer
        # TRL names its metrics after the function.
        self.__name__ = f"pairsmith_{value.__name__}"

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        row: Sequence[Row | str],
        **columns: Any,
    ) -> list[float | None]:
        rows = {text: row_of(text) for text in {one for one in row if isinstance(one, str)}}
        answers = [
            Answer(text_of(said), rows[of] if isinstance(of, str) else of)
            for said, of in zip(completions, row, strict=True)
        ]
        verdicts = self._scorer().score_batch(answers)
        return [self._value(verdict) if verdict.judged else None for verdict in verdicts]


@lru_cache(maxsize=4)
def shared_reward(value: Callable[[Verdict], float] = passed) -> Reward:
    """A reward over the scorer of the process."""
    return Reward(value)
