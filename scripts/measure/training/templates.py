"""Templates for `worth.py prepare --fresh-names`: conversations with marks in place of names.

The names are those that `worth_renaming` replaces, in question and answer, with all that was made
of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from scripts.measure.training.names import FIRST_MARK, Template, Templates
from scripts.measure.training.renaming import Row, names_of, pools, renamed
from synth.dataset.stored import stored_rows
from synth.errors import SettingsError
from synth.views.file import COLUMNS
from synth.views.texts import sft

_STAND_IN = re.compile(r"q7([a-z]+)7(\d+)7q")
"""A word that no row has, for a name of a kind."""
_AT_ONCE = 64


@dataclass(frozen=True)
class Talk:
    """What is said in a view of a row, a question first."""

    row: str
    view: str
    texts: tuple[str, ...]


def templates_of(out: Path, talks: Sequence[Talk], workers: int = 1) -> Templates:
    """A template of each conversation, in their order, and the names of their rows by kind; in
    ``workers`` processes.

    Raises :class:`SettingsError` where a conversation is not what the view `sft` without reasons
    says of its row.
    """
    wanted = {talk.row: talk for talk in talks}
    rows = (row for _, row in stored_rows(out, COLUMNS) if row["id"] in wanted)
    found: dict[str, Template] = {}
    known: dict[str, set[str]] = defaultdict(set)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        while some := list(islice(rows, _AT_ONCE * workers)):
            texts = [wanted[row["id"]].texts for row in some]
            made = pool.map(template_and_names, some, texts, chunksize=_AT_ONCE // 4)
            for row, (template, names) in zip(some, made, strict=True):
                found[row["id"]] = template
                for kind, own in names.items():
                    known[kind].update(own)
    names_by_kind = {kind: sorted(names) for kind, names in sorted(known.items())}
    return Templates(names_by_kind, [found[talk.row] for talk in talks])


def template_and_names(row: Row, texts: Sequence[str]) -> tuple[Template, dict[str, list[str]]]:
    """Of one row: its template, and its names by kind."""
    return template_of(row, texts), {kind: list(names) for kind, names in pools([row]).items()}


def template_of(row: Row, texts: Sequence[str]) -> Template:
    """Of one row, of which a view says ``texts``."""
    exchange = sft(row)
    if tuple(texts) != (exchange.question, exchange.answer):
        raise SettingsError(
            "fresh names are for the view sft without reasons: make it with `pairsmith "
            "training-views OUT --view sft --no-reasons`"
        )
    kinds = names_of(row).values()
    most = len(kinds)
    stand_ins = {kind: [f"q7{kind}7{at}7q" for at in range(most)] for kind in set(kinds)}
    anew = renamed(row, stand_ins)
    marks: dict[str, str] = {}

    def mark(match: re.Match[str]) -> str:
        return marks.setdefault(match[0], chr(FIRST_MARK + len(marks)))

    question, answer = (_STAND_IN.sub(mark, text) for text in (anew.question, anew.answer))
    # The marks were given in the order in which `marks` has them.
    return Template((question, answer), tuple(_STAND_IN.fullmatch(one)[1] for one in marks))
