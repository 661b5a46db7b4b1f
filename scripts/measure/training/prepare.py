"""`worth.py prepare`: idioms are held out, and the training views of a dataset become tokens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from scripts.measure.training.names import write_templates
from scripts.measure.training.templates import Talk, templates_of
from scripts.measure.training.tokens import (
    ASKED,
    INDEX,
    MARKS,
    MOST_VOCABULARY,
    ROWS,
    TEST,
    TOKENIZER,
    TOKENS,
    TRAIN,
    UNSEEN,
    Ids,
    Part,
    conversation_of,
    packed,
)
from synth.dataset.files import read_parquet, write_bytes, write_json, write_text
from synth.dataset.manifest import finished_manifest
from synth.dataset.stored import stored_rows
from synth.dataset.views_index import views_of
from synth.errors import SettingsError

_PIECES = r"\n *|[A-Za-z_]+|[0-9]| ?[^\sA-Za-z_0-9]+ ?|\s"
"""What no token reaches beyond: a line's end with the indentation after it, a word, a digit, and
signs with a space on either side. A name has the same tokens wherever it stands, so that it can be
copied; a number has one for each digit."""
_PIECES_APART = r"\n *|[A-Za-z_]+|[0-9]|[()\[\]{}]| ?[^\sA-Za-z_0-9()\[\]{}]+ ?|\s"
"""The same with each bracket by itself: those that close need not be counted at once."""
_TOKENIZER_ROWS = 8_000
_AT_ONCE = 512

Rows = Mapping[str, dict[str, Any]]
"""By id: `id`, `part`, `category`, `idiom` (with its category) and `level`."""


@dataclass(frozen=True)
class Settings:
    """What a prepared folder follows from, beside the dataset. `views` are trained on, of the first
    questions are asked; `held_out` is the share of idioms that nothing is trained of. `also` are
    Parquet files of conversations (`id`, `messages`) that are trained on too, where their rows
    are. With `fresh_names` there are templates of the first view's conversations."""

    views: tuple[str, ...] = ("sft",)
    salt: str = "0"
    held_out: float = 0.15
    max_tokens: int = 2048
    vocabulary: int = 4096
    train_rows: int | None = None
    also: tuple[str, ...] = ()
    fresh_names: bool = False
    brackets_apart: bool = False


@dataclass
class Tally:
    """Of one part: conversations, those of them that fit, and their tokens."""

    conversations: int = 0
    fit: int = 0
    tokens: int = 0

    def add(self, length: int, is_fit: bool) -> None:
        self.conversations += 1
        self.fit += is_fit
        self.tokens += length * is_fit


def ticket(salt: str, what: str) -> float:
    """A number in [0, 1) that follows from a salt and a name."""
    return int(hashlib.sha256(f"{salt}/{what}".encode()).hexdigest()[:13], 16) / 2**52


def is_held_out(idiom: str, salt: str, share: float) -> bool:
    """Whether an idiom (`category/name`) is kept from training. Others do not matter to it, and who
    is held out at one share is so at a larger one."""
    return ticket(salt, idiom) < share


def part_of(idiom: str, split: str, settings: Settings) -> str | None:
    """Where a row goes: rows of an idiom that is held out are all unseen; of the others those of
    the split `validation` go nowhere."""
    if is_held_out(idiom, settings.salt, settings.held_out):
        return UNSEEN
    return {"train": TRAIN, "test": TEST}.get(split)


def prepare(out: Path, folder: Path, settings: Settings, workers: int = 1) -> dict[str, Any]:
    """Write the folder, with ``workers`` processes for templates; what its `index.json` says.

    Raises :class:`SettingsError` for a dataset without the views, where nothing is left to train on
    or to ask, and where the first view's answers cannot be scored.
    """
    _require(settings)
    files = _view_files(out, settings.views)
    _require_plain_cuda(out, *files[0])
    rows = _rows(out, settings)
    files += [("also", _named(path)) for path in settings.also]
    tokenizer = _trained(files, rows, settings)
    parts = {part: Part() for part in (TRAIN, *ASKED)}
    tallies = {part: Tally() for part in parts}
    asked, named = [], []
    for talk, conversation in _encoded(files, rows, settings, tokenizer):
        about = rows[talk.row]
        is_fit = conversation.size <= settings.max_tokens
        tallies[about["part"]].add(conversation.size, is_fit)
        if about["part"] in ASKED:
            told = {**about, "tokens": conversation.size, "fits": is_fit}
            asked.append((told, conversation))
        elif is_fit:
            parts[TRAIN].add(conversation)
            if talk.view == settings.views[0]:
                named.append(talk)
    for part, tally in tallies.items():
        if not tally.fit:
            raise SettingsError(f"no conversation of the part {part!r} fits: raise --max-tokens")
    asked.sort(key=lambda one: (one[0]["part"], ticket(settings.salt, one[0]["id"])))
    for told, conversation in asked:
        if told["fits"]:
            parts[told["part"]].add(conversation)
    tokens = packed(parts)
    index = {
        "settings": asdict(settings),
        "parts": {part: _told(part, rows, tally) for part, tally in tallies.items()},
        "held_out": sorted({row["idiom"] for row in rows.values() if row["part"] == UNSEEN}),
        "vocabulary": tokenizer.get_vocab_size(),
    }
    templates = templates_of(out, named, workers) if settings.fresh_names else None
    write_text(folder / TOKENIZER, tokenizer.to_str())
    if templates:
        write_templates(folder, templates)
    write_bytes(folder / TOKENS, tokens)
    write_text(folder / ROWS, "".join(f"{json.dumps(about)}\n" for about, _ in asked))
    write_json(folder / INDEX, index)
    return index


