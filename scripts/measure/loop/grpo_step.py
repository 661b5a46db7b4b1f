"""Group-relative policy optimisation of a model of `worth.py`: one step, with real verdicts.

Several answers to each task are drawn; what an answer is worth is its reward less the mean of its
task's, over their spread (Shao et al., "DeepSeekMath", arXiv:2402.03300, section 4.1). One step is
taken on each set of answers, so that the chances of old and new policy are the same; there is no
penalty on the distance to the first model, and each token of the set counts alike (Yu et al.,
"DAPO", arXiv:2503.14476, section 3.3).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as torch's own documentation has it

from scripts.measure.loop.speaker import Voice
from scripts.measure.training.model import precision
from scripts.measure.training.tokens import PAD, Ids, padded
from synth.loop.rewards import credit
from validate.score.scorer import Answer, Scorer, Verdict

_BETAS = (0.9, 0.95)
_MOST_GRADIENT = 1.0
_LEAST_SPREAD = 1e-4

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """A task with its question in tokens and its row as the judge takes it."""

    question: Ids
    row: Mapping[str, Any]


def verdicts_of(
    scorer: Scorer, rows: Sequence[Mapping[str, Any]], texts: Sequence[str]
) -> tuple[list[Verdict], int]:
    """A verdict for each text, and how many were judged: equal texts to a row are one."""
    places = {(row["id"], text): at for at, (row, text) in enumerate(zip(rows, texts, strict=True))}
    chosen = sorted(places.values())
    judged = scorer.score_batch([Answer(texts[at], rows[at]) for at in chosen])
    known = dict(zip(chosen, judged, strict=True))
    found = [known[places[row["id"], text]] for row, text in zip(rows, texts, strict=True)]
    return found, len(chosen)


def advantages(rewards: Sequence[float], group: int) -> list[float]:
    """Rewards less their group's mean, over its spread; 0 where all of a group are alike."""
    grid = np.array(rewards).reshape(-1, group)
    gap = grid - grid.mean(1, keepdims=True)
    found: list[float] = (gap / (grid.std(1, keepdims=True) + _LEAST_SPREAD)).ravel().tolist()
    return found


class Learner:
    """A model that learns from verdicts."""

    def __init__(
        self, voice: Voice, scorer: Scorer, *, group: int, rate: float, rises: int, batch: int
    ) -> None:
        """``rate`` is reached after ``rises`` steps; a pass holds ``batch`` tokens at a time."""
        self.voice, self.scorer, self.group = voice, scorer, group
        self._rate, self._rises, self._batch = rate, rises, batch
        self.optimizer = torch.optim.AdamW(
            voice.model.parameters(), lr=0.0, betas=_BETAS, weight_decay=0.0, fused=True
        )
        self.steps = 0

    def step(self, tasks: Sequence[Asked]) -> dict[str, float]:
        """Draw answers, have them judged, learn; what is to be told of it, times in seconds."""
        began_s = time.monotonic()
        asked = [task for task in tasks for _ in range(self.group)]
        said = self.voice.say([task.question for task in asked])
        said_s = time.monotonic()
        texts = [self.voice.text_of(tokens) for tokens in said]
        verdicts, judged = verdicts_of(self.scorer, [task.row for task in asked], texts)
        judged_s = time.monotonic()
        worth = advantages([credit(verdict) for verdict in verdicts], self.group)
        gradient = self._learn([task.question for task in asked], said, worth)
        self.steps += 1
        return {
            "step": self.steps,
            "reward": float(np.mean([credit(verdict) for verdict in verdicts])),
            "passed": float(np.mean([verdict.passed for verdict in verdicts])),
            "compiled": float(np.mean([verdict.compiled for verdict in verdicts])),
            "answers": len(said),
            "judged": judged,
            "told_apart": sum(w != 0 for w in worth),
            "tokens": float(np.mean([len(tokens) for tokens in said])),
            "gradient": gradient,
            "speak_s": said_s - began_s,
            "judge_s": judged_s - said_s,
            "learn_s": time.monotonic() - judged_s,
        }

    def _learn(
        self, questions: Sequence[Ids], said: Sequence[Sequence[int]], worth: Sequence[float]
    ) -> float:
        """One step; the length of the gradient before it was cut."""
        rate = self._rate * min(1.0, (self.steps + 1) / self._rises)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.voice.model.train()
        total = sum(map(len, said))
        telling = [at for at, value in enumerate(worth) if value]
        for some in self._cut(telling, questions, said):
            chances = self._chances([questions[at] for at in some], [said[at] for at in some])
            device = chances.device
            lengths = torch.tensor([len(said[at]) for at in some], device=device)
            weights = torch.tensor([worth[at] for at in some], device=device)
            loss = -(weights.repeat_interleave(lengths) * chances).sum() / total
            loss.backward()
        length = torch.nn.utils.clip_grad_norm_(self.voice.model.parameters(), _MOST_GRADIENT)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(length)

    def _cut(
        self, chosen: Sequence[int], questions: Sequence[Ids], said: Sequence[Sequence[int]]
    ) -> list[list[int]]:
        """Answers by length, as many at a time as a pass holds."""
        sizes = {at: padded(len(questions[at]) + len(said[at])) for at in chosen}
        found: list[list[int]] = []
        width = 0
        for at in sorted(chosen, key=lambda at: -sizes[at]):
            if not found or (len(found[-1]) + 1) * width > self._batch:
                found.append([])
                width = sizes[at]
            found[-1].append(at)
        return found

    def _chances(self, questions: Sequence[Ids], said: Sequence[Sequence[int]]) -> Tensor:
        """The logarithm of the chance of each token that was said, one answer after the other."""
        model, device = self.voice.model, self.voice.model.table.weight.device
        width = max(padded(len(q) + len(a)) for q, a in zip(questions, said, strict=True))
        # One row alone would be compiled apart.
        tokens = np.full((max(2, len(said)), width), PAD, np.int64)
        before, wanted = [], []
        for row, (question, answer) in enumerate(zip(questions, said, strict=True)):
            first, end = len(question), len(question) + len(answer)
            tokens[row, :first] = question
            tokens[row, first:end] = answer
            before.append(row * width + np.arange(first - 1, end - 1))
            wanted.append(np.array(answer, np.int64))
        with precision(device):
            seen = model(torch.from_numpy(tokens).to(device)).flatten(0, 1)
            scores = model.scores(seen[torch.from_numpy(np.concatenate(before)).to(device)])
        answered = torch.from_numpy(np.concatenate(wanted)).to(device)
        return -F.cross_entropy(scores / self.voice.draw.temperature, answered, reduction="none")
