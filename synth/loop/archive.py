"""Every attempt of a model, kept: SQLite, only added to, for several writers on one machine.

What was answered is stored before it is judged, and each step is a transaction of its own with a
sync to disk: a process may be killed at any instant. Before an attempt is asked for it is claimed;
another process leaves it alone while the one that claimed it lives.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.loop.archive_schema import APPLICATION_ID, FORMAT, statements

_BUSY_MS = 60_000
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


def now() -> str:
    """UTC to the microsecond, as the archive writes times: they sort as texts."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


class Archive:
    """An archive at a path; use it as a context manager, in one thread."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Raises :class:`SettingsError` when there is none (and ``create`` is false), for a file
        that is something else, and for one of another version."""
        self.path = path
        self._owner = _this_process()
        if not path.is_file() and not create:
            raise SettingsError(f"no archive at {path}: `pairsmith solve TASKS` makes one")
        with self._refusals():
            self._open()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exc: object) -> None:
        self._db.close()

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
        with self._transaction():
            if self._has("attempts", "id", attempt):
                return False
            found = self._db.execute("SELECT owner FROM claims WHERE attempt=?", (attempt,))
            row = found.fetchone()
            if row is not None and row[0] != self._owner and _is_alive(row[0]):
                return False
            self._db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (attempt, self._owner))
            return True

    def release(self, attempt: str) -> None:
        """Let others ask for an attempt that this process gives up."""
        with self._transaction():
            self._db.execute(
                "DELETE FROM claims WHERE attempt=? AND owner=?", (attempt, self._owner)
            )

    def add_attempt(self, attempt: Attempt) -> None:
        """Keep an answer, and end the claim on it."""
        values = {**asdict(attempt), "prompt": _json(attempt.prompt), "answered_at": now()}
        with self._transaction():
            self._insert("attempts", values, "OR IGNORE")
            self._db.execute("DELETE FROM claims WHERE attempt=?", (attempt.id,))

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
        values.update({name: _json(values[name]) for name in ("launch", "findings", "metrics")})
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

    def _open(self) -> None:
        self._db = sqlite3.connect(self.path, timeout=_BUSY_MS / 1000, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA synchronous=FULL")
        (mark,) = self._db.execute("PRAGMA application_id").fetchone()
        if not mark and self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError("it is some other SQLite file")
        if self._db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            self._to_wal()
        with self._transaction():
            if not self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
                self._make()
        (mark,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if mark != APPLICATION_ID:
            raise sqlite3.DatabaseError("it is some other SQLite file")
        if version != FORMAT:
            raise sqlite3.DatabaseError(f"its format is {version}, this pairsmith knows {FORMAT}")

    def _to_wal(self) -> None:
        """Have a log beside the file. SQLite does not wait here for another that does the same."""
        deadline_s = time.monotonic() + _BUSY_MS / 1000
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(0.01)

    def _make(self) -> None:
        """Within a transaction, so that two that begin at once make it once."""
        text = ""
        for line in statements().splitlines(keepends=True):
            text += line
            if sqlite3.complete_statement(text):
                self._db.execute(text)
                text = ""
        self._db.execute("INSERT INTO settings VALUES ('hidden_seed', ?)", (secrets.randbits(63),))
        self._db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        self._db.execute(f"PRAGMA user_version={FORMAT}")

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SettingsError(f"{self.path} cannot be used as an archive: {error}") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _insert(self, table: str, values: Mapping[str, Any], how: str) -> None:
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        self._db.execute(f"INSERT {how} INTO {table} ({names}) VALUES ({marks})", dict(values))

    def _has(self, table: str, column: str, value: str) -> bool:
        found = self._db.execute(f"SELECT 1 FROM {table} WHERE {column}=?", (value,))
        return found.fetchone() is not None


def best_of(rows: Sequence[sqlite3.Row]) -> sqlite3.Row:
    """Of attempts by time the first that passed, else the first with the most credit."""
    return max(rows, key=_credit)


def _credit(row: sqlite3.Row) -> float:
    return float(json.loads(row["metrics"])["credit"]) if row["metrics"] else -1.0


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


def _json(value: Any) -> str:
    return json.dumps(value, default=str)


def _this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def _began(process: int) -> str:
    """When a process began, in the system's ticks: a number may be given to another later."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _is_alive(owner: str) -> bool:
    """Whether the process that claimed is at work; one of another machine is not: SQLite's log is
    shared by processes of one machine alone."""
    host, process, began = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _began(int(process)) == began
