"""`worth.py train`: a transformer trained from nothing for some minutes, then asked.

Needs torch, NumPy and tokenizers. `RUN/answers.jsonl` is what `pairsmith score` reads, and
`RUN/metrics.json` says how it went.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as torch's own documentation has it

from scripts.measure.training.answers import answers
from scripts.measure.training.model import Transformer, precision
from scripts.measure.training.names import Fresh, count_templates
from scripts.measure.training.plan import Optimizers, Plan
from scripts.measure.training.tokens import (
    ASKED,
    END,
    PAD,
    TOKENIZER,
    TRAIN,
    Documents,
    answer_line,
    batches,
    epoch_of,
    padded,
    read_documents,
    read_index,
    read_rows,
    require_room,
)
from synth.errors import SettingsError

_TOLD = 20
"""How often in all a loss is told."""
_ASKED_AT_ONCE = 1 << 18
"""Tokens of which keys and values are kept at a time."""
_SHARE_KEPT, _BYTES_KEPT = 0.4, 2
"""Of a GPU's free memory, what these may take; bytes of a number that a layer keeps of a token."""
_MEASURED = 400
"""Rows of a part of which the loss is measured, where fewer are asked."""


@dataclass(frozen=True)
class Batch:
    """`tokens` (rows, width); the flat positions in it from which wanted tokens are told, these
    tokens, and what each counts."""

    tokens: Tensor
    before: Tensor
    wanted: Tensor
    counts: Tensor


def batch_of(
    documents: Documents,
    chosen: NDArray[np.int64],
    width: int,
    device: torch.device,
    question_weight: float = 0.0,
) -> Batch:
    """Conversations as a batch, padded to `width` tokens; only answers' tokens are wanted, or
    questions' too where these count."""
    # One row alone would be compiled apart.
    tokens = np.full((max(2, len(chosen)), width), PAD, np.int64)
    before, wanted, counts = [], [], []
    for row, at in enumerate(chosen):
        one, first = documents[int(at)].astype(np.int64), int(documents.questions[at])
        tokens[row, : one.size] = one
        start = 1 if question_weight else first
        before.append(row * width + np.arange(start - 1, one.size - 1))
        wanted.append(one[start:])
        counts.append(np.where(np.arange(start, one.size) < first, question_weight, 1.0))
    ids = (tokens, np.concatenate(before), np.concatenate(wanted))
    weights = np.concatenate(counts).astype(np.float32)
    return Batch(*(_moved(array, device) for array in (*ids, weights)))


def _moved(array: NDArray[Any], device: torch.device) -> Tensor:
    """An array on the device; the host does not wait until it is there."""
    found = torch.from_numpy(array)
    if device.type != "cuda":
        return found
    return found.pin_memory().to(device, non_blocking=True)


def logits_of(model: Transformer, batch: Batch) -> Tensor:
    """What the model expects in place of each token that is wanted."""
    with precision(batch.tokens.device):
        return model.scores(model(batch.tokens).flatten(0, 1)[batch.before])


def loss_of(model: Transformer, batch: Batch) -> Tensor:
    """The mean loss (nats) of the tokens that are wanted, by what they count."""
    losses = F.cross_entropy(logits_of(model, batch), batch.wanted, reduction="none")
    return losses @ batch.counts / batch.counts.sum()


class _Coming(NamedTuple):
    """What a batch is made of: conversations by number, the width, and of which epoch it is."""

    documents: Documents
    chosen: NDArray[np.int64]
    width: int
    epoch: int


