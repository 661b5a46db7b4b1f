"""`worth.py table`: pass rates of the rows that were asked, from a report of `pairsmith score`."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from scripts.measure.training.tokens import ASKED, TRAIN, read_index, read_rows
from synth.errors import SettingsError
from validate.statuses import ScoreStatus

_NORMAL_975 = 1.959964
"""The 97.5 % point of the normal distribution."""
_NOTHING = "-"
_NOT_JUDGED = (ScoreStatus.ROW_UNFIT, ScoreStatus.NOT_JUDGED)

Row = Mapping[str, Any]


def wilson(passed: int, asked: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927, 209-212); 0 to 1
    where nothing was asked."""
    if not asked:
        return 0.0, 1.0
    share, z2 = passed / asked, _NORMAL_975**2
    middle = share + z2 / (2 * asked)
    reach = _NORMAL_975 * sqrt(share * (1 - share) / asked + z2 / (4 * asked**2))
    scale = 1 + z2 / asked
    return (middle - reach) / scale, (middle + reach) / scale


@dataclass(frozen=True)
class Score:
    """Some rows: how many there are, how many fit the tokens, were judged, and passed."""

    rows: int
    fit: int
    asked: int
    passed: int

    @property
    def share(self) -> float:
        return self.passed / self.asked if self.asked else 0.0

    def cells(self) -> list[str]:
        low, high = wilson(self.passed, self.asked)
        shown = f"{100 * self.share:.1f} %" if self.asked else _NOTHING
        interval = f"{100 * low:.1f} to {100 * high:.1f} %" if self.asked else _NOTHING
        return [str(self.asked), str(self.passed), shown, interval, _percent(self.fit, self.rows)]


_HEADS = ("asked", "passed", "share", "95 % interval", "rows that fit")


def score_of(rows: Sequence[Row], statuses: Mapping[str, str]) -> Score:
    """The score of some rows, given the status of each id that was asked."""
    judged = [
        statuses[row["id"]]
        for row in rows
        if row["id"] in statuses and statuses[row["id"]] not in _NOT_JUDGED
    ]
    fit = sum(row["fits"] for row in rows)
    return Score(len(rows), fit, len(judged), judged.count(ScoreStatus.PASSED))


def page(folder: Path, report: Path, run: Path | None) -> str:
    """The tables, as Markdown.

    Raises :class:`SettingsError` for files that cannot be read or do not belong together.
    """
    index, rows = read_index(folder), read_rows(folder)
    statuses = _statuses(report)
    if strange := set(statuses) - {row["id"] for row in rows if row["fits"]}:
        raise SettingsError(f"{report} has answers to other rows than {folder}: {min(strange)}")
    parts = {part: [row for row in rows if row["part"] == part] for part in ASKED}
    lines = [*_about(index, run), ""]
    scores = {part: score_of(mine, statuses) for part, mine in parts.items()}
    lines += _table(["rows", *_HEADS], ([part, *scores[part].cells()] for part in ASKED))
    for what in ("category", "level"):
        lines += ["", *_table([what, "rows", *_HEADS], _grouped(parts, what, statuses))]
    lines += ["", *_table(["verdict", *ASKED], _verdicts(parts, statuses))]
    for part, mine in parts.items():
        lines += ["", *_table([f"idiom ({part})", *_HEADS], _idioms(mine, statuses))]
    return "\n".join(lines)


def _statuses(report: Path) -> dict[str, str]:
    """The verdict on each row of a report."""
    try:
        entries = json.loads(report.read_text("utf-8"))["answers"]
        found = {entry["id"]: entry["status"] for entry in entries}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"{report} is no report of `pairsmith score`: {error!r}") from None
    if len(found) < len(entries):
        raise SettingsError(f"{report} has several answers to one row; a row is asked once")
    return found


def _about(index: Mapping[str, Any], run: Path | None) -> Iterator[str]:
    settings, train = index["settings"], index["parts"][TRAIN]
    yield (
        f"Views {', '.join(settings['views'])}; {len(index['held_out'])} idioms held out (share "
        f"{settings['held_out']:g}, salt {settings['salt']!r}); trained on {train['rows']} rows of "
        f"{train['idioms']} idioms: {train['fit']} of {train['conversations']} conversations fit "
        f"{settings['max_tokens']} tokens ({_percent(train['fit'], train['conversations'])}), "
        f"{train['tokens'] / 1e6:.1f} M tokens of a vocabulary of {index['vocabulary']}."
    )
    if run is None:
        return
    try:
        found = json.loads((run / "metrics.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{run} holds no metrics of `worth.py train`: {error}") from None
    yield (
        f"{found['parameters'] / 1e6:.1f} M parameters, {found['train_s'] / 60:.1f} min on "
        f"{found['device']} (and {found['warm_up_s']:.0f} s before), {found['steps']} steps, "
        f"{found['epochs']:.1f} epochs, {found['tokens'] / 1e6:.1f} M tokens."
    )
    for part, told in found["asked"].items():
        yield (
            f"{part}: loss {told['loss']:.3f}, {100 * told['tokens_right']:.1f} % of the tokens of "
            f"own answers likeliest; {told['equal']} of {told['asked']} answers are the row's own, "
            f"{told['unfinished']} have no end."
        )


def _grouped(
    parts: Mapping[str, Sequence[Row]], what: str, statuses: Mapping[str, str]
) -> Iterator[list[str]]:
    for part, rows in parts.items():
        for name, mine in sorted(_by(rows, lambda row: row[what]).items()):
            yield [str(name), part, *score_of(mine, statuses).cells()]


def _idioms(rows: Sequence[Row], statuses: Mapping[str, str]) -> Iterator[list[str]]:
    """Idioms of which a row was judged, the worst first, of equals the one with more rows."""
    scores = {
        name: score_of(mine, statuses)
        for name, mine in sorted(_by(rows, lambda row: row["idiom"]).items())
    }
    for name in sorted(scores, key=lambda name: (scores[name].share, -scores[name].asked)):
        if scores[name].asked:
            yield [name, *scores[name].cells()]


def _verdicts(
    parts: Mapping[str, Sequence[Row]], statuses: Mapping[str, str]
) -> Iterator[list[str]]:
    found = {
        part: Counter(statuses[row["id"]] for row in rows if row["id"] in statuses)
        for part, rows in parts.items()
    }
    for status, _ in sum(found.values(), Counter[str]()).most_common():
        yield [status, *(str(counts[status]) for counts in found.values())]


def _by(rows: Sequence[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def _table(heads: Sequence[str], lines: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'--:|' * (len(heads) - 1)}"
    for cells in lines:
        yield f"| {' | '.join(cells)} |"


def _percent(some: int, every: int) -> str:
    return f"{100 * some / every:.1f} %" if every else _NOTHING
