"""How the transformer of `worth.py` answers: many questions at a time, greedily or drawn, each
token from what is kept of those before. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as torch's own documentation has it

from scripts.measure.training.model import REACH, Transformer, precision
from scripts.measure.training.tokens import END, PAD, Ids, padded

_LOOK_EVERY = 16
"""Steps between looks at whether answers have ended: each look waits for the device."""


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


class _Kept:
    """What a layer keeps of conversations that are read: keys and values of all tokens, with room
    for as many as there may be, and the last inputs of its taps."""

    def __init__(self, ends: Tensor, room: int) -> None:
        """``ends``: where each row's question ends."""
        self._ends, self._room = ends, room
        self._cache: tuple[Tensor, Tensor] | None = None
        self._inputs: dict[int, Tensor] = {}
        self._at, self._seen = ends, ends

    def go_to(self, at: Tensor, seen: Tensor) -> None:
        """The token read next stands ``at`` a place of each row, and looks at what is ``seen``."""
        self._at, self._seen = at, seen

    def before(self, taps: int, x: Tensor) -> Tensor | None:
        if taps not in self._inputs:
            last = self._ends[:, None] - REACH + torch.arange(REACH, device=x.device)
            found = x.gather(1, last.clamp(min=0)[:, :, None].expand(-1, -1, x.shape[2]))
            self._inputs[taps] = found * (last >= 0)[:, :, None]
            return None
        before = self._inputs[taps]
        self._inputs[taps] = torch.cat((before[:, 1:], x), 1)
        return before

    def look(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if self._cache is None:
            room = (0, 0, 0, self._room - k.shape[2])
            self._cache = F.pad(k, room), F.pad(v, room)
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        keys, values = self._cache
        rows, span = torch.arange(len(q), device=q.device), self._seen.shape[-1]
        keys[rows, :, self._at], values[rows, :, self._at] = k[:, :, 0], v[:, :, 0]
        near = (keys[:, :, :span], values[:, :, :span])
        return F.scaled_dot_product_attention(q, *near, attn_mask=self._seen)

    def keep(self, chosen: Tensor) -> None:
        """Go on with some of the rows alone."""
        if self._cache is not None:
            self._cache = self._cache[0][chosen], self._cache[1][chosen]
        self._inputs = {taps: inputs[chosen] for taps, inputs in self._inputs.items()}


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
        self.kept = [_Kept(self.at, padded(self.end)) for _ in model.blocks]
        last = self._read(tokens.to(self.device))
        self.said = choose(model.scores(last))

    def _read(self, tokens: Tensor) -> Tensor:
        """Keep the questions; what the last layer says at the end of each."""
        model, (count, width) = self.model, tokens.shape
        x = model.through(model.rows_of(tokens), model.turns[:, :width], self.kept)
        return x[torch.arange(count, device=self.device), self.at - 1]

    def _step(self) -> None:
        """Take in the token that was said, and say the next."""
        model = self.model
        # What padding left of a question lies beyond `at` until it is written over.
        span = padded(self.longest + 1)
        seen = (torch.arange(span, device=self.device) <= self.at[:, None])[:, None, None]
        for kept in self.kept:
            kept.go_to(self.at, seen)
        turn = model.turns[:, self.at][:, :, None, None]
        x = model.through(model.rows_of(self.said)[:, None], turn, self.kept)
        self.said = self.choose(model.scores(x[:, 0]))
        self.at = self.at + 1
        self.longest += 1

    def keep(self, rows: list[int]) -> None:
        """Go on with some of the rows alone."""
        chosen = torch.tensor(rows, device=self.device)
        self.said, self.at = self.said[chosen], self.at[chosen]
        for kept in self.kept:
            kept.keep(chosen)
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