def ahead(found: Iterator[Documents]) -> Iterator[Documents]:
    """The same, each got while the one before is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, found)
        while True:
            documents = coming.result()
            coming = pool.submit(next, found)
            yield documents


class Training:
    """A model in training; `told` is its curve."""

    def __init__(
        self,
        documents: Documents,
        vocabulary: int,
        context: int,
        plan: Plan,
        fresh: Fresh | None = None,
    ) -> None:
        """``fresh`` gives conversations under other names for each epoch."""
        torch.manual_seed(plan.seed)
        best = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(plan.device or best)
        if self.device.type == "cuda":
            torch.set_float32_matmul_precision("high")
            # cuDNN would plan anew for each of the shapes that batches and answers have.
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.documents, self.plan, self._fresh = documents, plan, fresh
        parts = plan.model_parts
        model = Transformer(vocabulary, plan.width, plan.layers, context, parts)
        self.model = model.to(self.device)
        if plan.compiled:
            # The blocks are alike, so that one compilation does for all, at any shape.
            for block in self.model.blocks:
                block.compile(dynamic=True)
        self.optimizers = Optimizers(self.model, plan)
        self.told: list[dict[str, float]] = []
        self.steps, self.seen = 0, 0
        self.train_s = self.warm_up_s = 0.0

    def run(self) -> None:
        """Train. Raises :class:`SettingsError` where the loss is no number any more."""
        self.model.train()
        with closing(self._coming()) as coming, ThreadPoolExecutor(1) as beside:
            began_s = time.monotonic()
            first = beside.submit(next, coming)
            self._warm_up()
            batch = first.result()
            self.warm_up_s = time.monotonic() - began_s
            began_s = time.monotonic()
            while (share := self._share(time.monotonic() - began_s)) < 1:
                loss = self._step(batch, share)
                if share >= len(self.told) / _TOLD:
                    self._tell(share, batch.epoch, loss.item(), time.monotonic() - began_s)
                batch = next(coming)
            self._settle()
            self.train_s = time.monotonic() - began_s

    def _coming(self) -> Iterator[_Coming]:
        """Batches without end."""
        draw = np.random.default_rng(self.plan.seed)
        require_room(self.documents.lengths, self.plan.batch_tokens)
        with ExitStack() as stack:
            epochs: Iterator[Documents] = repeat(self.documents)
            if self._fresh:
                epochs = stack.enter_context(closing(self._fresh.epochs(self.plan.workers)))
            for epoch, documents in enumerate(stack.enter_context(closing(ahead(epochs)))):
                for chosen, width in epoch_of(documents.lengths, self.plan.batch_tokens, draw):
                    yield _Coming(documents, chosen, width, epoch)

    def _share(self, spent_s: float) -> float:
        if self.plan.steps is not None:
            return self.steps / self.plan.steps
        return spent_s / (60 * self.plan.minutes)

    def _warm_up(self) -> None:
        """A pass that teaches nothing, of the longest: compilers start, memory is had or not."""
        width = padded(int(self.documents.lengths.max()))
        longest = np.argsort(-self.documents.lengths, kind="stable")
        chosen = longest[: max(1, self.plan.batch_tokens // width)]
        self._loss(_Coming(self.documents, chosen, width, 0)).backward()
        self.optimizers.zero_grad()
        self._settle()

    def _loss(self, coming: _Coming) -> Tensor:
        weight = self.plan.question_weight
        batch = batch_of(coming.documents, coming.chosen, coming.width, self.device, weight)
        return loss_of(self.model, batch)

    def _step(self, coming: _Coming, share: float) -> Tensor:
        loss = self._loss(coming)
        loss.backward()
        self.optimizers.step(share)
        self.steps += 1
        self.seen += int(coming.documents.lengths[coming.chosen].sum())
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
    index, parts = read_index(folder), read_documents(folder)
    results.mkdir(parents=True, exist_ok=True)
    most = index["settings"]["max_tokens"]
    fresh = _fresh(folder, parts[TRAIN], plan, most)
    training = Training(parts[TRAIN], index["vocabulary"], most, plan, fresh)
    count = training.metrics()["parameters"]
    print(f"{count / 1e6:.1f} M parameters on {training.device}", flush=True)
    training.run()
    metrics = training.metrics() | {"asked": {}}
    _write(results, metrics)
    with (results / "answers.jsonl").open("w", encoding="utf-8") as file:
        for part in ASKED:
            began_s = time.monotonic()
            measured = min(len(parts[part]), max(_MEASURED, plan.ask))
            told = likelihood(training.model, parts[part], measured, plan.batch_tokens)
            told |= _ask(training.model, folder, part, plan.ask, file)
            metrics["asked"][part] = told | {"ask_s": time.monotonic() - began_s}
            print(f"{part}: {json.dumps(metrics['asked'][part])}", flush=True)
            _write(results, metrics)


def _fresh(folder: Path, documents: Documents, plan: Plan, most: int) -> Fresh | None:
    if plan.own_names == 1:
        return None
    count = count_templates(folder)
    if not count:
        raise SettingsError(f"--own-names: make {folder} with `worth.py prepare --fresh-names`")
    return Fresh(folder, documents, count, plan.own_names, most, plan.seed)


def _ask(model: Transformer, folder: Path, part: str, most: int, file: TextIO) -> dict[str, int]:
    """Write what the model answers to at most so many rows of a part; how many were asked, and of
    the answers how many are the row's own, and have no end."""
    tokenizer, documents = (
        Tokenizer.from_file(str(folder / TOKENIZER)),
        read_documents(folder)[part],
    )
    rows = read_rows(folder)
    ids = [row["id"] for row in rows if row["part"] == part and row["fits"]][:most]
    unfinished = equal = 0
    for at, said in asked(model, documents, len(ids)):
        unfinished += said[-1] != END
        equal += said == documents[at][int(documents.questions[at]) :].tolist()
        text = tokenizer.decode([t for t in said if t != END], skip_special_tokens=False)
        file.write(answer_line(ids[at], text))
        file.flush()
    return {"asked": len(ids), "equal": equal, "unfinished": unfinished}


