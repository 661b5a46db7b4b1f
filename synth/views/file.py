"""One file of a training view: the conversations of one shard."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.codegen.translator import Translator
from synth.dataset.files import parquet_bytes
from synth.dataset.stored import read_columns
from synth.dataset.views_index import SPANNED, view_schema
from synth.reasons import ViewReason
from synth.views.adjoints import adjoint_reports
from synth.views.exchange import Exchange, Preference
from synth.views.gradient import wrong_adjoint
from synth.views.layout import choice_of
from synth.views.measured import Timed, timings_of
from synth.views.plain import LeftOut, pick
from synth.views.renamed import renamed
from synth.views.repair import HIDDEN_SEED, Faults
from synth.views.slower import Slower, slower_layouts
from synth.views.spans import spans_of
from synth.views.tensors import tensor_exchanges
from synth.views.texts import (
    EXCHANGES,
    OPTIMISE,
    RENAMED,
    REPAIR,
    TENSOR_VIEWS,
    TIMED_VIEWS,
    TO_PLAIN,
    WRONG_ADJOINTS,
    optimise,
    preference,
    repair,
)
from validate.row.columns import GRADIENT_COLUMNS
from validate.score.scorer import Scorer

Row = dict[str, Any]
Timings = Mapping[str, Timed]

COLUMNS = (
    *("id", "category", "level", "kernel_name", "description", "python", "reference", "program"),
    *("cuda_helpers", "cuda_forward", "cuda_backward", "cuda_plain", "plain_args"),
    *GRADIENT_COLUMNS,
    *("array_python", "edge_inputs"),
    *("plain_scratch", "plain_launch", "schedule", "launch", "args", "sizes", "regime"),
    *("input_seed", "ops", "checks"),
)
ROWS_AT_ONCE = 128
_WHOLE = re.compile(r"^    (?:const )?int (\w+)(?:,|\)$)", re.MULTILINE)
"""A parameter of a kernel that may be a size, under whatever name a view gives it."""


@dataclass(frozen=True)
class Bounds:
    """How long a conversation may be; ``tokenizer`` is a name on the Hub or a file. None: any.
    Without ``reasons`` answers begin with their code."""

    max_chars: int | None = None
    tokenizer: str | None = None
    max_tokens: int | None = None
    reasons: bool = True


@dataclass(frozen=True)
class ViewTask:
    """A view and a shard; ``made_of`` is kept in the file: it tells whether one can stay. ``tuned``
    are the tables of `gpu tune` that a view takes times from, ``evidence`` what checks measured, of
    which a view takes what was found wrong."""

    view: str
    shard: Path
    name: str
    rows: int
    bounds: Bounds
    made_of: str
    tuned: tuple[Path, ...] = ()
    evidence: Path | None = None


def made_of(view: str, source_sha256: str, bounds: Bounds, versions: Mapping[str, Any]) -> str:
    """What the bytes of a file follow from, as one line of JSON; ``versions`` are of all that
    decides on texts and tokens."""
    most = {"max_chars": bounds.max_chars, "max_tokens": bounds.max_tokens}
    most["reasons"] = bounds.reasons
    about = {"view": view, "source": source_sha256, **most, **versions}
    return json.dumps(about, sort_keys=True)


def make_view_file(task: ViewTask) -> bytes:
    """The Parquet of a task: its conversations in the order of the rows."""
    count = token_counter(task.bounds.tokenizer)
    rows = read_columns(task.shard, COLUMNS)
    left_out: Counter[str] = Counter()
    entries = []
    for row, exchange, more in _exchanges(task, rows, left_out):
        entry = _entry(row, exchange, task.bounds.reasons, count) | more
        if task.view in SPANNED:
            entry |= {"spans": spans_of(entry["messages"][-1]["content"], _size_names(row, entry))}
        if reason := _too_long(entry, task.bounds):
            left_out[reason] += 1
        else:
            entries.append(entry)
    schema = view_schema(task.view, task.bounds.tokenizer is not None)
    about = {"made_of": task.made_of, "left_out": json.dumps(dict(sorted(left_out.items())))}
    metadata = {**schema.metadata, **about}
    return parquet_bytes(pa.Table.from_pylist(entries, schema=schema.with_metadata(metadata)))


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a file, or of that name on the Hub."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(name) if Path(name).is_file() else Tokenizer.from_pretrained(name)


def token_counter(name: str | None) -> Callable[[str], int] | None:
    """Counts the tokens of a text, special ones left out; None without a tokenizer."""
    if name is None:
        return None
    found = load_tokenizer(name)
    return lambda text: len(found.encode(text, add_special_tokens=False).ids)


Made = tuple[Row, Exchange | Preference, dict[str, Any]]
"""A row, what a view makes of it, and columns of the view's own."""


def _exchanges(task: ViewTask, rows: Sequence[Row], left_out: Counter[str]) -> Iterator[Made]:
    judged = _judged(task)
    if judged is not None:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            yield from judged(rows[start : start + ROWS_AT_ONCE], left_out)
        return
    exchange = _maker(task)
    for row in rows:
        try:
            yield row, exchange(row), {}
        except LeftOut as left:
            left_out[left.reason] += 1


