"""The transformer of `worth.py`, and how it answers: many questions at a time, greedily or drawn.

A decoder with rotary positions (Su et al., arXiv:2104.09864), RMS norms before each part (Zhang and
Sennrich, arXiv:1910.07467), SwiGLU (Shazeer, arXiv:2002.05202) and one table for the tokens that go
in and come out. 62 million parameters at width 640 and 12 layers. Needs torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as torch's own documentation has it

from scripts.measure.worth_tokens import END, PAD, Ids, padded

HEAD_WIDTH = 64
_ROTATION_BASE = 10_000.0
_WEIGHT_SPREAD = 0.02
_NORM_EPSILON = 1e-6
_LOOK_EVERY = 16
"""Steps between looks at whether answers have ended: each look waits for the device."""


def precision(device: torch.device) -> AbstractContextManager[object]:
    """bfloat16 for products of matrices on a GPU, float32 elsewhere."""
    if device.type == "cuda":
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


class Block(nn.Module):
    """Attention, then a gated layer, each added to what comes in: (rows, tokens, width)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        hidden = padded(8 * width // 3)
        self.heads = width // HEAD_WIDTH
        self.attention_norm = nn.RMSNorm(width, eps=_NORM_EPSILON)
        self.into_heads = nn.Linear(width, 3 * width, bias=False)
        self.out_of_heads = nn.Linear(width, width, bias=False)
        self.gate_norm = nn.RMSNorm(width, eps=_NORM_EPSILON)
        self.gate = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Whole conversations, one a row: padding comes last, so that no token looks at it."""
        q, k, v = self.heads_of(x, cos, sin)
        return self.after(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def heads_of(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values: (rows, heads, tokens, HEAD_WIDTH)."""
        rows, tokens, _ = x.shape
        mixed = self.into_heads(self.attention_norm(x))
        q, k, v = mixed.view(rows, tokens, 3, self.heads, HEAD_WIDTH).permute(2, 0, 3, 1, 4)
        return rotated(q, cos, sin), rotated(k, cos, sin), v

    def after(self, x: Tensor, looked: Tensor) -> Tensor:
        """What comes out, given what attention found."""
        x = x + self.out_of_heads(looked.transpose(1, 2).flatten(2))
        gate, up = self.gate(self.gate_norm(x)).chunk(2, -1)
        added: Tensor = self.down(F.silu(gate) * up)
        return x + added


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Each half's components turned with those of the other by the angle of the position."""
    one, other = x.chunk(2, -1)
    return torch.cat((one * cos - other * sin, other * cos + one * sin), -1).to(x.dtype)


class Transformer(nn.Module):
    """`vocabulary` tokens, conversations of up to `context` of them."""

    cos: Tensor
    sin: Tensor

    def __init__(self, vocabulary: int, width: int, layers: int, context: int) -> None:
        super().__init__()
        self.context = context
        self.table = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps=_NORM_EPSILON)
        half = HEAD_WIDTH // 2
        speeds = _ROTATION_BASE ** (-torch.arange(half) / half)
        angles = torch.arange(padded(context))[:, None] * speeds
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                ends_branch = name.endswith(("out_of_heads.weight", "down.weight"))
                shrink = math.sqrt(2 * layers) if ends_branch else 1.0
                nn.init.normal_(weight, std=_WEIGHT_SPREAD / shrink)

    def forward(self, tokens: Tensor) -> Tensor:
        """What the last layer says at each token: (rows, tokens, width)."""
        x = self.table(tokens)
        cos, sin = self.cos[: tokens.shape[1]], self.sin[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, cos, sin)
        return x

    def scores(self, x: Tensor) -> Tensor:
        """The logits of the token that follows, in float32: the nearest of them must not be one."""
        with torch.autocast(x.device.type, enabled=False):
            return F.linear(self.norm(x.float()), self.table.weight)


@dataclass(frozen=True)
class Draw:
    """How the next token is drawn: by the model's chances at a temperature, from a generator on
    the model's device."""

    temperature: float
    generator: torch.Generator

    def __call__(self, scores: Tensor) -> Tensor:
        """A token for each row of (rows, vocabulary)."""
        chances = torch.softmax(scores / self.temperature, -1)
        # Each token waits for a time of its own; the first that comes was drawn by its chance.
        waits = torch.empty_like(chances).exponential_(generator=self.generator)
        return (chances / waits).argmax(-1)


