"""Every attempt of a model, kept: SQLite, only added to, for several writers on one machine.

What was answered is stored before it is judged, and each step is a transaction of its own with a
sync to disk: a process may be killed at any instant. Before an attempt is asked for it is claimed;
another process leaves it alone while the one that claimed it lives.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from synth.dataset.appended import AppendedFile, as_json, now
from synth.errors import SettingsError
from synth.loop.archive_schema import LAYOUT
from synth.loop.timed import quickest_first

_COMPARED = {"id": "id", "task": "task", "row": "row_id", "model": "model", "verdict": "verdict"}


@dataclass(frozen=True)
class Attempt:
    """One answer of a model. ``prompt`` is the messages; ``usd`` 0 where no price is known;
    ``tokens_estimated`` says that the server told none; ``error`` is of an answer that never
    comes, however often it is asked for."""

    id: str
    parent: str | None
    task: str
    model: str
    sample: int
    turn: int
    prompt: Sequence[Mapping[str, str]]
    completion: str
    thinking: str = ""
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_estimated: bool = False
    usd: float = 0.0
    seconds: float = 0.0
    error: str | None = None
    answered_at: str = ""


@dataclass(frozen=True)
class Judgement:
    """What the judge said of an attempt. ``findings`` may tell hidden inputs."""

    attempt: str
    status: str
    reason: str
    launch: Any
    findings: Mapping[str, Any]
    metrics: Mapping[str, Any]
    passed: bool
    judged: bool
    seconds: float


@dataclass(frozen=True)
class ArchivedTask:
    """A question, and what a judge of its answers needs: ``row`` is JSON."""

    id: str
    row_id: str
    view: str
    category: str
    level: int
    question: str
    row: str


class Archive(AppendedFile):
    """An archive at a path; use it as a context manager, in one thread."""

    layout = LAYOUT

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Raises :class:`SettingsError` when there is none (and ``create`` is false), for a file
        that is something else, and for one of another version."""
        if not path.is_file() and not create:
            raise SettingsError(f"no archive at {path}: `pairsmith solve TASKS` makes one")
        super().__init__(path)

    def __enter__(self) -> Archive:
        return self

    @property
    def hidden_seed(self) -> int:
        """Seed of the hidden inputs of this archive, drawn as it was made."""
        (value,) = self._db.execute(
            "SELECT value FROM settings WHERE name='hidden_seed'"
        ).fetchone()
        return int(value)

    def add_tasks(self, tasks: Sequence[ArchivedTask]) -> None:
        """Add tasks that are not there yet."""
        with self._transaction():
            for task in tasks:
                self._insert("tasks", asdict(task), "OR IGNORE")

    def claim(self, attempt: str) -> bool:
        """Whether this process may ask for an attempt: nobody has its answer, or is at it."""
        return self._claim(attempt, "attempts")

    def add_attempt(self, attempt: Attempt) -> None:
        """Keep an answer, and end the claim on it."""
        values = {**asdict(attempt), "prompt": as_json(attempt.prompt), "answered_at": now()}
        with self._transaction():
            self._insert("attempts", values, "OR IGNORE")
            self._unclaim(attempt.id)

    def add_failure(
        self,
        attempt: str,
        model: str,
        error: str,
        seconds: float,
        *,
        tokens: int = 0,
        usd: float = 0.0,
    ) -> None:
        """Note a request without an answer; ``tokens`` is what it may have cost at most."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO failures VALUES (?, ?, ?, ?, ?, ?, ?)",
                (attempt, model, error, tokens, usd, seconds, now()),
            )

    def add_judgement(self, judgement: Judgement) -> None:
        """Keep a verdict; the first on an attempt stays."""
        values = asdict(judgement)
        values.update({name: as_json(values[name]) for name in ("launch", "findings", "metrics")})
        with self._transaction():
            self._insert("verdicts", values, "OR IGNORE")

    def attempt(self, attempt: str) -> Attempt | None:
        """The attempt of that id."""
        found = self._db.execute("SELECT * FROM attempts WHERE id=?", (attempt,)).fetchone()
        if found is None:
            return None
        values = dict(found)
        values.update(
            prompt=json.loads(values["prompt"]), tokens_estimated=bool(values["tokens_estimated"])
        )
        return Attempt(**values)

    def judgement(self, attempt: str) -> Judgement | None:
        """What was said of an attempt, if it was judged."""
        found = self._db.execute("SELECT * FROM verdicts WHERE attempt=?", (attempt,)).fetchone()
        if found is None:
            return None
        values = dict(found)
        values.update({n: json.loads(values[n]) for n in ("launch", "findings", "metrics")})
        values.update({n: bool(values[n]) for n in ("passed", "judged")})
        return Judgement(**values)

    def task(self, task: str) -> ArchivedTask | None:
        """The task of that id."""
        found = self._db.execute("SELECT * FROM tasks WHERE id=?", (task,)).fetchone()
        return None if found is None else ArchivedTask(**dict(found))

    def spent(self, model: str) -> tuple[int, float]:
        """Tokens and US dollars of a model: of answers, and of requests that broke."""
        tokens, usd = self._db.execute(
            "SELECT TOTAL(prompt_tokens + completion_tokens), TOTAL(usd) FROM attempts "
            "WHERE model=?",
            (model,),
        ).fetchone()
        lost = self._db.execute(
            "SELECT TOTAL(tokens), TOTAL(usd) FROM failures WHERE model=?", (model,)
        ).fetchone()
        return int(tokens + lost[0]), usd + lost[1]

    def query(
        self, *, columns: Sequence[str] = ("*",), limit: int = -1, **wanted: Any
    ) -> list[Any]:
        """Rows of ``judged_attempts`` by time: ``id``, ``task``, ``row``, ``model``, ``verdict``
        equal what is asked (a verdict ``none``: not judged yet), ``passed`` is that truth value,
        ``since`` and ``until`` bound the time of the answer."""
        where, values = _conditions(wanted)
        text = f"SELECT {', '.join(columns)} FROM judged_attempts{where}"
        found = self._db.execute(f"{text} ORDER BY answered_at LIMIT ?", (*values, limit))
        return found.fetchall()

    def summary(self) -> list[sqlite3.Row]:
        """A row for each model and task view: counts of attempts, tasks, verdicts, tokens, cost."""
        return self._db.execute(
            "SELECT model, view, COUNT(*) AS attempts, COUNT(DISTINCT task) AS tasks, "
            "COUNT(DISTINCT CASE WHEN passed THEN task END) AS solved, "
            "TOTAL(judged) AS judged, TOTAL(passed) AS passed, "
            "TOTAL(prompt_tokens + completion_tokens) AS tokens, TOTAL(usd) AS usd, "
            "TOTAL(failures) AS failures FROM judged_attempts GROUP BY model, view ORDER BY 1, 2"
        ).fetchall()

    def _begin(self) -> None:
        seed = secrets.randbits(63)
        self._db.execute("INSERT INTO settings VALUES ('hidden_seed', ?)", (seed,))


def best_of(rows: Sequence[sqlite3.Row]) -> sqlite3.Row:
    """Of attempts by time the one that passed with the least time, measured ones before predicted
    ones and the first of those without; where none passed, the first with the most credit."""
    return min(rows, key=_rank)


def _rank(row: sqlite3.Row) -> tuple[bool, float, tuple[int, float]]:
    metrics = json.loads(row["metrics"]) if row["metrics"] else {}
    credit = float(metrics.get("credit", -1.0))
    return not row["passed"], -credit, quickest_first(metrics.get("time"))


def _conditions(wanted: Mapping[str, Any]) -> tuple[str, list[Any]]:
    parts: list[str] = []
    values: list[Any] = []
    for name, value in wanted.items():
        if value is None:
            continue
        if name == "verdict" and value == "none":
            parts.append("verdict IS NULL")
            continue
        if name in _COMPARED:
            parts.append(f"{_COMPARED[name]}=?")
        elif name == "passed":
            parts.append("passed=?")
        elif name in ("since", "until"):
            parts.append(f"answered_at{'>=' if name == 'since' else '<'}?")
        else:
            raise TypeError(f"no such condition: {name}")
        values.append(value)
    return (f" WHERE {' AND '.join(parts)}" if parts else ""), values
