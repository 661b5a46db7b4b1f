"""The tables of an archive; `notes/formats/attempts.md` says what their columns mean."""

from __future__ import annotations

from synth.dataset.appended import Layout

APPLICATION_ID = 0x50534D54
"""In the header of the file, so that no other SQLite file is taken for an archive."""
FORMAT = 1

TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tasks (
    id TEXT PRIMARY KEY, row_id TEXT NOT NULL, view TEXT NOT NULL, category TEXT NOT NULL,
    level INTEGER NOT NULL, question TEXT NOT NULL, row TEXT NOT NULL
);
CREATE TABLE attempts (
    id TEXT PRIMARY KEY, parent TEXT, task TEXT NOT NULL, model TEXT NOT NULL,
    sample INTEGER NOT NULL, turn INTEGER NOT NULL, prompt TEXT NOT NULL,
    completion TEXT NOT NULL, thinking TEXT NOT NULL, finish TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    tokens_estimated INTEGER NOT NULL, usd REAL NOT NULL, seconds REAL NOT NULL,
    error TEXT, answered_at TEXT NOT NULL
);
CREATE TABLE verdicts (
    attempt TEXT PRIMARY KEY, status TEXT NOT NULL, reason TEXT NOT NULL, launch TEXT,
    findings TEXT NOT NULL, metrics TEXT NOT NULL, passed INTEGER NOT NULL,
    judged INTEGER NOT NULL, seconds REAL NOT NULL
);
CREATE TABLE failures (
    attempt TEXT NOT NULL, model TEXT NOT NULL, error TEXT NOT NULL,
    tokens INTEGER NOT NULL, usd REAL NOT NULL, seconds REAL NOT NULL, failed_at TEXT NOT NULL
);
CREATE TABLE claims (attempt TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;

CREATE INDEX attempts_by_task ON attempts (task, model);
CREATE INDEX attempts_by_model ON attempts (model);
CREATE INDEX attempts_by_time ON attempts (answered_at);
CREATE INDEX verdicts_by_status ON verdicts (status);
CREATE INDEX failures_by_attempt ON failures (attempt);

CREATE VIEW judged_attempts AS
SELECT a.id, a.parent, a.task, t.row_id, t.view, t.category, t.level, a.model, a.sample, a.turn,
       a.prompt, a.completion, a.thinking, a.finish, v.launch, v.status AS verdict, v.reason,
       v.findings, v.metrics, v.passed, v.judged, a.prompt_tokens, a.completion_tokens,
       a.tokens_estimated, a.usd, a.seconds, v.seconds AS judge_seconds, a.error, a.answered_at,
       (SELECT COUNT(*) FROM failures f WHERE f.attempt = a.id) AS failures
FROM attempts a JOIN tasks t ON t.id = a.task LEFT JOIN verdicts v ON v.attempt = a.id;
"""

APPEND_ONLY = ("settings", "tasks", "attempts", "verdicts", "failures")
"""Tables of which nothing is changed or removed; SQLite itself refuses it."""

LAYOUT = Layout("an archive", APPLICATION_ID, FORMAT, TABLES, APPEND_ONLY, claimed="attempt")
