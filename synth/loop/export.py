"""Attempts as Parquet: all of them, and conversations to train on, each judged again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.files import write_parquet
from synth.errors import SettingsError
from synth.loop.archive import Archive, best_of
from validate.score.scorer import Answer, Scorer, Verdict
from validate.text.completion import take_apart

Found = Mapping[str, Any]

_MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
_ABOUT = [("task", pa.string()), ("row_id", pa.string()), ("model", pa.string())]
SCHEMAS = {
    "attempts": pa.schema(
        [
            *((name, pa.string()) for name in ("id", "parent", "task", "row_id", "view")),
            *(("category", pa.string()), ("level", pa.int64()), ("model", pa.string())),
            *((name, pa.int64()) for name in ("sample", "turn")),
            ("prompt", _MESSAGES),
            *((name, pa.string()) for name in ("completion", "thinking", "finish", "launch")),
            *((name, pa.string()) for name in ("verdict", "reason", "findings", "metrics")),
            *((name, pa.bool_()) for name in ("passed", "judged")),
            *((name, pa.int64()) for name in ("prompt_tokens", "completion_tokens")),
            *(("tokens_estimated", pa.bool_()), ("usd", pa.float64()), ("seconds", pa.float64())),
            *(("judge_seconds", pa.float64()), ("error", pa.string())),
            *(("answered_at", pa.string()), ("failures", pa.int64())),
        ]
    ),
    "trajectories": pa.schema(
        [
            *_ABOUT,
            *(("sample", pa.int64()), ("messages", _MESSAGES)),
            *(("verdicts", pa.list_(pa.string())), ("reward", pa.float64())),
        ]
    ),
    "preference": pa.schema(
        [
            *_ABOUT,
            *(("prompt", _MESSAGES), ("chosen", _MESSAGES), ("rejected", _MESSAGES)),
            *(("chosen_id", pa.string()), ("rejected_id", pa.string())),
            ("rejected_verdict", pa.string()),
        ]
    ),
}
SCHEMAS["best"] = SCHEMAS["attempts"]
"""Columns of each form; ``preference`` and the messages are as TRL takes them; ``best`` has one
attempt for each task and model."""


@dataclass(frozen=True)
class Exported:
    """How many entries were written, and how many answers were judged otherwise this time (these
    and their conversations are left out)."""

    rows: int
    otherwise: int


def export(
    archive: Archive,
    out: Path,
    form: str,
    *,
    workers: int = 1,
    progress: Callable[[int], object] = lambda _answers: None,
    **wanted: Any,
) -> Exported:
    """Write what the conditions of `Archive.query` select to ``out``.

    In ``trajectories`` and ``preference`` each answer is judged again, on inputs that it was not
    judged on before; one that is no longer what it was (passed or not) is left out. Raises
    :class:`SettingsError` where nothing is selected or ``out`` cannot be written.
    """
    found = archive.query(**wanted)
    if not found:
        raise SettingsError(f"{archive.path} has no attempt that fits")
    attempts = [dict(row) for row in found]
    if form in ("attempts", "best"):
        kept = attempts if form == "attempts" else _best(found)
        entries, otherwise = [_attempt(one) for one in kept], 0
    else:
        said = [one for one in attempts if one["judged"] and one["error"] is None]
        sure = _judged_again(archive, said, workers, progress)
        otherwise = len(said) - len(sure)
        make = _trajectories if form == "trajectories" else _preferences
        entries = list(make([one for one in said if one["id"] in sure]))
    try:
        write_parquet(out, pa.Table.from_pylist(entries, schema=SCHEMAS[form]))
    except OSError as error:
        raise SettingsError(f"cannot write {out}: {error.strerror}") from None
    return Exported(len(entries), otherwise)


def _best(found: Sequence[Any]) -> list[Found]:
    """Of each task and model the best attempt, in the order of their first ones."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for one in found:
        groups.setdefault((one["task"], one["model"]), []).append(one)
    return [dict(best_of(group)) for group in groups.values()]


