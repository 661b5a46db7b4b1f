"""The rows of a dataset against benchmark texts: scores, and a report of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from synth.dataset.stored import Row, count_rows, stored_rows
from synth.derive.overlap import (
    BOILERPLATE_ROWS,
    BOILERPLATE_SHARE,
    TEXTS,
    Benchmark,
    Boilerplate,
    NGrams,
    Overlap,
    RowCounter,
    overlap,
    texts_of,
    tokens,
)
from synth.derive.overlap_texts import BenchmarkTexts
from synth.errors import SettingsError

_COLUMNS = ["id", "category", *(name for columns in TEXTS.values() for name in columns)]
_HIGHEST = 10
_BINS = 10


@dataclass(frozen=True)
class Against:
    """Benchmarks, ready to be compared with, and how they are compared."""

    ngrams: NGrams
    threshold: float
    texts: BenchmarkTexts
    benchmark: Benchmark

    @staticmethod
    def of(paths: Sequence[Path], *, ngram: int, threshold: float) -> Against:
        """Read benchmarks; :class:`SettingsError` for paths and numbers that cannot be used."""
        if ngram < 1:
            raise SettingsError(f"--ngram is {ngram}; give at least one token")
        if not 0 < threshold <= 1:
            raise SettingsError(f"--threshold is {threshold}; give a share above 0, at most 1")
        ngrams, texts = NGrams(ngram), BenchmarkTexts(paths)
        return Against(ngrams, threshold, texts, Benchmark.of(texts.read(), ngrams))

    def as_dict(self) -> dict[str, Any]:
        """What a manifest says of them."""
        return {
            "files": self.texts.files,
            "texts": self.texts.texts,
            "sha256": self.benchmark.sha256(),
            "ngram": self.ngrams.length,
            "threshold": self.threshold,
        }


@dataclass(frozen=True)
class Scored:
    """A row that shares something with a benchmark, by that of its texts which shares most."""

    id: str
    split: str
    category: str
    overlap: Overlap

    def as_dict(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in ("id", "split", "category")}
        found.update(asdict(self.overlap))
        return {name: round(v, 4) if isinstance(v, float) else v for name, v in found.items()}


@dataclass
class Report:
    """What a dataset shares with benchmarks; ``over`` are the rows that reach the threshold, in
    order, ``highest`` the first ones by score. ``bins`` counts rows by tenths of the score, rows
    that share nothing under -1."""

    against: Against
    boilerplate: int
    rows: int = 0
    over: list[Scored] = field(default_factory=list)
    highest: list[Scored] = field(default_factory=list)
    bins: Counter[int] = field(default_factory=Counter)

    def add(self, scored: Scored | None) -> None:
        """Count a row, None for one that shares nothing."""
        self.rows += 1
        if scored is None:
            self.bins[-1] += 1
            return
        score = scored.overlap.score
        self.bins[min(int(score * _BINS), _BINS - 1)] += 1
        if score >= self.against.threshold:
            self.over.append(scored)
        self.highest.append(scored)
        self.highest.sort(key=lambda other: -other.overlap.score)
        del self.highest[_HIGHEST:]

    def histogram(self) -> dict[str, int]:
        """Rows by score."""
        names = {at: f"{at / _BINS:.1f} to {(at + 1) / _BINS:.1f}" for at in range(_BINS)}
        return {name: self.bins[at] for at, name in {-1: "0", **names}.items()}

    def by_category(self) -> dict[str, int]:
        """Rows that reach the threshold, by category."""
        return dict(sorted(Counter(scored.category for scored in self.over).items()))

    def as_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "over_threshold": len(self.over),
            "by_category": self.by_category(),
            "histogram": self.histogram(),
            "against": {
                **self.against.as_dict(),
                "ngrams": int(self.against.benchmark.hashes.size),
                "skipped": self.against.texts.skipped,
            },
            "boilerplate": {
                "share": BOILERPLATE_SHARE,
                "rows": BOILERPLATE_ROWS,
                "ngrams": self.boilerplate,
            },
            "over": [scored.as_dict() for scored in self.over],
            "highest": [scored.as_dict() for scored in self.highest],
        }

    def lines(self) -> Iterator[str]:
        """The report as it is printed."""
        texts = self.against.texts
        yield f"benchmark files: {texts.files}, texts in them: {texts.texts}"
        if texts.skipped:
            yield f"skipped files (binary or no UTF-8): {len(texts.skipped)}"
        if self.highest:
            yield "highest:"
        for scored in self.highest:
            found = scored.as_dict()
            yield (
                f"{found['score']:6.3f}  {found['id']}  {found['text']:12}  {found['file']} "
                f"({found['file_share']:.3f}; {found['run_tokens']} tokens: {found['run']})"
            )
        yield "rows by score:"
        yield from (f"{name:>10}  {count:7}" for name, count in self.histogram().items())
        if self.over:
            yield f"rows that reach {self.against.threshold:g}, by category:"
        yield from (f"{name:>16}  {count:7}" for name, count in self.by_category().items())
        yield f"{self.rows} rows checked, {len(self.over)} over the threshold"


def compare(out: Path, against: Against, progress: Callable[[int], None]) -> Report:
    """Compare every row of a dataset, which is read twice: boilerplate is counted first.

    ``progress`` is told of every row, each time. :class:`SettingsError` for a folder that holds no
    dataset.
    """
    boilerplate = _boilerplate(out, against.ngrams, progress)
    report = Report(against, boilerplate.size)
    for split, row in stored_rows(out, _COLUMNS):
        report.add(_scored(split, row, against, boilerplate))
        progress(1)
    return report


def steps(out: Path) -> int:
    """How many rows :func:`compare` tells of; :class:`SettingsError` where there is no dataset."""
    return 2 * count_rows(out)


def _boilerplate(out: Path, ngrams: NGrams, progress: Callable[[int], None]) -> Boilerplate:
    counter = RowCounter()
    for _, row in stored_rows(out, _COLUMNS):
        counter.add([ngrams.hashes(tokens(text)) for _, text in texts_of(row)])
        progress(1)
    return counter.boilerplate()


def _scored(split: str, row: Row, against: Against, boilerplate: Boilerplate) -> Scored | None:
    found = [
        overlap(name, text, against.ngrams, boilerplate, against.benchmark)
        for name, text in texts_of(row)
    ]
    shared = [each for each in found if each is not None]
    if not shared:
        return None
    best = max(shared, key=lambda each: each.score)
    return Scored(row["id"], split, row["category"], best)
