"""scripts/measure/loop/grpo.py and what it is made of, where torch is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402

from scripts.measure.loop.grpo import pass_rates  # noqa: E402
from scripts.measure.loop.grpo_step import Asked, Learner, advantages, verdicts_of  # noqa: E402
from scripts.measure.loop.speaker import Speaker, Voice  # noqa: E402
from scripts.measure.training.answers import Draw  # noqa: E402
from scripts.measure.training.model import Transformer  # noqa: E402
from scripts.measure.training.tokens import MARKS  # noqa: E402
from synth.loop.client import Endpoint, Trouble  # noqa: E402
from validate.score.scorer import Answer, Verdict  # noqa: E402

WORDS = [f"w{number}" for number in range(12)]


def voice(most: int = 6) -> Voice:
    torch.manual_seed(0)
    tokenizer = Tokenizer(
        models.WordLevel({word: at for at, word in enumerate((*MARKS, *WORDS))}, "<pad>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    model = Transformer(len(MARKS) + len(WORDS), 64, 2, 64)
    return Voice(model, tokenizer, Draw(1.0, torch.Generator().manual_seed(0)), most)


class _LikesAWord:
    """Judges in place of a scorer: an answer is right that says the word which its row wants."""

    def __init__(self) -> None:
        self.judged = 0

    def score_batch(self, answers: Sequence[Answer]) -> list[Verdict]:
        self.judged += len(answers)
        return [self._verdict(str(one.cuda), one.row["want"]) for one in answers]

    def _verdict(self, text: str, want: str) -> Verdict:
        said = text.split()
        right = bool(said) and said[0] == want
        return Verdict("x", "passed" if right else "wrong_value", compiled=True, launched=True)


def test_a_model_learns_what_is_rewarded() -> None:
    scorer: Any = _LikesAWord()
    learner = Learner(voice(most=1), scorer, group=16, rate=5e-3, rises=2, batch=4096)
    tasks = [
        Asked(learner.voice.tokens_of([word]), {"id": word, "want": WORDS[(at + 3) % 12]})
        for at, word in enumerate(WORDS[:4])
    ]
    told = [learner.step(tasks) for _ in range(25)]
    passed = [one["passed"] for one in told]
    assert np.mean(passed[:3]) < 0.3
    assert np.mean(passed[-3:]) > 0.7
    assert all(one["judged"] <= one["answers"] == 64 for one in told)
    assert told[0]["gradient"] > 0


def test_equal_texts_to_a_row_are_judged_once() -> None:
    scorer: Any = _LikesAWord()
    rows = [{"id": "a", "want": "w1"}, {"id": "a", "want": "w1"}, {"id": "b", "want": "w2"}]
    found, judged = verdicts_of(scorer, rows, ["w1", "w1", "w1"])
    assert [verdict.passed for verdict in found] == [True, True, False]
    assert judged == scorer.judged == 2


def test_an_answer_is_worth_its_distance_from_the_mean_of_its_group() -> None:
    found = advantages([1, 0, 0, 0, 0.5, 0.5, 0.5, 0.5], 4)
    assert found[4:] == [0, 0, 0, 0]
    assert found[0] == pytest.approx(3**0.5, rel=1e-3)
    assert sum(found[:4]) == pytest.approx(0)


def test_who_asks_at_once_is_answered_together_and_a_long_question_never() -> None:
    speaker = Speaker(voice(), Endpoint("http://in-process", "worth", "none", 6))
    sizes = []
    say = speaker.voice.say
    together = SimpleNamespace(
        say=lambda questions: sizes.append(len(questions)) or say(questions),
        tokens_of=speaker.voice.tokens_of,
        text_of=speaker.voice.text_of,
        model=speaker.voice.model,
    )
    speaker.voice = together  # type: ignore[assignment]

    async def asked() -> list[Any]:
        system = {"role": "system", "content": "w9 w9"}
        talks = [[system, {"role": "user", "content": word}] for word in WORDS[:5]]
        long = [{"role": "user", "content": "w1 " * 80}]
        with pytest.raises(Trouble, match="longer than the context"):
            await speaker.ask(long, "k")
        return list(await asyncio.gather(*(speaker.ask(talk, "k") for talk in talks)))

    replies = asyncio.run(asked())
    assert sizes == [5]
    assert all(reply.prompt_tokens == 3 for reply in replies)
    assert speaker.spoken == sum(reply.completion_tokens for reply in replies)


def test_rates_are_counted_by_samples_and_turns() -> None:
    def one(task: str, sample: int, turn: int, passed: bool) -> dict[str, Any]:
        verdict = "passed" if passed else "wrong_value"
        about = {"task": task, "sample": sample, "turn": turn}
        return {**about, "passed": int(passed), "judged": 1, "verdict": verdict}

    found = [one("a", 0, 0, True), one("a", 1, 0, False), one("a", 1, 1, True)]
    found += [one("b", 0, 0, False), one("b", 0, 1, False)]
    found += [one("b", 1, 0, False), one("b", 1, 1, True)]
    rates = pass_rates(found, 2)
    assert (rates["pass_at_1"], rates["pass_at_2"]) == (0.25, 0.5)
    assert rates["turns"] == [{"chains": 0.25, "any": 0.5}, {"chains": 0.75, "any": 1.0}]
    assert rates["verdicts"]["1/passed"] == 2
