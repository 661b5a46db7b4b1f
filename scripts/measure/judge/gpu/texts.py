"""Make a folder of texts that the scorer passes and fails, with what is needed to run them."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

from scripts.measure.judge.corpus import (
    SAMPLES,
    Text,
    dataset_rows,
    mutant_texts,
    own_texts,
    rewritten_texts,
    style_texts,
    suite,
    suite_rows,
)
from scripts.measure.judge.gpu.folder import Job, write_folder
from validate.oracle.reference import ReferenceFailed
from validate.score.fit import Fit, RowUnfit, find_fit
from validate.score.hidden import OWN, Draw, reference_outputs
from validate.score.judge import Judge
from validate.score.lane import Lane
from validate.score.scorer import Scorer, Verdict
from validate.score.task import Refused, row_key, task_of
from validate.statuses import ScoreStatus
from validate.text.launches import listed
from validate.text.prelude import prelude

FAILS = (
    *(ScoreStatus.WRONG_VALUE, ScoreStatus.DATA_RACE, ScoreStatus.BAD_SYNC),
    *(ScoreStatus.WROTE_OUT_OF_BOUNDS, ScoreStatus.READ_OUT_OF_BOUNDS, ScoreStatus.INPUT_CHANGED),
    *(ScoreStatus.BAD_LAUNCH, ScoreStatus.UNDEFINED, ScoreStatus.UNSEEN_BRANCH),
    *(ScoreStatus.CRASHED, ScoreStatus.TIMEOUT),
)
"""Verdicts on texts that can be launched all the same."""

_BATCH = 96
# A text without end costs a GPU its time limit.
_ENDLESS_PART = 25
_REFERENCE_S = 3
_MOST_BYTES = 120_000

Found = list[tuple[Text, Verdict]]


class _TooSlow(Exception):  # noqa: N818 - a result, not an error of ours
    """A reference takes too long at a shape."""


def candidates(data: Path | None, rows: int, per_row: int, seed: int) -> list[Text]:
    """The texts to choose from: suites, own texts, rewrites, other styles, mutants."""
    drawn = dataset_rows(SAMPLES) + (dataset_rows(data, rows) if data is not None else [])
    texts = [*suite("honest"), *suite("wrong"), *rewritten_texts()]
    texts += own_texts(suite_rows()) + own_texts(drawn)
    texts += [*style_texts(drawn), *mutant_texts([*suite_rows(), *drawn], per_row, seed)]
    return [text for text in texts if len(text.cuda) <= 65_536]


def judged(texts: Sequence[Text], scorer: Scorer) -> Found:
    """The texts with their verdicts."""
    found: Found = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        verdicts = scorer.score_batch([text.answer for text in batch])
        found += zip(batch, verdicts, strict=True)
        print(f"{len(found)} of {len(texts)} texts judged", flush=True)
    return found


def chosen(found: Found, count: int) -> Found:
    """`count` that pass, of all sources, and as many that fail, of all verdicts, as far as such
    are there."""
    passed = [each for each in found if each[1].passed and _has_launch(each[0])]
    failed = [each for each in found if each[1].status in FAILS and _has_launch(each[0])]
    most = count // _ENDLESS_PART
    endless = [each for each in failed if each[1].status == ScoreStatus.TIMEOUT]
    kept = [each for each in failed if each not in endless[most:]]
    by_source = _in_turns(passed, lambda text, verdict: text.name.split("/")[0])
    by_status = _in_turns(kept, lambda text, verdict: str(verdict.status))
    return by_source[:count] + by_status[:count]


def _has_launch(text: Text) -> bool:
    """Whether an answer is launched, and once: a folder for GPUs has no scratch memory."""
    task = task_of(text.cuda, text.row, text.launch)
    return not isinstance(task, Refused) and len(task.launches) == 1


def _in_turns(found: Found, kind: Any) -> Found:
    groups: dict[str, Found] = {}
    for each in found:
        groups.setdefault(kind(*each), []).append(each)
    turns = chain.from_iterable(zip_longest(*groups.values()))
    return [each for each in turns if each is not None]


def key_of(row: Mapping[str, Any]) -> str:
    """Names a row: equal ids may stand for different ones."""
    return f"{row['id']}-{row_key(row)[:8]}"


def draw_of(row: Mapping[str, Any], hidden_seed: int, lane: Lane) -> Draw:
    """The trials that the scorer has for a row, with all that the reference wants.

    Left out are those where the reference takes long or its outputs are large, and those where the
    row's own text and the reference part. Raises RowUnfit.
    """
    fit = find_fit(row, hidden_seed, lane)
    wanted = {}
    for number, trial in enumerate(fit.draw.trials):
        if number not in fit.judge.wanted:
            continue
        outputs = fit.judge.wanted[number]
        if sum(array.nbytes for array in outputs.values()) > _MOST_BYTES:
            continue
        if trial.oracle == OWN:
            try:
                with _within(_REFERENCE_S):
                    outputs = reference_outputs(row, trial, fit.draw)
            except (_TooSlow, ReferenceFailed, ValueError):
                continue
            if not _agrees(row, fit, number, outputs):
                continue
        wanted[number] = outputs
    left_out = [n for n in range(len(fit.draw.trials)) if n not in wanted]
    return replace(fit.draw, wanted=wanted).without(left_out)


def _agrees(row: Mapping[str, Any], fit: Fit, number: int, outputs: Mapping[str, Any]) -> bool:
    """Whether what the row's own text wrote at a trial is what the reference wants."""
    own = {name: array.tobytes() for name, array in fit.judge.wanted[number].items()}
    alone = replace(fit.draw, trials=(fit.draw.trials[number],), wanted={0: dict(outputs)})
    return not Judge(row, alone).differs(0, own)


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    """End what takes longer, with _TooSlow."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def make(folder: Path, told: Any) -> None:
    """Judge candidates, choose, and write the folder."""
    texts = candidates(told.data, told.rows, told.mutants_per_row, told.seed)
    with Scorer(hidden_seed=told.hidden_seed, workers=told.workers) as scorer:
        found = chosen(judged(texts, scorer), told.count)
    rows: dict[str, tuple[Mapping[str, Any], Draw]] = {}
    lane = Lane()
    try:
        for text, _ in found:
            key = key_of(text.row)
            if key not in rows:
                rows[key] = (text.row, draw_of(text.row, told.hidden_seed, lane))
    except RowUnfit as unfit:
        raise RuntimeError(f"a row of judged texts is unfit: {unfit}") from unfit
    finally:
        lane.close()
    jobs = [_job(number, *each) for number, each in enumerate(found)]
    write_folder(folder, jobs, rows)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    trials = Counter(trial.what.split()[0] for _, draw in rows.values() for trial in draw.trials)
    print(f"{len(jobs)} texts of {len(rows)} rows, {size:.1f} MB in {folder}")
    print("verdicts:", dict(Counter(job.status for job in jobs).most_common()))
    print("sources:", dict(Counter(job.name.split("/")[0] for job in jobs).most_common()))
    print("trials:", dict(trials))


def _job(number: int, text: Text, verdict: Verdict) -> Job:
    """What a GPU is given of a text."""
    task = task_of(text.cuda, text.row, text.launch)
    if isinstance(task, Refused):
        raise ValueError(f"{text.name} has no launch: {task.reason}")
    (launch,), reading = listed(task.sent["plain_launch"]), task.reading
    return Job(
        number=number,
        name=text.name,
        row=key_of(text.row),
        code=reading.code,
        prelude=prelude(reading.headers),
        kernel=reading.kernel,
        launch=dict(launch),
        status=str(verdict.status),
        reason=verdict.detail or verdict.reason,
    )
