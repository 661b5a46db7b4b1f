"""Conversations under fresh names: what `worth.py prepare --fresh-names` writes, and each epoch's.

A template is a question and its answer with marks where the names stood that the row chose, and the
kind of each name. For each epoch another set of names is drawn, for part of them names that other
rows gave to things of the kind, for part such names cut at `_` and put together anew, and for part
syllables of the tokenizer that mean nothing: these can only be read. Needs NumPy and tokenizers.
"""

from __future__ import annotations

import json
import lzma
import multiprocessing
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from scripts.measure.training.tokens import TOKENIZER, Documents, Ids, Part, conversation_of
from synth.errors import SettingsError

TEMPLATES = "templates.jsonl.xz"
FIRST_MARK = 0xE000
"""The mark of a conversation's first name, of Unicode's private use; the others' follow."""
_MARK = re.compile("[\ue000-\uf8ff]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_TRIES = 20
_POOLED, _JOINED = 0.6, 0.9
"""Shares of names below which one is another row's, and below which parts of such."""
_AT_ONCE = 500
_EPOCHS_AHEAD = 2


@dataclass(frozen=True)
class Template:
    """Question and answer with marks, and of each mark's name the kind."""

    texts: tuple[str, str]
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Templates:
    """`pools` has the names of training rows by kind, `all` the templates in the order in which
    their conversations stand in the training part, of which they are the first."""

    pools: Mapping[str, Sequence[str]]
    all: Sequence[Template]


def write_templates(folder: Path, templates: Templates) -> None:
    lines = [json.dumps(templates.pools)]
    lines += [json.dumps([*one.texts, *one.kinds], ensure_ascii=False) for one in templates.all]
    (folder / TEMPLATES).write_bytes(lzma.compress("\n".join(lines).encode()))


def read_templates(folder: Path) -> Templates | None:
    """Raises nothing where there are none."""
    path = folder / TEMPLATES
    if not path.is_file():
        return None
    with lzma.open(path, "rt", encoding="utf-8") as file:
        pools = json.loads(next(file))
        found = [json.loads(line) for line in file]
    return Templates(pools, [Template((one[0], one[1]), tuple(one[2:])) for one in found])


def count_templates(folder: Path) -> int:
    """How many there are."""
    found = read_templates(folder)
    return len(found.all) if found else 0


class Namer:
    """Draws names; ``syllables`` are words that mean nothing."""

    def __init__(self, pools: Mapping[str, Sequence[str]], syllables: Sequence[str]) -> None:
        self._pools, self._syllables = pools, syllables
        self._pieces = {
            kind: sorted({piece for name in names for piece in name.split("_") if piece})
            for kind, names in pools.items()
        }

    def __call__(self, template: Template, draw: random.Random) -> tuple[str, str]:
        """Question and answer under names that the texts do not have otherwise."""
        used = {word for text in template.texts for word in _WORD.findall(text)}
        names: dict[str, str] = {}
        for at, kind in enumerate(template.kinds):
            name = self._free(kind, used, draw)
            used.add(name)
            names[chr(FIRST_MARK + at)] = name
        question, answer = (_MARK.sub(lambda m: names[m[0]], text) for text in template.texts)
        return question, answer

    def _free(self, kind: str, used: set[str], draw: random.Random) -> str:
        for _ in range(_MOST_TRIES):
            name = self._name(kind, draw)
            if name not in used:
                return name
        return next(name for number in count() if (name := f"{kind}_{number}") not in used)

    def _name(self, kind: str, draw: random.Random) -> str:
        way = draw.random()
        if way < _POOLED:
            return draw.choice(self._pools[kind])
        if way < _JOINED:
            pieces = (draw.choice(self._pieces[kind]) for _ in range(draw.choice((1, 2, 2, 3))))
        else:
            pieces = (draw.choice(self._syllables) for _ in range(draw.choice((1, 2, 3))))
        joined = "_".join(pieces) if way < _JOINED else "".join(pieces)
        # A word does not begin with a digit.
        return joined if joined[0].isalpha() else f"n{joined}"


def syllables_of(tokenizer: Tokenizer) -> list[str]:
    """The tokens of two to four small letters."""
    return sorted(t for t in tokenizer.get_vocab() if re.fullmatch("[a-z]{2,4}", t))


@cache
def _at_work(folder: Path) -> tuple[Templates, Namer, Tokenizer]:
    # Each of the workers uses one processor.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    templates = read_templates(folder)
    if templates is None:
        raise SettingsError(f"{folder} has no {TEMPLATES}")
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.encode_special_tokens = True
    return templates, Namer(templates.pools, syllables_of(tokenizer)), tokenizer


def named_anew(folder: Path, chosen: Sequence[int], seed: str) -> list[Ids]:
    """Conversations of the chosen templates under names that follow from ``seed``."""
    templates, namer, tokenizer = _at_work(folder)
    texts = [namer(templates.all[at], random.Random(f"{seed}/{at}")) for at in chosen]
    found = iter(tokenizer.encode_batch_fast([text for pair in texts for text in pair]))
    return [conversation_of(next(found).ids, next(found).ids) for _ in texts]


@dataclass(frozen=True)
class Fresh:
    """Of each epoch a share ``own`` of the conversations that have templates is as it was, drawn
    anew, and the others have fresh names, where they fit in ``most`` tokens then. All follows from
    ``seed`` and the epoch's number, whatever the number of workers."""

    folder: Path
    documents: Documents
    templates: int
    own: float
    most: int
    seed: int

    def chosen(self, epoch: int) -> list[int]:
        """Who gets fresh names."""
        draws = np.random.default_rng([self.seed, epoch]).random(self.templates)
        found: list[int] = np.flatnonzero(draws >= self.own).tolist()
        return found

    def put_together(self, chosen: Sequence[int], anew: Sequence[Ids]) -> Documents:
        """All conversations, the chosen ones as they are anew."""
        by_number = dict(zip(chosen, anew, strict=True))
        part = Part()
        for at in range(len(self.documents)):
            found = by_number.get(at)
            fits = found is not None and found.size <= self.most
            part.add(found if found is not None and fits else self.documents[at])
        return Documents(**part.arrays())

    def epochs(self, workers: int) -> Iterator[Documents]:
        """Epoch after epoch, made ahead by other processes. Close it to let them go."""
        spawn = multiprocessing.get_context("spawn")
        with ExitStack() as stack:
            pool = ProcessPoolExecutor(workers, spawn)
            stack.callback(pool.shutdown, wait=True, cancel_futures=True)
            coming: list[tuple[list[int], list[Callable[[], list[Ids]]]]] = []
            for epoch in count():
                while len(coming) < _EPOCHS_AHEAD:
                    coming.append(self._ordered(pool, epoch + len(coming)))
                chosen, parts = coming.pop(0)
                yield self.put_together(chosen, [one for part in parts for one in part()])

    def _ordered(
        self, pool: ProcessPoolExecutor, epoch: int
    ) -> tuple[list[int], list[Callable[[], list[Ids]]]]:
        chosen, seed = self.chosen(epoch), f"{self.seed}/{epoch}"
        cuts = [chosen[at : at + _AT_ONCE] for at in range(0, len(chosen), _AT_ONCE)]
        return chosen, [pool.submit(named_anew, self.folder, cut, seed).result for cut in cuts]