def _attempt(found: Found) -> dict[str, Any]:
    flags = {n: None if found[n] is None else bool(found[n]) for n in ("passed", "judged")}
    estimated = bool(found["tokens_estimated"])
    return {
        **found,
        **flags,
        "prompt": json.loads(found["prompt"]),
        "tokens_estimated": estimated,
    }


def _judged_again(
    archive: Archive, said: Sequence[Found], workers: int, progress: Callable[[int], object]
) -> set[str]:
    """The attempts that are judged as they were."""
    sure: set[str] = set()
    with Scorer(workers=workers) as scorer:
        for start in range(0, len(said), 16 * workers):
            piece = said[start : start + 16 * workers]
            verdicts = scorer.score_batch([_answer(archive, one) for one in piece])
            sure |= {
                one["id"] for one, v in zip(piece, verdicts, strict=True) if _as_before(one, v)
            }
            progress(len(piece))
    return sure


def _answer(archive: Archive, one: Found) -> Answer:
    task = archive.task(one["task"])
    assert task is not None
    return Answer(one["completion"], json.loads(task.row))


def _as_before(one: Found, verdict: Verdict) -> bool:
    return verdict.judged and verdict.passed == bool(one["passed"])


def _chains(said: Sequence[Found]) -> Iterator[list[Found]]:
    """Attempts from the first to one that nothing follows; what lacks a part is left out."""
    known = {one["id"]: one for one in said}
    followed = {one["parent"] for one in said}
    for last in said:
        if last["id"] in followed:
            continue
        chain = [last]
        while chain[0]["parent"] in known:
            chain.insert(0, known[chain[0]["parent"]])
        if chain[0]["parent"] is None:
            yield chain


def _spoken(one: Found) -> dict[str, str]:
    """An answer as a message, its thinking left out."""
    return {"role": "assistant", "content": take_apart(one["completion"]).said.strip()}


def _trajectories(said: Sequence[Found]) -> Iterator[dict[str, Any]]:
    """Whole conversations that end with an answer; ``reward`` is whether that one passed."""
    for chain in _chains(said):
        last = chain[-1]
        message = _spoken(last)
        if not message["content"]:
            continue
        yield {
            **_about(last),
            "sample": last["sample"],
            "messages": [*json.loads(last["prompt"]), message],
            "verdicts": [one["verdict"] for one in chain],
            "reward": float(last["passed"]),
        }


def _preferences(said: Sequence[Found]) -> Iterator[dict[str, Any]]:
    """Of answers to one prompt, each that passed with one that did not, no text twice.

    Answers to the same messages are compared; and the last of a chain that passed with the first,
    which answers the question that both began with.
    """
    groups: dict[tuple[str, str, str], list[Found]] = {}
    for one in said:
        groups.setdefault((one["task"], one["model"], one["prompt"]), []).append(one)
    for chain in _chains(said):
        if chain[-1]["passed"] and len(chain) > 1:
            first = chain[0]
            groups[first["task"], first["model"], first["prompt"]].append(chain[-1])
    for (_task, _model, prompt), some in groups.items():
        good = _distinct([one for one in some if one["passed"]])
        bad = _distinct([one for one in some if not one["passed"]])
        for chosen, rejected in zip(good, bad, strict=False):
            yield {
                **_about(chosen),
                "prompt": json.loads(prompt),
                "chosen": [_spoken(chosen)],
                "rejected": [_spoken(rejected)],
                "chosen_id": chosen["id"],
                "rejected_id": rejected["id"],
                "rejected_verdict": rejected["verdict"],
            }


def _distinct(some: Sequence[Found]) -> list[Found]:
    texts = {_spoken(one)["content"]: one for one in reversed(some)}
    return [texts[text] for text in reversed(texts) if text]


def _about(one: Found) -> dict[str, Any]:
    return {name: one[name] for name, _type in _ABOUT}
