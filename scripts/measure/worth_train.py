"""`worth.py train`: a transformer trained from nothing for some minutes, then asked.

Needs torch, NumPy and tokenizers. `RUN/answers.jsonl` is what `pairsmith score` reads, and
`RUN/metrics.json` says how it went.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as torch's own documentation has it

from scripts.measure.worth_answers import answers
from scripts.measure.worth_model import HEAD_WIDTH, Transformer, precision
from scripts.measure.worth_tokens import (
    ASKED,
    END,
    PAD,
    TOKENIZER,
    TRAIN,
    Documents,
    answer_line,
    batches,
    padded,
    read_documents,
    read_index,
    read_rows,
)
from synth.errors import SettingsError

_WARM_UP, _LEAST_RATE = 0.02, 0.05
"""Share of the training in which the rate rises, and the share of the highest that it ends at."""
_BETAS, _DECAY, _MOST_GRADIENT = (0.9, 0.95), 0.1, 1.0
_TOLD = 20
"""How often in all a loss is told."""
_ASKED_AT_ONCE = 1 << 18
"""Tokens of which keys and values are kept at a time."""


@dataclass(frozen=True)
class Plan:
    """How to train, for `minutes`, or for `steps` where these are given, and how many to ask."""

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

    def check(self) -> None:
        """Raise :class:`SettingsError` for what cannot be."""
        if self.width < HEAD_WIDTH or self.width % HEAD_WIDTH:
            raise SettingsError(f"--width is {self.width}: a multiple of {HEAD_WIDTH}")
        least = {"minutes": self.minutes, "learning-rate": self.learning_rate}
        counts = {"ask": self.ask, "layers": self.layers, "steps": self.steps}
        for name, value in (least | counts).items():
            if value is not None and not value > 0:
                raise SettingsError(f"--{name} is {value}: more than 0 is needed")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise SettingsError("--device is cuda, and torch sees no GPU")


@dataclass(frozen=True)
class Batch:
    """`tokens` (rows, width); the flat positions in it from which answers' tokens are told, and
    these tokens."""

    tokens: Tensor
    before: Tensor
    wanted: Tensor


def batch_of(
    documents: Documents, chosen: NDArray[np.int64], width: int, device: torch.device
) -> Batch:
    """Conversations as a batch, padded to `width` tokens; only answers' tokens are wanted."""
    # One row alone would be compiled apart.
    tokens = np.full((max(2, len(chosen)), width), PAD, np.int64)
    before, wanted = [], []
    for row, at in enumerate(chosen):
        one, first = documents[int(at)].astype(np.int64), int(documents.questions[at])
        tokens[row, : one.size] = one
        before.append(row * width + np.arange(first - 1, one.size - 1))
        wanted.append(one[first:])
    arrays = (tokens, np.concatenate(before), np.concatenate(wanted))
    return Batch(*(_moved(array, device) for array in arrays))


def _moved(array: NDArray[np.int64], device: torch.device) -> Tensor:
    """An array on the device; the host does not wait until it is there."""
    found = torch.from_numpy(array)
    if device.type != "cuda":
        return found
    return found.pin_memory().to(device, non_blocking=True)


def logits_of(model: Transformer, batch: Batch) -> Tensor:
    """What the model expects in place of each token that is wanted."""
    with precision(batch.tokens.device):
        return model.scores(model(batch.tokens).flatten(0, 1)[batch.before])


def rate_at(share: float, highest: float) -> float:
    """The learning rate when a share of the training is over: a rise, then half a cosine."""
    falling = _LEAST_RATE + (1 - _LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * min(share, 1.0)))
    return highest * min(1.0, share / _WARM_UP) * falling


