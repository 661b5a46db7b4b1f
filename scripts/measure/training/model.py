"""The transformer of `worth.py`: a decoder with rotary positions (Su et al., arXiv:2104.09864), RMS
norms before each part (Zhang and Sennrich, arXiv:1910.07467), SwiGLU (Shazeer, arXiv:2002.05202)
and one table for the tokens that go in and come out. 62 million parameters at width 640 and 12
layers. `PARTS` are what it may have beside. `answers.py` lets it answer. Needs torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as torch's own documentation has it

from scripts.measure.training.tokens import padded

HEAD_WIDTH = 64
TAPS, NORMED, TURNED, FIRST, ZERO, NARROW = "taps", "normed", "turned", "first", "zero", "narrow"
PARTS = (TAPS, NORMED, TURNED, FIRST, ZERO, NARROW)
"""`taps`: before attention and before the gated layer, three tokens back are added by channel
(short causal convolutions, as in Fu et al., arXiv:2212.14052): what follows a token is known where
that token is looked for. `normed`: queries and keys have unit size, times a learnt gain of the head
(Henry et al., arXiv:2010.04245). `turned`: positions turn half of a head only; the other half
compares what stands there alone. `first`: each layer mixes in the first one's values (Zhou et al.,
arXiv:2410.17897) and the table's rows. `zero`: branches add nothing at first, and what the table
says has unit size. `narrow`: on a GPU what goes from layer to layer is bfloat16."""
REACH = 3
"""Tokens back that taps see."""
_GAIN = 1.5
_ROTATION_BASE = 10_000.0
_WEIGHT_SPREAD = 0.02
_NORM_EPSILON = 1e-6


def precision(device: torch.device) -> AbstractContextManager[object]:
    """bfloat16 for products of matrices on a GPU, float32 elsewhere."""
    if device.type == "cuda":
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


class Past(Protocol):
    """What a layer keeps of a conversation that is read piece by piece."""

    def before(self, taps: int, x: Tensor) -> Tensor | None:
        """The REACH inputs (rows, REACH, width) of its taps before ``x``; None at the start."""

    def look(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """What attention finds, here and before: (rows, heads, tokens, HEAD_WIDTH)."""


class Taps(nn.Module):
    """Adds to each token, channel by channel, a weighted sum of those before it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(REACH, width))

    def forward(self, x: Tensor, before: Tensor | None = None) -> Tensor:
        """Of (rows, tokens, width); nothing came before, or ``before`` (rows, REACH, width)."""
        whole = F.pad(x, (0, 0, REACH, 0)) if before is None else torch.cat((before, x), 1)
        tokens, weights = x.shape[1], self.weights.to(x.dtype)
        for back in range(REACH):
            at = REACH - 1 - back
            x = x + weights[back] * whole[:, at : at + tokens]
        return x


