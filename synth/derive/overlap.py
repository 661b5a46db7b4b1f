"""Token n-grams of texts, which of them are boilerplate, and the share that benchmarks hold.

Tokens are words and numbers as they are written. Left out are white space, punctuation and
operators (so braces, quotes and line breaks may stand elsewhere), and comments: ``/* */``, ``//``
and ``#`` up to the end of the line, but not a preprocessor's line (``#include``, ``#pragma``), nor
what stands in a string on one line. Words of docstrings and of strings count. Case stays: in code
it tells names apart, unlike in the prose that GPT-3's authors lower-cased. One rule for all
languages, because benchmarks mix them (CUDA in a Python string, both in Markdown); it takes the
``//`` of Python for a comment too, on both sides alike.

Sources: 13-grams of words without punctuation, the whole of a text that is shorter, and leaving out
13-grams that more than 10 training documents hold: Brown et al., "Language Models are Few-Shot
Learners" (arXiv:2005.14165, 2020), section 4 and appendix C. A share, below 20 % of which a text is
clean: Touvron et al., "Llama 2" (arXiv:2307.09288, 2023), appendix on contamination (there, of the
benchmark's tokens; here, of the row's n-grams, because rows are what goes).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
"""64-bit hashes of n-grams, in order of where they begin."""

TEXTS = {
    "python": ("python",),
    "reference": ("reference",),
    "cuda_plain": ("cuda_plain",),
    "cuda_forward": ("cuda_helpers", "cuda_forward"),
}
"""The texts of a row that are compared, each by itself, and the columns that make them."""

BOILERPLATE_SHARE = 0.01
BOILERPLATE_ROWS = 10
"""An n-gram that more rows hold than this share, and than this number, is nobody's own."""

_SHOWN_TOKENS = 40
_SLOT_BITS = 24
_NO_HASHES = np.empty(0, np.uint64)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_WORD = re.compile(r"[^\W\d]\w*|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\w*")
_QUOTED_OR_COMMENT = re.compile(
    r"""(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"|/\*.*?\*/|//[^\n]*"
    r"|\#(?!(?:include|define|undef|pragma|if|ifdef|ifndef|else|elif|endif|error|line)\b)[^\n]*",
    re.DOTALL,
)


def tokens(text: str) -> list[str]:
    """Words and numbers of a text, in order, without comments."""
    return _WORD.findall(_QUOTED_OR_COMMENT.sub(lambda m: m["quoted"] or " ", text))


class NGrams:
    """Makes hashes of the n-grams of texts; the same in every process and on every machine."""

    def __init__(self, length: int) -> None:
        self.length = length
        self._known = _TokenHashes()

    def hashes(self, words: list[str]) -> Hashes:
        """One hash for each n-gram; one of the whole for fewer words, none for no word.

        A polynomial in the words' hashes modulo 2**64 (Karp and Rabin, IBM J. Res. Dev. 31(2),
        1987), its bits mixed by the finaliser of SplitMix64 (Steele et al., OOPSLA 2014).
        """
        each = np.fromiter(map(self._known.__getitem__, words), np.uint64, len(words))
        length = min(self.length, each.size)
        count = each.size - length + 1 if length else 0
        found = np.zeros(count, np.uint64)
        for at in range(length):
            found = found * _BASE + each[at : at + count]
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return found ^ (found >> np.uint64(31))


class _TokenHashes(dict[str, int]):
    def __missing__(self, token: str) -> int:
        digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self[token] = int.from_bytes(digest, "little")
        return self[token]


def texts_of(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a row that are compared, by name; those that it lacks are left out."""
    for name, columns in TEXTS.items():
        text = "".join(row[column] or "" for column in columns)
        if text:
            yield name, text


class RowCounter:
    """In how many rows n-grams occur, counted by the first 24 bits of their hashes.

    64 MiB however many rows there are. Rare n-grams that share a slot never add up to boilerplate;
    one that shares the slot of boilerplate is left out with it: one of 2**24 for each such n-gram.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._rows = np.zeros(1 << _SLOT_BITS, np.uint32)

    def add(self, texts: Sequence[Hashes]) -> None:
        """Count a row whose texts have these n-grams."""
        self.rows += 1
        self._rows[np.unique(_slots(np.concatenate([_NO_HASHES, *texts])))] += 1

    def boilerplate(self) -> Boilerplate:
        """What more rows hold than a row's own text can."""
        return Boilerplate(self._rows > max(BOILERPLATE_ROWS, BOILERPLATE_SHARE * self.rows))


