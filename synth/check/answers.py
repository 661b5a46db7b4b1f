"""Answers of others to rows of a dataset: read, judged by one scorer, and counted."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import groupby
from math import comb, isfinite
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from synth.dataset.stored import stored_rows
from synth.errors import SettingsError
from synth.rows.maker import Row
from validate.score.scorer import Answer, Scorer, Verdict
from validate.score.verdict import Launches
from validate.statuses import ScoreStatus

KS = (1, 5, 10)
FEEDBACK = ("public", "full")

# A thread takes at most so many answers, whole rows where they fit, for a row that two meet at once
# is prepared twice; it hands verdicts on after every few.
_TASK = 32
_PIECE = 8
_REASON_CHARACTERS = 300
NEEDED = (
    *("id", "category", "level", "kernel_name", "reference", "args", "sizes", "launch"),
    *("input_seed", "edge_inputs", "cuda_plain", "plain_args"),
    *("plain_scratch", "plain_launch"),
)
_TEXT_KEYS = ("cuda", "completion")
_KEYS = {"id", "launch", *_TEXT_KEYS}
_HIDDEN = ("detail", "counter_example")

Verdicts = Mapping[int, Verdict]
"""By position of the line; lines that were not come to are missing."""

_Found = SimpleQueue[dict[int, Verdict] | Future[None]]


@dataclass(frozen=True)
class Line:
    """One line of the file of answers; `text` is a whole completion or bare CUDA."""

    number: int
    id: str
    text: str
    launch: Launches


def read_answers(path: Path) -> list[Line]:
    """The lines of a file of answers; :class:`SettingsError` names the first that is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    found = [_line(path, n, t) for n, t in enumerate(text.split("\n"), 1) if t.strip()]
    if not found:
        raise SettingsError(f"{path} holds no answer")
    return found


def _line(path: Path, number: int, text: str) -> Line:
    where = f"{path}, line {number}"
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{where} is no JSON: {error}") from None
    if not isinstance(entry, dict):
        raise SettingsError(f"{where} is no JSON object")
    if strange := set(entry) - _KEYS:
        raise SettingsError(f"{where} has the unknown key {min(strange)!r}")
    texts = [key for key in _TEXT_KEYS if key in entry]
    if len(texts) > 1:
        raise SettingsError(f"{where} has both {' and '.join(map(repr, texts))}")
    key = texts[0] if texts else _TEXT_KEYS[0]
    for name in ("id", key):
        if not isinstance(entry.get(name), str):
            raise SettingsError(f"{where} has no text {name!r}")
    launch = entry.get("launch")
    if launch is not None and not isinstance(launch, dict | list):
        raise SettingsError(f"{where}: launch is no JSON object and no list of objects")
    return Line(number, entry["id"], entry[key], launch)


def rows_of(out: Path, lines: Sequence[Line]) -> dict[str, Row]:
    """The rows that lines name; :class:`SettingsError` when one is missing or cannot be scored."""
    asked = {line.id for line in lines}
    rows = {
        row["id"]: {key: row[key] for key in NEEDED}
        for _, row in stored_rows(out)
        if row["id"] in asked
    }
    for line in lines:
        if line.id not in rows:
            raise SettingsError(f"line {line.number}: no row at {out} has the id {line.id!r}")
        if rows[line.id]["cuda_plain"] is None:
            raise SettingsError(f"line {line.number}: the row {line.id} has no plain CUDA")
    return rows


