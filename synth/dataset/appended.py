"""SQLite files that are only added to, by several processes of one machine, killed at any instant.

Each step is a transaction of its own with a sync to disk. What a process is about to do it may
claim; another leaves it alone while the one that claimed it lives.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from synth.errors import SettingsError

_BUSY_MS = 60_000


@dataclass(frozen=True)
class Layout:
    """What such a file is: `what` as a sentence has it, a number in the header by which no other
    SQLite file is taken for one, the version of its tables, and those of them of which nothing is
    changed or removed: SQLite itself refuses it. `claimed` is the first column of
    the table `claims`, whose second is `owner`."""

    what: str
    application_id: int
    version: int
    tables: str
    append_only: tuple[str, ...]
    claimed: str

    def statements(self) -> str:
        """All that makes an empty file one of these."""
        refused = "".join(
            f"CREATE TRIGGER {table}_no_{event} BEFORE {event.upper()} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} of {self.what} are only added to'); END;\n"
            for table in self.append_only
            for event in ("update", "delete")
        )
        return self.tables + refused


def now() -> str:
    """UTC to the microsecond, as these files have times: they sort as texts."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


class AppendedFile:
    """Such a file at a path, which is made where it is not there; a context manager, for one
    thread. Classes of it say their layout."""

    layout: Layout

    def __init__(self, path: Path) -> None:
        """Raises :class:`SettingsError` for a file that is something else, and for one of another
        version."""
        self.path = path
        self._owner = _this_process()
        with self._refusals():
            self._open()

    def __exit__(self, *exc: object) -> None:
        self._db.close()

    def _claim(self, name: str, done: str) -> bool:
        """Whether this process may do what `name` says: no row of the table `done` has it as its
        id, and nobody is at it."""
        column = self.layout.claimed
        with self._transaction():
            if self._has(done, "id", name):
                return False
            found = self._db.execute(f"SELECT owner FROM claims WHERE {column}=?", (name,))
            row = found.fetchone()
            if row is not None and row[0] != self._owner and _is_alive(row[0]):
                return False
            self._db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (name, self._owner))
            return True

    def release(self, name: str) -> None:
        """Let others do what this process gives up."""
        with self._transaction():
            self._db.execute(
                f"DELETE FROM claims WHERE {self.layout.claimed}=? AND owner=?", (name, self._owner)
            )

    def _unclaim(self, name: str) -> None:
        """Within a transaction: what was claimed is done."""
        self._db.execute(f"DELETE FROM claims WHERE {self.layout.claimed}=?", (name,))

    def _begin(self) -> None:
        """What a new file is given besides its tables, within the transaction that makes it."""

    def _open(self) -> None:
        self._db = sqlite3.connect(self.path, timeout=_BUSY_MS / 1000, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA synchronous=FULL")
        # In this order: who makes the file at this moment commits tables and mark as one.
        (tables,) = self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        (mark,) = self._db.execute("PRAGMA application_id").fetchone()
        if tables and not mark:
            raise sqlite3.DatabaseError("it is some other SQLite file")
        if self._db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            self._to_wal()
        with self._transaction():
            if not self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
                self._make()
        (mark,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if mark != self.layout.application_id:
            raise sqlite3.DatabaseError("it is some other SQLite file")
        known = self.layout.version
        if version != known:
            raise sqlite3.DatabaseError(f"its format is {version}, this pairsmith knows {known}")

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
        for line in self.layout.statements().splitlines(keepends=True):
            text += line
            if sqlite3.complete_statement(text):
                self._db.execute(text)
                text = ""
        self._begin()
        self._db.execute(f"PRAGMA application_id={self.layout.application_id}")
        self._db.execute(f"PRAGMA user_version={self.layout.version}")

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            line = f"{self.path} cannot be used as {self.layout.what}: {error}"
            raise SettingsError(line) from None

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


def as_json(value: Any) -> str:
    """A value as these files have it."""
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