def _tokens_at_once(model: Transformer) -> int:
    """Tokens of the questions and answers that are kept at a time: more where a GPU has the memory,
    since each step takes about as long for all as for one."""
    device = model.table.weight.device
    if device.type != "cuda":
        return _ASKED_AT_ONCE
    a_token = 2 * model.table.weight.shape[1] * len(model.blocks) * _BYTES_KEPT
    free, _ = torch.cuda.mem_get_info(device)
    return max(_ASKED_AT_ONCE, int(free * _SHARE_KEPT) // a_token)


def asked(model: Transformer, documents: Documents, count: int) -> Iterator[tuple[int, list[int]]]:
    """What the model answers to the first `count` questions, by number, those alike together."""
    model.eval()
    at_once = max(1, _tokens_at_once(model) // padded(model.context))
    order = np.argsort(documents.questions[:count], kind="stable").tolist()
    for start in range(0, count, at_once):
        some = order[start : start + at_once]
        yield from zip(some, answers(model, [documents.question(at) for at in some]), strict=True)


@torch.inference_mode()
def likelihood(
    model: Transformer, documents: Documents, count: int, tokens: int
) -> dict[str, float]:
    """Mean loss (nats) of the own answers' tokens of the first `count` rows, by token and by row;
    the share of tokens that are the likeliest where all before are right, and of rows where all
    are: greedy answers equal these."""
    model.eval()
    device = model.table.weight.device
    loss = right = total = whole = 0.0
    for chosen, width, epoch in batches(documents.lengths[:count], tokens, 0):
        if epoch:
            break
        batch = batch_of(documents, chosen, width, device)
        logits = logits_of(model, batch)
        loss += float(F.cross_entropy(logits, batch.wanted, reduction="sum"))
        wrong = logits.argmax(-1) != batch.wanted
        total += batch.wanted.numel()
        right += batch.wanted.numel() - int(wrong.sum())
        whole += len(chosen) - len((batch.before[wrong] // width).unique())
    return {
        "loss": loss / total,
        "row_loss": loss / count,
        "tokens_right": right / total,
        "rows_right": whole / count,
    }


def _write(results: Path, metrics: dict[str, Any]) -> None:
    (results / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n")
