"""A model of `worth.py` as an endpoint of `synth.loop.solve`: what waits is answered together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenizers import Tokenizer

from scripts.measure.training.answers import Draw, answers
from scripts.measure.training.model import Transformer
from scripts.measure.training.tokens import END, Ids, conversation_of
from synth.loop.client import Endpoint, Messages, Reply, Trouble

_GATHER_S = 0.3
"""A batch begins when nobody has asked for so long, or it is full."""
_TOKENS_AT_ONCE = 1 << 20
"""Of which keys and values are kept, 30 KB each at the size of `worth.py`."""


@dataclass(frozen=True)
class Voice:
    """A model, its tokenizer, how its tokens are drawn and how many an answer may have."""

    model: Transformer
    tokenizer: Tokenizer
    draw: Draw
    most: int

    def tokens_of(self, texts: Sequence[str]) -> Ids:
        """A conversation that ends with a question."""
        return conversation_of(*(one.ids for one in self.tokenizer.encode_batch(list(texts))))

    def text_of(self, tokens: Sequence[int]) -> str:
        kept = [token for token in tokens if token != END]
        said: str = self.tokenizer.decode(kept, skip_special_tokens=False)
        return said

    def say(self, questions: Sequence[Ids]) -> list[list[int]]:
        """An answer to each, so many at once as memory holds, those of a length together."""
        if not questions:
            return []
        self.model.eval()
        longest = min(self.model.context, max(len(q) for q in questions) + self.most)
        at_once = max(1, _TOKENS_AT_ONCE // longest)
        order = sorted(range(len(questions)), key=lambda at: len(questions[at]))
        found: list[list[int]] = [[] for _ in questions]
        for start in range(0, len(order), at_once):
            some = order[start : start + at_once]
            said = answers(self.model, [questions[at] for at in some], self.most, self.draw)
            for at, tokens in zip(some, said, strict=True):
                found[at] = tokens
        return found


@dataclass
class Speaker:
    """Asked as `synth.loop.client.Chat` is, in one event loop; ``asked_s`` is time spent
    speaking, ``spoken`` tokens that were said."""

    voice: Voice
    endpoint: Endpoint
    asked_s: float = 0.0
    spoken: int = 0
    _waiting: list[tuple[Ids, asyncio.Future[list[int]]]] = field(default_factory=list)
    _at_work: asyncio.Task[None] | None = None

    async def ask(self, messages: Messages, key: str) -> Reply:
        """The answer to messages. A system's is left out: the model never saw one."""
        texts = [one["content"] for one in messages if one["role"] != "system"]
        question = self.voice.tokens_of(texts)
        if len(question) >= self.voice.model.context:
            raise Trouble("the conversation is longer than the context", again=False)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[int]] = loop.create_future()
        self._waiting.append((question, answer))
        if self._at_work is None or self._at_work.done():
            self._at_work = asyncio.create_task(self._work())
        tokens = await answer
        finish = "stop" if tokens[-1] == END else "length"
        return Reply(self.voice.text_of(tokens), "", finish, len(question), len(tokens))

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            seen = 0
            while seen < len(self._waiting):
                seen = len(self._waiting)
                await asyncio.sleep(_GATHER_S)
            batch, self._waiting = self._waiting, []
            began_s = loop.time()
            try:
                said = await asyncio.to_thread(self.voice.say, [question for question, _ in batch])
            except BaseException as error:
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
                raise
            self.asked_s += loop.time() - began_s
            for (_, answer), tokens in zip(batch, said, strict=True):
                self.spoken += len(tokens)
                if not answer.done():
                    answer.set_result(tokens)