def _require(settings: Settings) -> None:
    if not 0 < settings.held_out < 1:
        raise SettingsError(f"--held-out is {settings.held_out:g}: a share between 0 and 1")
    if not 512 <= settings.vocabulary <= MOST_VOCABULARY:
        raise SettingsError(f"--vocabulary is {settings.vocabulary}: 512 to {MOST_VOCABULARY}")
    for name, value in (("max-tokens", settings.max_tokens), ("train-rows", settings.train_rows)):
        if value is not None and value < 1:
            raise SettingsError(f"--{name} is {value}, at least 1 is needed")


def _view_files(out: Path, names: tuple[str, ...]) -> list[tuple[str, Path]]:
    """Name and path of each file of the views, the first view's first."""
    views = views_of(out, finished_manifest(out))
    there = views.views if views else {}
    if missing := [name for name in names if name not in there or not there[name].files]:
        wanted = " ".join(f"--view {name}" for name in names)
        raise SettingsError(
            f"{out} has no view {missing[0]} of its rows as they are now: make it with "
            f"`pairsmith training-views {out} {wanted}`"
        )
    return [(name, out / file.path) for name in names for file in there[name].files]


def _named(path: str) -> Path:
    if not Path(path).is_file():
        raise SettingsError(f"--also {path}: there is no such file")
    return Path(path)


def _require_plain_cuda(out: Path, view: str, path: Path) -> None:
    """Raise :class:`SettingsError` where a view does not answer with the plain CUDA of a row."""
    (first,) = read_parquet(path, ["id", "messages"]).slice(0, 1).to_pylist()
    texts = (
        row["cuda_plain"]
        for _, row in stored_rows(out, ["id", "cuda_plain"])
        if row["id"] == first["id"]
    )
    text = next(texts)
    if text is None or text.strip() not in first["messages"][1]["content"]:
        raise SettingsError(
            f"the answers of the view {view} are no plain CUDA, which is what is scored: name "
            "another view first"
        )


def _rows(out: Path, settings: Settings) -> Rows:
    """Every row that has a part. Raises :class:`SettingsError` where a part has none."""
    found = {}
    for split, row in stored_rows(out, ["id", "category", "idiom", "level"]):
        idiom = f"{row['category']}/{row['idiom']}"
        if part := part_of(idiom, split, settings):
            found[row["id"]] = {**row, "idiom": idiom, "part": part}
    for part in (TRAIN, *ASKED):
        if all(row["part"] != part for row in found.values()):
            raise SettingsError(
                f"{out} gives no row to the part {part!r}: take a larger dataset, another --salt "
                "or another --held-out"
            )
    train = sorted(
        (row["id"] for row in found.values() if row["part"] == TRAIN),
        key=lambda row_id: ticket(settings.salt, row_id),
    )
    for row_id in train[len(train) if settings.train_rows is None else settings.train_rows :]:
        del found[row_id]
    return found


def _talks(files: list[tuple[str, Path]], rows: Rows, settings: Settings) -> Iterator[Talk]:
    """The conversations of rows with a part: to train on of all views, to ask of the first."""
    for view, path in files:
        for entry in read_parquet(path, ["id", "messages"]).to_pylist():
            row = rows.get(entry["id"])
            if row and (row["part"] == TRAIN or view == settings.views[0]):
                texts = tuple(message["content"] for message in entry["messages"])
                yield Talk(entry["id"], view, texts)


def _trained(files: list[tuple[str, Path]], rows: Rows, settings: Settings) -> Tokenizer:
    """A byte-pair tokenizer of the training part, of some of its rows where there are many."""
    count = sum(row["part"] == TRAIN for row in rows.values())
    share = _TOKENIZER_ROWS / count

    def texts() -> Iterator[str]:
        for talk in _talks(files, rows, settings):
            is_train = rows[talk.row]["part"] == TRAIN
            if is_train and ticket(f"tokenizer/{settings.salt}", talk.row) < share:
                yield from talk.texts

    found = Tokenizer(models.BPE())
    by = Regex(_PIECES_APART if settings.brackets_apart else _PIECES)
    pieces = pre_tokenizers.Split(by, "isolated")
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    found.pre_tokenizer = pre_tokenizers.Sequence([pieces, in_bytes])
    found.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.vocabulary,
        special_tokens=list(MARKS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    found.train_from_iterator(texts(), trainer)
    # A text that holds the name of a mark is still a text.
    found.encode_special_tokens = True
    return found


def _encoded(
    files: list[tuple[str, Path]], rows: Rows, settings: Settings, tokenizer: Tokenizer
) -> Iterator[tuple[Talk, Ids]]:
    talks = _talks(files, rows, settings)
    while some := list(islice(talks, _AT_ONCE)):
        found = iter(tokenizer.encode_batch([text for talk in some for text in talk.texts]))
        for talk in some:
            yield talk, conversation_of(*(next(found).ids for _ in talk.texts))


def _told(part: str, rows: Rows, tally: Tally) -> dict[str, int]:
    """What `index.json` says of a part."""
    mine = [row for row in rows.values() if row["part"] == part]
    return {"rows": len(mine), "idioms": len({row["idiom"] for row in mine}), **asdict(tally)}
