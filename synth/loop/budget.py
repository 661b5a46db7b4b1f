"""What a run may cost: tokens, US dollars, seconds. Held before a request, settled after it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_MESSAGE_TOKENS = 16
"""What templates put around a message, at most."""
_BYTES_PER_TOKEN = 3
"""Of an answer whose tokens nobody told: on the side of more tokens."""


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    prompt: float = 0.0
    answer: float = 0.0

    def usd(self, prompt_tokens: int, answer_tokens: int) -> float:
        return (self.prompt * prompt_tokens + self.answer * answer_tokens) / 1e6


def most_prompt_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """Most tokens that messages may be: no token is shorter than a byte."""
    return sum(len(message["content"].encode()) + _MESSAGE_TOKENS for message in messages)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text is, where the server does not tell."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


class Budget:
    """Limits (None: none) on what an archive's attempts cost, ``spent`` so far included.

    A request is held with the most that it may cost, so that no limit is passed however answers
    turn out; one for which too little is left waits for those under way to be settled.
    """

    def __init__(
        self,
        *,
        tokens: int | None = None,
        usd: float | None = None,
        seconds: float | None = None,
        spent: tuple[int, float] = (0, 0.0),
    ) -> None:
        self.tokens, self.usd = spent
        self._most_tokens, self._most_usd = tokens, usd
        self._deadline_s = None if seconds is None else time.monotonic() + seconds
        self._held: list[tuple[int, float]] = []
        self._changed = asyncio.Condition()
        self.refused = ""
        """Which limit ended the work; empty while none has."""

    async def hold(self, tokens: int, usd: float) -> bool:
        """Hold what a request may cost; False when it cannot be afforded any more."""
        async with self._changed:
            while not self.refused:
                if self._deadline_s is not None and time.monotonic() >= self._deadline_s:
                    self.refused = "time"
                elif what := self._beyond(tokens, usd, []):
                    self.refused = what
                elif self._beyond(tokens, usd, self._held):
                    await self._changed.wait()
                else:
                    self._held.append((tokens, usd))
                    return True
            self._changed.notify_all()
            return False

    async def settle(self, held: tuple[int, float], tokens: int, usd: float) -> None:
        """Give back what was held, and count what it came to."""
        async with self._changed:
            self._held.remove(held)
            self.tokens += tokens
            self.usd += usd
            self._changed.notify_all()

    def _beyond(self, tokens: int, usd: float, held: Sequence[tuple[int, float]]) -> str:
        all_tokens = self.tokens + tokens + sum(one for one, _ in held)
        all_usd = self.usd + usd + sum(one for _, one in held)
        if self._most_tokens is not None and all_tokens > self._most_tokens:
            return "tokens"
        if self._most_usd is not None and all_usd > self._most_usd:
            return "money"
        return ""