class Training:
    """A model in training; `told` is its curve."""

    def __init__(self, documents: Documents, vocabulary: int, context: int, plan: Plan) -> None:
        torch.manual_seed(plan.seed)
        best = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(plan.device or best)
        if self.device.type == "cuda":
            torch.set_float32_matmul_precision("high")
            # cuDNN would plan anew for each of the shapes that batches and answers have.
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.documents, self.plan = documents, plan
        self.model = Transformer(vocabulary, plan.width, plan.layers, context).to(self.device)
        if plan.compiled:
            # The blocks are alike, so that one compilation does for all, at any shape.
            for block in self.model.blocks:
                block.compile(dynamic=True)
        weights = list(self.model.parameters())
        groups = [
            {"params": [w for w in weights if w.ndim > 1], "weight_decay": _DECAY},
            {"params": [w for w in weights if w.ndim == 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, betas=_BETAS, fused=True)
        self.told: list[dict[str, float]] = []
        self.steps, self.seen = 0, 0
        self.train_s = self.warm_up_s = 0.0

    def run(self) -> None:
        """Train. Raises :class:`SettingsError` where the loss is no number any more."""
        self.model.train()
        coming = batches(self.documents.lengths, self.plan.batch_tokens, self.plan.seed)
        began_s = time.monotonic()
        self._warm_up()
        self.warm_up_s = time.monotonic() - began_s
        began_s = time.monotonic()
        while (share := self._share(time.monotonic() - began_s)) < 1:
            chosen, width, epoch = next(coming)
            loss = self._step(chosen, width, rate_at(share, self.plan.learning_rate))
            if share >= len(self.told) / _TOLD:
                self._tell(share, epoch, loss.item(), time.monotonic() - began_s)
        self._settle()
        self.train_s = time.monotonic() - began_s

    def _share(self, spent_s: float) -> float:
        if self.plan.steps is not None:
            return self.steps / self.plan.steps
        return spent_s / (60 * self.plan.minutes)

    def _warm_up(self) -> None:
        """A pass that teaches nothing, of the longest: compilers start, memory is had or not."""
        width = padded(int(self.documents.lengths.max()))
        longest = np.argsort(-self.documents.lengths, kind="stable")
        chosen = longest[: max(1, self.plan.batch_tokens // width)]
        self._loss(chosen, width).backward()
        self.optimizer.zero_grad(set_to_none=True)
        self._settle()

    def _loss(self, chosen: NDArray[np.int64], width: int) -> Tensor:
        batch = batch_of(self.documents, chosen, width, self.device)
        return F.cross_entropy(logits_of(self.model, batch), batch.wanted)

    def _step(self, chosen: NDArray[np.int64], width: int, rate: float) -> Tensor:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss = self._loss(chosen, width)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), _MOST_GRADIENT)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.steps += 1
        self.seen += int(self.documents.lengths[chosen].sum())
        return loss.detach()

    def _tell(self, share: float, epoch: int, loss: float, spent_s: float) -> None:
        if not math.isfinite(loss):
            raise SettingsError(f"the loss is {loss} at step {self.steps}: lower --learning-rate")
        self.told.append({"step": self.steps, "epoch": epoch, "loss": round(loss, 5)})
        rate = self.seen / spent_s
        print(
            f"{100 * share:3.0f} %: step {self.steps}, epoch {epoch}, loss {loss:.4f}, "
            f"{rate / 1e3:.1f} k tokens/s",
            flush=True,
        )

    def _settle(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def metrics(self) -> dict[str, Any]:
        """How the training went; times in seconds, `warm_up_s` before it."""
        name = torch.cuda.get_device_name() if self.device.type == "cuda" else "CPU"
        return {
            "plan": asdict(self.plan),
            "device": name,
            "torch": torch.__version__,
            "parameters": sum(weight.numel() for weight in self.model.parameters()),
            "conversations": len(self.documents),
            "steps": self.steps,
            "epochs": self.seen / int(self.documents.lengths.sum()),
            "tokens": self.seen,
            "warm_up_s": self.warm_up_s,
            "train_s": self.train_s,
            "losses": self.told,
        }


def train_and_ask(folder: Path, results: Path, plan: Plan) -> None:
    """Train on a prepared folder and write what the model answers.

    Raises :class:`SettingsError` for a plan that cannot be, and for a folder that is not prepared.
    """
    plan.check()
    index, parts, rows = read_index(folder), read_documents(folder), read_rows(folder)
    results.mkdir(parents=True, exist_ok=True)
    training = Training(parts[TRAIN], index["vocabulary"], index["settings"]["max_tokens"], plan)
    print(
        f"{training.metrics()['parameters'] / 1e6:.1f} M parameters on {training.device}",
        flush=True,
    )
    training.run()
    metrics = training.metrics() | {"asked": {}}
    _write(results, metrics)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    with (results / "answers.jsonl").open("w", encoding="utf-8") as file:
        for part in ASKED:
            ids = [row["id"] for row in rows if row["part"] == part and row["fits"]][: plan.ask]
            began_s = time.monotonic()
            told = likelihood(training.model, parts[part], len(ids), plan.batch_tokens)
            unfinished = equal = 0
            for at, said in asked(training.model, parts[part], len(ids)):
                wanted = parts[part][at][int(parts[part].questions[at]) :].tolist()
                unfinished += said[-1] != END
                equal += said == wanted
                text = tokenizer.decode(
                    [token for token in said if token != END], skip_special_tokens=False
                )
                file.write(answer_line(ids[at], text))
                file.flush()
            told |= {"asked": len(ids), "equal": equal, "unfinished": unfinished}
            metrics["asked"][part] = told | {"ask_s": time.monotonic() - began_s}
            print(f"{part}: {json.dumps(metrics['asked'][part])}", flush=True)
            _write(results, metrics)


def asked(model: Transformer, documents: Documents, count: int) -> Iterator[tuple[int, list[int]]]:
    """What the model answers to the first `count` questions, by number, those alike together."""
    model.eval()
    at_once = max(1, _ASKED_AT_ONCE // padded(model.context))
    order = np.argsort(documents.questions[:count], kind="stable").tolist()
    for start in range(0, count, at_once):
        some = order[start : start + at_once]
        yield from zip(some, answers(model, [documents.question(at) for at in some]), strict=True)


@torch.inference_mode()
def likelihood(
    model: Transformer, documents: Documents, count: int, tokens: int
) -> dict[str, float]:
    """Mean loss (nats) of the own answers' tokens of the first `count` rows, and the share of them
    that is the likeliest where all before it are right."""
    model.eval()
    device = model.table.weight.device
    loss = right = total = 0.0
    for chosen, width, epoch in batches(documents.lengths[:count], tokens, 0):
        if epoch:
            break
        batch = batch_of(documents, chosen, width, device)
        logits = logits_of(model, batch)
        loss += float(F.cross_entropy(logits, batch.wanted, reduction="sum"))
        right += int((logits.argmax(-1) == batch.wanted).sum())
        total += batch.wanted.numel()
    return {"loss": loss / total, "tokens_right": right / total}


def _write(results: Path, metrics: dict[str, Any]) -> None:
    (results / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n")
