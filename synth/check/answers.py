"""Answers of others to rows of a dataset: read, scored by several processes, and counted."""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from math import comb
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from synth.dataset.stored import stored_rows
from synth.errors import RunError, SettingsError
from synth.rows.maker import Row
from validate.score.run import RowUnfit
from validate.score.scorer import Answer, Scorer, Verdict

KS = (1, 5, 10)
_BATCH = 32
_NEEDED = (
    *("id", "category", "level", "kernel_name", "reference", "args", "sizes", "launch"),
    *("input_seed", "cuda_plain", "plain_args", "plain_launch"),
)
_KEYS = {"id", "cuda", "launch"}


@dataclass(frozen=True)
class Line:
    """One line of the file of answers."""

    number: int
    id: str
    cuda: str
    launch: Mapping[str, Any] | None


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
    for key in ("id", "cuda"):
        if not isinstance(entry.get(key), str):
            raise SettingsError(f"{where} has no text {key!r}")
    launch = entry.get("launch")
    if launch is not None and not isinstance(launch, dict):
        raise SettingsError(f"{where}: launch is no JSON object")
    return Line(number, entry["id"], entry["cuda"], launch)


def rows_of(out: Path, lines: Sequence[Line]) -> dict[str, Row]:
    """The rows that lines name; :class:`SettingsError` when one is missing or cannot be scored."""
    asked = {line.id for line in lines}
    rows = {
        row["id"]: {key: row[key] for key in _NEEDED}
        for _, row in stored_rows(out)
        if row["id"] in asked
    }
    for line in lines:
        if line.id not in rows:
            raise SettingsError(f"line {line.number}: no row at {out} has the id {line.id!r}")
        if rows[line.id]["cuda_plain"] is None:
            raise SettingsError(f"line {line.number}: the row {line.id} has no plain CUDA")
    return rows


def score_answers(
    lines: Sequence[Line],
    rows: Mapping[str, Row],
    *,
    workers: int,
    hidden_seed: int,
    progress: Callable[[int], None] = lambda _n: None,
) -> list[Verdict]:
    """A verdict for each line. :class:`RunError` for a row whose own text does not pass."""
    order = sorted(range(len(lines)), key=lambda position: lines[position].id)
    batches = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
    tasks = [
        [Answer(lines[p].cuda, rows[lines[p].id], lines[p].launch) for p in b] for b in batches
    ]
    found: dict[int, Verdict] = {}
    try:
        for batch, verdicts in zip(batches, _in_order(tasks, workers, hidden_seed), strict=True):
            found.update(zip(batch, verdicts, strict=True))
            progress(len(batch))
    except RowUnfit as error:
        raise RunError(f"row {error}") from None
    return [found[position] for position in range(len(lines))]


def _in_order(
    tasks: Sequence[list[Answer]], workers: int, hidden_seed: int
) -> Iterator[list[Verdict]]:
    if workers == 1 or len(tasks) == 1:
        with Scorer(hidden_seed=hidden_seed) as scorer:
            yield from map(scorer.score_batch, tasks)
        return
    context = multiprocessing.get_context("spawn")
    count = min(workers, len(tasks))
    with ProcessPoolExecutor(count, context, _start, (hidden_seed,)) as pool:
        yield from pool.map(_score_here, tasks)


_scorer: Scorer | None = None


def _start(hidden_seed: int) -> None:
    global _scorer
    _scorer = Scorer(hidden_seed=hidden_seed)
    Finalize(_scorer, _scorer.close, exitpriority=1)


def _score_here(task: list[Answer]) -> list[Verdict]:
    assert _scorer is not None
    return _scorer.score_batch(task)


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """The chance that one of k of a task's samples passes: 1 - C(n-c, k) / C(n, k).

    The unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on Code"
    (arXiv:2107.03374, 2021), section 2.1.
    """
    return 1.0 - comb(samples - passed, k) / comb(samples, k)


def summarise(verdicts: Sequence[Verdict], rows: Mapping[str, Row]) -> dict[str, Any]:
    """Counts and pass@k, over all tasks and by category and level."""
    tally: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for verdict in verdicts:
        tally[verdict.id][0] += 1
        tally[verdict.id][1] += verdict.passed
    ks = [k for k in KS if all(samples >= k for samples, _ in tally.values())]
    groups: dict[str, list[str]] = {"all": list(tally)}
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


def report_of(
    lines: Sequence[Line], verdicts: Sequence[Verdict], summary: Mapping[str, Any]
) -> dict[str, Any]:
    """What ``--report`` writes: the summary, and each answer with its line."""
    answers = [
        {"line": line.number, **asdict(verdict)}
        for line, verdict in zip(lines, verdicts, strict=True)
    ]
    return {**summary, "answers": answers}


def _mean_pass(tasks: Sequence[list[int]], k: int) -> float:
    return sum(pass_at_k(samples, passed, k) for samples, passed in tasks) / len(tasks)