class Boilerplate:
    """The n-grams that do not count."""

    def __init__(self, slots: NDArray[np.bool_]) -> None:
        self._is = slots
        self.size = int(np.count_nonzero(slots))

    def among(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Which of these n-grams are boilerplate."""
        return self._is[_slots(hashes)]


def _slots(hashes: Hashes) -> NDArray[np.int64]:
    return (hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)


@dataclass(frozen=True)
class Benchmark:
    """The n-grams of benchmark texts: ``hashes`` are distinct and ascending; the texts that hold
    the one at ``i`` are ``holders[starts[i]:starts[i + 1]]``, places in ``names``."""

    names: list[str]
    hashes: Hashes
    starts: NDArray[np.int64]
    holders: NDArray[np.int32]

    @staticmethod
    def of(texts: Iterable[tuple[str, str]], ngrams: NGrams) -> Benchmark:
        """From (name, text); texts of one name that follow each other are counted as one."""
        names: list[str] = []
        pieces: list[Hashes] = []
        for name, group in groupby(texts, key=lambda item: item[0]):
            found = [ngrams.hashes(tokens(text)) for _, text in group]
            names.append(name)
            pieces.append(np.unique(np.concatenate(found)))
        every = np.concatenate([_NO_HASHES, *pieces])
        owners = np.repeat(np.arange(len(names), dtype=np.int32), [piece.size for piece in pieces])
        order = np.argsort(every, kind="stable")
        every = every[order]
        first = np.flatnonzero(np.r_[True, every[1:] != every[:-1]][: every.size])
        return Benchmark(names, every[first], np.r_[first, every.size], owners[order])

    def sha256(self) -> str:
        """Hex digest of the n-grams: what the texts say, not how they are laid out or named."""
        return hashlib.sha256(self.hashes.astype("<u8").tobytes()).hexdigest()

    def places(self, hashes: Hashes) -> NDArray[np.int64]:
        """The place of each n-gram in ``hashes``, -1 where no benchmark text holds it."""
        if not self.hashes.size:
            return np.full(hashes.size, -1, np.int64)
        found = np.minimum(np.searchsorted(self.hashes, hashes), self.hashes.size - 1)
        return np.where(self.hashes[found] == hashes, found, -1)


@dataclass(frozen=True)
class Overlap:
    """What a text shares with benchmarks.

    ``score``: the share of its n-grams, boilerplate left out, that some benchmark text holds.
    ``file`` holds most of them (``file_share``); ``run`` is the longest run of ``run_tokens``
    tokens that it shares with the text, cut after 40.
    """

    text: str
    ngrams: int
    score: float
    file: str
    file_share: float
    run_tokens: int
    run: str


def overlap(
    name: str, text: str, ngrams: NGrams, boilerplate: Boilerplate, benchmark: Benchmark
) -> Overlap | None:
    """What a text shares with benchmarks; None when nothing, or when it is all boilerplate."""
    words = tokens(text)
    hashes = ngrams.hashes(words)
    places = benchmark.places(hashes)
    if (places < 0).all():
        return None
    counted = ~boilerplate.among(hashes)
    hits = np.flatnonzero(counted & (places >= 0))
    if not hits.size:
        return None
    first, stop = benchmark.starts[places[hits]], benchmark.starts[places[hits] + 1]
    holders = np.concatenate([benchmark.holders[a:b] for a, b in zip(first, stop, strict=True)])
    owners, counts = np.unique(holders, return_counts=True)
    best = owners[np.argmax(counts)]
    among = int(counted.sum())
    mine = np.repeat(hits, stop - first)[holders == best]
    run = _longest(mine, words, ngrams.length)
    return Overlap(
        text=name,
        ngrams=among,
        score=hits.size / among,
        file=benchmark.names[best],
        file_share=mine.size / among,
        run_tokens=len(run),
        run=" ".join(run[:_SHOWN_TOKENS]) + (" …" if len(run) > _SHOWN_TOKENS else ""),
    )


def _longest(positions: NDArray[np.int64], words: list[str], length: int) -> list[str]:
    """The tokens of the longest run of n-grams that begin at ascending positions."""
    breaks = np.flatnonzero(np.diff(positions) > 1) + 1
    runs = np.split(positions, breaks)
    longest = max(runs, key=len)
    return words[longest[0] : longest[-1] + length]