class Block(nn.Module):
    """Attention, then a gated layer, each added to what comes in: (rows, tokens, width)."""

    def __init__(self, width: int, parts: Sequence[str] = (), *, leads: bool = True) -> None:
        """``leads``: it is the first, whose values the others mix in."""
        super().__init__()
        hidden = padded(8 * width // 3)
        self.heads, self.leads = width // HEAD_WIDTH, leads
        self.attention_norm = nn.RMSNorm(width, eps=_NORM_EPSILON)
        self.into_heads = nn.Linear(width, 3 * width, bias=False)
        self.out_of_heads = nn.Linear(width, width, bias=False)
        self.gate_norm = nn.RMSNorm(width, eps=_NORM_EPSILON)
        self.gate = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.tapped = TAPS in parts
        self.taps = nn.ModuleList(Taps(width) for _ in range(2 * self.tapped))
        self.gains = self.mix = None
        if NORMED in parts:
            self.gains = nn.Parameter(torch.full((self.heads, 1, 1), _GAIN))
        if FIRST in parts:
            self.mix = nn.Parameter(torch.tensor([1.0, 0.0, 0.5, 0.5]))

    def forward(
        self, x: Tensor, table: Tensor, first: Tensor, turn: Tensor, past: Past | None = None
    ) -> tuple[Tensor, Tensor]:
        """What comes out, and the values (rows, heads, tokens, HEAD_WIDTH) as they were found.

        Without a ``past`` each row is a whole conversation: padding comes last, so that no token
        looks at it. ``table`` are the table's rows, ``first`` the first layer's values, ``turn``
        the cosines and sines (2, …, tokens, HEAD_WIDTH / 2) of positions.
        """
        if self.mix is not None:
            x = self.mix[0] * x + self.mix[1] * table
        q, k, own = self._heads_of(self._tapped(0, self.attention_norm(x).to(x.dtype), past))
        v = own
        if self.mix is not None and not self.leads:
            v = self.mix[2] * own + self.mix[3] * first
        q, k = rotated(q, turn).to(v.dtype), rotated(k, turn).to(v.dtype)
        if past is None:
            looked = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            looked = past.look(q, k, v)
        x = x + self.out_of_heads(looked.transpose(1, 2).flatten(2))
        inner = self._tapped(1, self.gate_norm(x).to(x.dtype), past)
        gate, up = self.gate(inner).chunk(2, -1)
        return x + self.down(F.silu(gate) * up), own

    def _tapped(self, at: int, x: Tensor, past: Past | None) -> Tensor:
        if not self.tapped:
            return x
        found: Tensor = self.taps[at](x, None if past is None else past.before(at, x))
        return found

    def _heads_of(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, tokens, _ = x.shape
        mixed = self.into_heads(x).view(rows, tokens, 3, self.heads, HEAD_WIDTH)
        q, k, v = mixed.permute(2, 0, 3, 1, 4)
        if self.gains is not None:
            q = self.gains * F.rms_norm(q, (HEAD_WIDTH,), eps=_NORM_EPSILON)
            k = F.rms_norm(k, (HEAD_WIDTH,), eps=_NORM_EPSILON)
        return q, k, v


def rotated(x: Tensor, turn: Tensor) -> Tensor:
    """Each half's components turned with those of the other by the angle of the position."""
    one, other = x.chunk(2, -1)
    cos, sin = turn[0], turn[1]
    return torch.cat((one * cos - other * sin, other * cos + one * sin), -1)


class Transformer(nn.Module):
    """`vocabulary` tokens, conversations of up to `context` of them."""

    turns: Tensor

    def __init__(
        self, vocabulary: int, width: int, layers: int, context: int, parts: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self.context, self.parts = context, frozenset(parts)
        self.table = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, parts, leads=not at) for at in range(layers))
        self.norm = nn.RMSNorm(width, eps=_NORM_EPSILON)
        self.register_buffer("turns", self._turns(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.ndim == 2 and not name.endswith("taps.weights"):
                nn.init.normal_(weight, std=_WEIGHT_SPREAD * self._share(name, layers))

    def _share(self, name: str, layers: int) -> float:
        """Of the usual spread, at the beginning."""
        if not name.endswith(("out_of_heads.weight", "down.weight")):
            return 1.0
        return 0.0 if ZERO in self.parts else 1 / math.sqrt(2 * layers)

    def _turns(self) -> Tensor:
        half = HEAD_WIDTH // 2
        turning = half // 2 if TURNED in self.parts else half
        speeds = torch.zeros(half)
        speeds[:turning] = _ROTATION_BASE ** (-torch.arange(turning) / turning)
        angles = torch.arange(padded(self.context))[:, None] * speeds
        return torch.stack((angles.cos(), angles.sin()))

    def rows_of(self, tokens: Tensor) -> Tensor:
        """What goes into the first layer: (…, width)."""
        x: Tensor = self.table(tokens)
        if ZERO in self.parts:
            x = F.rms_norm(x, (x.shape[-1],), eps=_NORM_EPSILON)
        return x.to(torch.bfloat16) if NARROW in self.parts and x.is_cuda else x

    def forward(self, tokens: Tensor) -> Tensor:
        """What the last layer says at each token: (rows, tokens, width)."""
        return self.through(self.rows_of(tokens), self.turns[:, : tokens.shape[1]])

    def through(self, table: Tensor, turn: Tensor, pasts: Sequence[Past] | None = None) -> Tensor:
        """The layers one after the other; with ``pasts`` these are read and filled."""
        # The first layer does not look at these values: of the shape of its own, and its input is
        # no part of the table, so that one graph does for all layers and shapes.
        x, first = table.clone(), table.unflatten(2, (-1, HEAD_WIDTH)).transpose(1, 2)
        for at, block in enumerate(self.blocks):
            if pasts is None:
                x, own = block(x, table, first, turn)
            else:
                # Not as it was compiled: these shapes come once.
                x, own = block.forward(x, table, first, turn, pasts[at])
            first = own if at == 0 else first
        return x

    def scores(self, x: Tensor) -> Tensor:
        """The logits of the token that follows, in float32: the nearest of them must not be one."""
        with torch.autocast(x.device.type, enabled=False):
            return F.linear(self.norm(x.float()), self.table.weight)