def _maker(task: ViewTask) -> Callable[[Row], Exchange]:
    """What makes an exchange of a row."""
    view = task.view
    if view == RENAMED:
        return _worth_learning(renamed)
    if view == WRONG_ADJOINTS:
        reports = adjoint_reports(task.evidence) if task.evidence else {}
        return partial(wrong_adjoint, translator=Translator(backward=True), reports=reports)
    return _worth_learning(EXCHANGES[view]) if view in TO_PLAIN else EXCHANGES[view]


def _worth_learning(make: Callable[[Row], Exchange]) -> Callable[[Row], Exchange]:
    """The same of rows whose layout the cost model does not call poor."""

    def made(row: Row) -> Exchange:
        found = make(row)
        choice = choice_of(row)
        if choice is not None and choice.is_poor:
            raise LeftOut(ViewReason.POOR_ANSWER)
        return found

    return made


def _leave(row: Row, reason: ViewReason, left_out: Counter[str]) -> None:
    left_out[ViewReason.NO_PLAIN_CUDA if row["cuda_plain"] is None else reason] += 1


def _repairs(rows: Sequence[Row], left_out: Counter[str]) -> Iterator[Made]:
    with Faults() as faults:
        for row, wrong in zip(rows, faults.wrong_kernels(rows, chains=True), strict=True):
            if wrong is None:
                _leave(row, ViewReason.NOTHING_CAUGHT, left_out)
                continue
            more: dict[str, str | None] = {
                **{"fault": wrong.fault, "failure": wrong.failure, "wrong": wrong.text},
                "wrong_launch": wrong.launch_json(),
                "first_fault": wrong.worse.fault if wrong.worse else None,
            }
            yield row, repair(row, wrong), more


def _optimised(timings: Timings, rows: Sequence[Row], left_out: Counter[str]) -> Iterator[Made]:
    with Scorer(hidden_seed=HIDDEN_SEED) as scorer:
        for row, slow in zip(rows, slower_layouts(scorer, rows, timings), strict=True):
            if isinstance(slow, ViewReason):
                left_out[slow] += 1
                continue
            more = {"slow": slow.columns["cuda_plain"], **slow.times()}
            yield row, optimise(row, slow), more


def _preferred(timings: Timings, rows: Sequence[Row], left_out: Counter[str]) -> Iterator[Made]:
    """Beside a slower layout where there is one and the row is of one half, else a wrong text."""
    with Scorer(hidden_seed=HIDDEN_SEED) as scorer:
        some = [row for row in rows if pick(row, "preference/slow", 2)]
        slower = slower_layouts(scorer, some, timings)
    slow = {s.columns["id"]: s for s in slower if isinstance(s, Slower)}
    rest = [row for row in rows if row["id"] not in slow]
    with Faults() as faults:
        wrong = dict(zip((row["id"] for row in rest), faults.wrong_kernels(rest), strict=True))
    for row in rows:
        if found := slow.get(row["id"]):
            more = {"failure": None, **found.times()}
            yield row, preference(row, found.columns, for_speed=True), more
        elif caught := wrong[row["id"]]:
            more = {"failure": caught.failure, "ratio": None, "time": None, "device": None}
            yield row, preference(row, caught.columns(row)), more
        else:
            _leave(row, ViewReason.NOTHING_CAUGHT, left_out)


def _judged(task: ViewTask) -> Callable[[Sequence[Row], Counter[str]], Iterator[Made]] | None:
    """What makes a view whose texts are judged as they are made, so many rows at once; None of the
    other views."""
    if task.view == REPAIR:
        return _repairs
    if task.view in TIMED_VIEWS:
        make = _optimised if task.view == OPTIMISE else _preferred
        return partial(make, timings_of(task.tuned))
    return partial(tensor_exchanges, task.view) if task.view in TENSOR_VIEWS else None


def _size_names(row: Row, entry: Mapping[str, Any]) -> list[str]:
    """Parameters of the answer that hold sizes: those that are whole numbers by value."""
    answer = entry["messages"][-1]["content"]
    plain = {arg["name"] for arg in row["plain_args"] if arg["size"]}
    return sorted(plain | set(_WHOLE.findall(answer)))


def _entry(
    row: Mapping[str, Any],
    made: Exchange | Preference,
    reasons: bool,
    count: Callable[[str], int] | None,
) -> dict[str, Any]:
    entry = {name: row[name] for name in ("id", "category", "level")}
    columns = made.columns(reasons)
    texts = [message["content"] for messages in columns.values() for message in messages]
    entry |= columns | {"chars": sum(map(len, texts))}
    return entry if count is None else entry | {"tokens": sum(map(count, texts))}


def _too_long(entry: Mapping[str, Any], bounds: Bounds) -> ViewReason | None:
    if bounds.max_chars is not None and entry["chars"] > bounds.max_chars:
        return ViewReason.TOO_MANY_CHARACTERS
    if bounds.max_tokens is not None and entry["tokens"] > bounds.max_tokens:
        return ViewReason.TOO_MANY_TOKENS
    return None