def judged(
    scorer: Scorer,
    lines: Sequence[Line],
    rows: Mapping[str, Row],
    *,
    workers: int,
    timeout_s: float | None = None,
) -> Generator[dict[int, Verdict], None, None]:
    """Verdicts by position of the line, a few at a time, as they come.

    Close the iterator when it is left early: that closes the scorer and ends what is being judged.
    Raises what `Scorer.score_batch` does.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    found: _Found = SimpleQueue()

    def work(task: Sequence[int]) -> None:
        for start in range(0, len(task), _PIECE):
            piece = task[start : start + _PIECE]
            answers = [Answer(lines[p].text, rows[lines[p].id], lines[p].launch) for p in piece]
            left = None if deadline is None else deadline - time.monotonic()
            verdicts = scorer.score_batch(answers, timeout_s=left)
            found.put(dict(zip(piece, verdicts, strict=True)))

    with ThreadPoolExecutor(workers) as pool:
        most = min(_TASK, -(-len(lines) // (2 * workers)))
        futures = [pool.submit(work, task) for task in _tasks(lines, most)]
        try:
            yield from _until_done(futures, found)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if not all(future.done() for future in futures):
                scorer.close()


def _until_done(
    futures: Sequence[Future[None]], found: _Found
) -> Generator[dict[int, Verdict], None, None]:
    for future in futures:
        future.add_done_callback(found.put)
    ended = 0
    while ended < len(futures):
        item = found.get()
        if isinstance(item, Future):
            item.result()
            ended += 1
        else:
            yield item


def _tasks(lines: Sequence[Line], most: int) -> Iterator[list[int]]:
    order = sorted(range(len(lines)), key=lambda position: lines[position].id)
    task: list[int] = []
    for _, positions in groupby(order, key=lambda position: lines[position].id):
        mine = list(positions)
        if task and len(task) + len(mine) > most:
            yield task
            task = []
        while len(mine) > most:
            yield mine[:most]
            mine = mine[most:]
        task += mine
    yield task


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """The chance that one of k of a task's samples passes: 1 - C(n-c, k) / C(n, k).

    The unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on Code"
    (arXiv:2107.03374, 2021), section 2.1.
    """
    return 1.0 - comb(samples - passed, k) / comb(samples, k)


def summarise(verdicts: Sequence[Verdict], rows: Mapping[str, Row]) -> dict[str, Any]:
    """Counts, and pass@k over what was judged: all tasks, and by category and level."""
    tally: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for verdict in verdicts:
        if verdict.judged:
            tally[verdict.id][0] += 1
            tally[verdict.id][1] += verdict.passed
    ks = [k for k in KS if all(samples >= k for samples, _ in tally.values())]
    groups: dict[str, list[str]] = {"all": list(tally)} if tally else {}
    for row_id in sorted(tally, key=lambda i: (rows[i]["category"], rows[i]["level"])):
        groups.setdefault(f"category {rows[row_id]['category']}", []).append(row_id)
    for row_id in sorted(tally, key=lambda i: int(rows[i]["level"])):
        groups.setdefault(f"level {rows[row_id]['level']}", []).append(row_id)
    return {
        "verdicts": dict(Counter(verdict.status for verdict in verdicts).most_common()),
        "groups": {
            name: {
                "tasks": len(ids),
                "samples": sum(tally[i][0] for i in ids),
                "pass_at": {str(k): _mean_pass([tally[i] for i in ids], k) for k in ks},
            }
            for name, ids in groups.items()
        },
    }


def not_judged(verdicts: Sequence[Verdict]) -> list[str]:
    """A line for each row that is unfit, and one for what was not come to in time."""
    unfit = [v for v in verdicts if v.status == ScoreStatus.ROW_UNFIT]
    answers = Counter(verdict.id for verdict in unfit)
    reasons = {
        verdict.id: " ".join((verdict.detail or verdict.reason).split()) for verdict in unfit
    }
    lines = [
        f"row {reasons[row_id][:_REASON_CHARACTERS]} ({count} answers not judged)"
        for row_id, count in sorted(answers.items())
    ]
    late = sum(verdict.status == ScoreStatus.NOT_JUDGED for verdict in verdicts)
    return lines + ([f"{late} answers not judged: the time was up"] if late else [])


def report_of(
    lines: Sequence[Line],
    verdicts: Verdicts,
    summary: Mapping[str, Any],
    hidden_seed: int,
    feedback: str,
) -> dict[str, Any]:
    """What ``--report`` writes: the summary, and each answer that was come to with its line.

    With the feedback "public" nothing of the hidden inputs is in it, nor their seed.
    """
    answers = [
        {"line": lines[position].number, **told_of(verdicts[position], feedback)}
        for position in sorted(verdicts)
    ]
    report = {**summary, "complete": len(verdicts) == len(lines), "answers": answers}
    return report if feedback == "public" else {**report, "hidden_seed": hidden_seed}


def told_of(verdict: Verdict, feedback: str) -> dict[str, Any]:
    told = {**asdict(verdict), "credit": verdict.credit}
    if feedback == "public":
        return {key: value for key, value in told.items() if key not in _HIDDEN}
    if (example := told["counter_example"]) is not None:
        # JSON has no word for what is no number.
        for key in ("got", "want"):
            value = example[key]
            if isinstance(value, float) and not isfinite(value):
                example[key] = str(value)
    return told


def _mean_pass(tasks: Sequence[Sequence[int]], k: int) -> float:
    return sum(pass_at_k(samples, passed, k) for samples, passed in tasks) / len(tasks)