def likeliest(scores: Tensor) -> Tensor:
    """The likeliest token for each row."""
    return scores.argmax(-1)


class _Answering:
    """Questions that are answered together, and the keys and values of all their tokens."""

    def __init__(
        self,
        model: Transformer,
        questions: Sequence[Ids],
        most: int,
        choose: Callable[[Tensor], Tensor],
    ) -> None:
        self.model, self.device, self.choose = model, model.table.weight.device, choose
        lengths = torch.tensor([len(q) for q in questions])
        self.longest = int(lengths.max())
        """No row has come further."""
        self.end = min(model.context, self.longest + most)
        tokens = torch.full((len(questions), self.longest), PAD)
        for row, question in enumerate(questions):
            tokens[row, : len(question)] = torch.from_numpy(question.astype(np.int64))
        self.at = lengths.to(self.device)
        """Where the token comes that was said last."""
        self.caches: list[tuple[Tensor, Tensor]] = []
        last = self._read(tokens.to(self.device))
        self.said = choose(model.scores(last))

    def _read(self, tokens: Tensor) -> Tensor:
        """Fill the caches; what the last layer says at the end of each question."""
        model, (count, width) = self.model, tokens.shape
        x, cos, sin = model.table(tokens), model.cos[:width], model.sin[:width]
        room = (0, 0, 0, padded(self.end) - width)
        for block in model.blocks:
            q, k, v = block.heads_of(x, cos, sin)
            self.caches.append((F.pad(k, room), F.pad(v, room)))
            x = block.after(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x[torch.arange(count, device=self.device), self.at - 1]

    def _step(self) -> None:
        """Take in the token that was said, and say the next."""
        model, rows = self.model, torch.arange(len(self.said), device=self.device)
        # What padding left in a cache lies beyond `at` until it is written over.
        span = padded(self.longest + 1)
        seen = (torch.arange(span, device=self.device) <= self.at[:, None])[:, None, None]
        cos, sin = model.cos[self.at][:, None, None], model.sin[self.at][:, None, None]
        x = model.table(self.said)[:, None]
        for block, (keys, values) in zip(model.blocks, self.caches, strict=True):
            q, k, v = block.heads_of(x, cos, sin)
            keys[rows, :, self.at], values[rows, :, self.at] = k[:, :, 0], v[:, :, 0]
            near = (keys[:, :, :span], values[:, :, :span])
            x = block.after(x, F.scaled_dot_product_attention(q, *near, attn_mask=seen))
        self.said = self.choose(model.scores(x[:, 0]))
        self.at = self.at + 1
        self.longest += 1

    def keep(self, rows: list[int]) -> None:
        """Go on with some of the rows alone."""
        chosen = torch.tensor(rows, device=self.device)
        self.said, self.at = self.said[chosen], self.at[chosen]
        for layer, (keys, values) in enumerate(self.caches):
            self.caches[layer] = (keys[chosen], values[chosen])
        self.longest = int(self.at.max())

    def several(self) -> list[list[int]]:
        """What each row says next, a few tokens, none beyond the context."""
        said = []
        for _ in range(min(_LOOK_EVERY, self.end - self.longest)):
            said.append(self.said)
            self._step()
        found: list[list[int]] = torch.stack(said, 1).tolist()
        return found


@torch.inference_mode()
def answers(
    model: Transformer,
    questions: Sequence[Ids],
    most: int | None = None,
    choose: Callable[[Tensor], Tensor] = likeliest,
) -> list[list[int]]:
    """The tokens after each question, up to the mark END; without it where there are ``most`` of
    them, or the conversation reaches the context's end first. A question leaves room for a token
    at least."""
    found: list[list[int]] = [[] for _ in questions]
    rows = list(range(len(questions)))
    room = [model.context - len(question) for question in questions]
    if most is not None:
        room = [min(most, left) for left in room]
    with precision(model.table.weight.device):
        batch = _Answering(model, questions, max(room), choose)
        while rows:
            going = []
            for place, tokens in enumerate(batch.several()):
                row = rows[place]
                mine = found[row]
                mine += tokens
                if END in mine:
                    del mine[mine.index(END) + 1 :]
                elif len(mine) < room[row]:
                    going.append(place)
                del mine[room[row] :]
            if going and len(going) < len(rows):
                batch.keep(going)
            rows = [rows[place] for place in going]
    return found
