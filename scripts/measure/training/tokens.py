"""What `worth.py prepare` writes and `worth.py train` reads: token files, and batches of them.

A folder holds `tokenizer.json`, `index.json` (settings and counts), `rows.jsonl` (a line for each
row that may be asked, in the order in which they are) and `tokens.npz`. Needs NumPy alone.

A conversation is the tokens `QUESTION … ANSWER … END`, as often as it has turns. Of a part,
`tokens` (uint16) holds its conversations one after the other, `lengths` (int32) how long each is,
and `questions` (int32) how many of its tokens come before its last answer's first.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.errors import SettingsError

PAD, QUESTION, ANSWER, END = range(4)
MARKS = ("<pad>", "<question>", "<answer>", "<end>")
"""The tokenizer's special tokens; the names above are their numbers."""
MOST_VOCABULARY = 1 << 16
TRAIN, TEST, UNSEEN = "train", "test", "unseen"
ASKED = (TEST, UNSEEN)
"""The parts that are asked: rows of idioms that were trained on, and of idioms that were not."""
TOKENIZER, INDEX, ROWS, TOKENS = "tokenizer.json", "index.json", "rows.jsonl", "tokens.npz"

_ARRAYS = ("tokens", "lengths", "questions")
_LENGTH_STEP = 64
_SORTED_BATCHES = 32
_EPOCH = (1980, 1, 1, 0, 0, 0)

Ids = NDArray[np.uint16]


def conversation_of(*texts: Sequence[int]) -> Ids:
    """The tokens of a conversation: a question, its answer, and so on. No text has a mark. One that
    ends with a question ends with the mark after which its answer begins."""
    found: list[int] = []
    for at, text in enumerate(texts):
        found += [ANSWER, *text, END] if at % 2 else [QUESTION, *text]
    if len(texts) % 2:
        found.append(ANSWER)
    return np.array(found, np.uint16)


@dataclass
class Part:
    """Conversations of one part, as they are collected."""

    tokens: list[Ids] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)

    def add(self, conversation: Ids) -> None:
        self.tokens.append(conversation)
        self.questions.append(int(np.flatnonzero(conversation == ANSWER)[-1]) + 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        whole = np.concatenate(self.tokens) if self.tokens else np.zeros(0, np.uint16)
        lengths = np.array([t.size for t in self.tokens], np.int32)
        return {
            "tokens": whole,
            "lengths": lengths,
            "questions": np.array(self.questions, np.int32),
        }


@dataclass(frozen=True)
class Documents:
    """Conversations of one part, as they are read back."""

    tokens: Ids
    lengths: NDArray[np.int32]
    questions: NDArray[np.int32]

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.lengths, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, at: int) -> Ids:
        end = int(self._ends[at])
        return self.tokens[end - int(self.lengths[at]) : end]

    def question(self, at: int) -> Ids:
        """Up to and with the mark after which the answer begins."""
        return self[at][: int(self.questions[at])]


def packed(parts: Mapping[str, Part]) -> bytes:
    """The bytes of `tokens.npz`: a zip of arrays, packed by LZMA, that says nothing of the time."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_LZMA) as archive:
        for part, found in parts.items():
            for name, array in found.arrays().items():
                data = io.BytesIO()
                np.save(data, array, allow_pickle=False)
                entry = zipfile.ZipInfo(f"{part}_{name}.npy", _EPOCH)
                entry.compress_type = zipfile.ZIP_LZMA
                archive.writestr(entry, data.getvalue())
    return sink.getvalue()


def read_documents(folder: Path) -> dict[str, Documents]:
    """The parts of a prepared folder."""
    with _prepared(folder / TOKENS).open("rb") as file, np.load(file) as arrays:
        return {
            part: Documents(*(arrays[f"{part}_{name}"] for name in _ARRAYS))
            for part in (TRAIN, *ASKED)
        }


def read_index(folder: Path) -> dict[str, Any]:
    """The settings and counts of a prepared folder."""
    found: dict[str, Any] = json.loads(_prepared(folder / INDEX).read_text("utf-8"))
    return found


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows that may be asked: `id`, `part`, `category`, `idiom`, `level`, `tokens`, `fits`.

    Those of a part that fit stand in the order of its conversations.
    """
    lines = _prepared(folder / ROWS).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _prepared(path: Path) -> Path:
    if not path.is_file():
        raise SettingsError(f"{path} is not there: make the folder with `worth.py prepare`")
    return path


def batches(
    lengths: NDArray[np.int32], tokens: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], int, int]]:
    """Batches without end: conversations by number, how many tokens each is padded to, the epoch.

    A batch has at most `tokens` with the padding, and conversations of about one length; each is in
    one batch of an epoch. Raises :class:`SettingsError` where the longest does not fit alone, or
    there is none.
    """
    require_room(lengths, tokens)
    return _endless(lengths, tokens, np.random.default_rng(seed))


def require_room(lengths: NDArray[np.int32], tokens: int) -> None:
    """Raise :class:`SettingsError` where batches do not hold the longest, or there is none."""
    longest = padded(int(lengths.max(initial=0)))
    if not 0 < longest <= tokens:
        raise SettingsError(f"batches of {tokens} tokens cannot hold conversations of {longest}")


def _endless(
    lengths: NDArray[np.int32], tokens: int, draw: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], int, int]]:
    for epoch in count():
        for chosen, width in epoch_of(lengths, tokens, draw):
            yield chosen, width, epoch


def epoch_of(
    lengths: NDArray[np.int32], tokens: int, draw: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """The batches of one epoch."""
    some = max(1, _SORTED_BATCHES * tokens // padded(int(lengths.mean())))
    order = draw.permutation(len(lengths))
    found = []
    for start in range(0, len(order), some):
        found += list(_cut(order[start : start + some], lengths, tokens))
    for at in draw.permutation(len(found)):
        yield found[at]


def padded(length: int) -> int:
    """A length rounded up, so that few shapes of batches come up."""
    return -(-length // _LENGTH_STEP) * _LENGTH_STEP


def _cut(
    some: NDArray[np.int64], lengths: NDArray[np.int32], tokens: int
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Sorted by length and cut: from the longest, for that is what the others are padded to."""
    order = some[np.argsort(-lengths[some], kind="stable")]
    first = 0
    while first < len(order):
        width = padded(int(lengths[order[first]]))
        end = first + tokens // width
        yield order[first:end], width
        first = end


def answer_line(row_id: str, text: str) -> str:
    """A line of the file that `pairsmith score` reads."""
    return json.dumps({"id": row_id, "completion": text}) + "\n"
