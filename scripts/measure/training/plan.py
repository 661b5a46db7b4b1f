"""How `worth.py train` goes about it: its plan, its rates, and who takes the steps. Needs torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from scripts.measure.training.model import HEAD_WIDTH, PARTS, Transformer
from scripts.measure.training.muon import Muon
from synth.errors import SettingsError

_WARM_UP, _STAYS, _LEAST_RATE = 0.02, 0.4, 0.05
"""Shares of the training: in which the rate rises, and up to which it stays; and the share of the
highest that a cosine ends at. What stays falls to nothing."""
COSINE, STAYS = "cosine", "stays"
_BETAS, _DECAY, _MOST_GRADIENT = (0.9, 0.95), 0.1, 1.0
_MATRIX_DECAY = 0.02
_SMALL_RATE = 4.0
"""Times the rate of the table: that of taps, gains and shares in a mixture."""
_CUTS = {"into_heads": 3, "out_of_heads": 1, "gate": 2, "down": 1}
"""By name of a layer of a block: of how many matrices, one above the other, its weight consists."""


@dataclass(frozen=True)
class Plan:
    """How to train, for `minutes`, or for `steps` where these are given, and how many to ask.

    `parts` of the model, joined by commas. Where `matrix_rate` is not 0, Muon goes with it for the
    blocks' matrices; `learning_rate` is AdamW's, for all else. `question_weight` is what a token of
    a question counts in the loss, one of an answer counting 1; `own_names` the share of
    conversations that keep their names where the folder has templates; `workers` name the others.
    """

    minutes: float = 5.5
    steps: int | None = None
    ask: int = 400
    width: int = 640
    layers: int = 12
    batch_tokens: int = 65536
    learning_rate: float = 1.2e-3
    seed: int = 0
    device: str = ""
    compiled: bool = True
    parts: str = ""
    matrix_rate: float = 0.0
    schedule: str = COSINE
    question_weight: float = 0.0
    own_names: float = 1.0
    workers: int = 8

    @property
    def model_parts(self) -> tuple[str, ...]:
        return tuple(name for name in self.parts.split(",") if name)

    def check(self) -> None:
        """Raise :class:`SettingsError` for what cannot be."""
        if self.width < HEAD_WIDTH or self.width % HEAD_WIDTH:
            raise SettingsError(f"--width is {self.width}: a multiple of {HEAD_WIDTH}")
        least = {"minutes": self.minutes, "learning-rate": self.learning_rate}
        counts = {"layers": self.layers, "steps": self.steps, "workers": self.workers}
        for name, value in (least | counts).items():
            if value is not None and not value > 0:
                raise SettingsError(f"--{name} is {value}: more than 0 is needed")
        if unknown := set(self.model_parts) - set(PARTS):
            raise SettingsError(f"--parts has {min(unknown)!r}: there are {', '.join(PARTS)}")
        shares = {"question-weight": self.question_weight, "own-names": self.own_names}
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise SettingsError(f"--{name} is {share}: a share from 0 to 1")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise SettingsError("--device is cuda, and torch sees no GPU")


def rate_at(share: float, highest: float, schedule: str = COSINE) -> float:
    """The learning rate when a share of the training is over: a rise, then half a cosine, or a
    while at the highest and a line to zero."""
    rising = highest * min(1.0, share / _WARM_UP)
    if schedule == STAYS:
        return rising * min(1.0, max(0.0, 1 - share) / (1 - _STAYS))
    falling = _LEAST_RATE + (1 - _LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * min(share, 1.0)))
    return rising * falling


class Optimizers:
    """AdamW, and Muon for the blocks' matrices where it has a rate."""

    def __init__(self, model: Transformer, plan: Plan) -> None:
        self._plan = plan
        named = dict(model.named_parameters())
        matrices = {name: w for name, w in named.items() if name.split(".")[-2] in _CUTS}
        small = {name: w for name, w in named.items() if "blocks" in name and "norm" not in name}
        for name in matrices:
            del small[name]
        norms = {name: w for name, w in named.items() if name.split(".")[-2].endswith("norm")}
        self.muon: Muon | None = None
        decayed = [model.table.weight]
        if plan.matrix_rate:
            cuts = [_CUTS[name.split(".")[-2]] for name in matrices]
            self.muon = Muon(list(matrices.values()), cuts, _MATRIX_DECAY)
        else:
            decayed += matrices.values()
        groups = [
            {"params": decayed, "weight_decay": _DECAY, "times": 1.0},
            {"params": [*norms.values()], "weight_decay": 0.0, "times": 1.0},
            {"params": [*small.values()], "weight_decay": 0.0, "times": _SMALL_RATE},
        ]
        self.adam = torch.optim.AdamW(
            [group for group in groups if group["params"]], betas=_BETAS, fused=True
        )

    def step(self, share: float) -> None:
        """Use the gradients up, when a share of the training is over."""
        plan, held = self._plan, []
        for group in self.adam.param_groups:
            rate = rate_at(share, plan.learning_rate, plan.schedule)
            group["lr"] = rate * group["times"]
            held += group["params"]
        torch.nn.utils.clip_grad_norm_(held, _MOST_GRADIENT)
        self.adam.step()
        if self.muon:
            self.muon.step(rate_at(share, plan.matrix_rate, plan.schedule))
        self.zero_grad()

    def zero_grad(self) -> None:
        self.adam.zero_grad(set_to_none=True)
        if self.muon:
            self.muon.zero_grad()
