"""Rows as tasks: a question, the answer that the row has, and what a judge needs to know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from synth.check.answers import NEEDED
from synth.dataset.stored import require_columns, stored_rows
from synth.errors import SettingsError
from synth.loop.rewards import Reward, shared_reward
from synth.views.plain import LeftOut, plain_answer
from synth.views.texts import EXCHANGES

Row = Mapping[str, Any]
Entry = dict[str, Any]

SOURCE = "pairsmith"
_TOLD = ("id", "category", "idiom", "level")


def entry_of(row: Row, view: str, index: int) -> Entry | None:
    """``{"question", "answer", "metadata"}`` of a row; None where the row has nothing for the view.

    ``metadata["row"]`` is JSON of the columns that a judge needs; it holds the row's own answer.
    Raises :class:`SettingsError` for a view that there is not, or that no plain CUDA answers.
    """
    if view not in EXCHANGES:
        raise SettingsError(f"unknown view {view!r}; known are: {', '.join(EXCHANGES)}")
    if row.get("cuda_plain") is None:
        return None
    try:
        exchange = EXCHANGES[view](row)
    except LeftOut:
        return None
    if exchange.answer != plain_answer(row):
        raise SettingsError(f"answers to the view {view!r} are no plain CUDA: nothing judges them")
    told = {name: row[name] for name in _TOLD}
    judged = json.dumps({name: row[name] for name in NEEDED})
    metadata = {
        "source_dataset": f"{SOURCE}/{view}",
        "source_index": index,
        "difficulty": {"level": row["level"]},
        **told,
        "row": judged,
    }
    return {"question": exchange.question, "answer": exchange.answer, "metadata": metadata}


def entries_of(rows: Iterable[Row], view: str) -> Iterator[Entry]:
    """The entries of rows, numbered; rows that have nothing for the view are left out."""
    index = 0
    for row in rows:
        if (entry := entry_of(row, view, index)) is not None:
            index += 1
            yield entry


def dataset_rows(out: Path, splits: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a dataset, of some splits or of all, each with its ``split``.

    Raises :class:`SettingsError` where there is no dataset, or one of another version.
    """
    for split, row in stored_rows(out):
        if not splits or split in splits:
            require_columns(row, NEEDED, out)
            yield {**row, "split": split}


class Tasks(Sequence[Entry]):
    """Entries by index, as reasoning-gym's datasets give them; made when they are first asked for.

    ``size`` bounds them; a source with fewer is shorter. The length of one that is ``endless`` is
    its size; that of another is known once it was read, which ``len`` does.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        view: str,
        size: int | None = None,
        *,
        endless: bool = False,
        reward: Reward | None = None,
    ) -> None:
        """Raises :class:`SettingsError` for an unknown view, ValueError for a negative size."""
        if view not in EXCHANGES:
            raise SettingsError(f"unknown view {view!r}; known are: {', '.join(EXCHANGES)}")
        self.view = view
        self._coming = islice(entries_of(rows, view), size)
        self._size = size if endless else None
        self._entries: list[Entry] = []
        self._reward = reward

    def __len__(self) -> int:
        if self._size is None:
            self._pull(None)
            self._size = len(self._entries)
        return self._size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        self._pull(at + 1)
        return self._entries[at]

    def score_answer(self, answer: str | None, entry: Entry) -> float:
        """1.0 for a text that passes, 0.0 for one that does not, by :class:`Reward`.

        Raises RuntimeError when nothing can be said of the answer: the row itself is wrong.
        """
        reward = self._reward or shared_reward()
        (found,) = reward([entry["question"]], [answer or ""], row=[entry["metadata"]["row"]])
        if found is None:
            raise RuntimeError(f"row {entry['metadata']['id']} is unfit: its own CUDA fails")
        return found

    def _pull(self, count: int | None) -> None:
        """Make entries until there are ``count``, None: all."""
        missing = None if count is None else max(count - len(self._entries), 0)
        self._entries += islice(self._coming, missing)
        if count is None or len(self._entries) < count:
            self._size = len(self._entries)
