"""What a model is told: the task, and what was wrong with its last answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from synth.loop.findings import said as in_words
from synth.views.evidence import evidence
from synth.views.sizes import number, size_names
from validate.statuses import ScoreStatus
from validate.text.completion import take_apart

Messages = list[dict[str, str]]

_SYSTEM = (
    "You write CUDA C++ kernels. End with one block of code that holds the whole text of the "
    "kernel, and say how it is launched: a grid and a block as formulas of the sizes. No inline "
    "assembly, no library and no host code; at most 48 KiB of shared memory a block; without "
    "data races, within the tolerance that the task gives, also at sizes that no block divides."
)
_NOTHING = "(no answer)"
_AGAIN = "Give the whole corrected text and its launch."
_FASTER = "Make it faster, and keep it right. Give the whole text and its launch."


def first_messages(question: str, hardware: str = "") -> Messages:
    """The conversation before the first answer."""
    system = f"{_SYSTEM} The GPU is {hardware}." if hardware else _SYSTEM
    return [{"role": "system", "content": system}, {"role": "user", "content": question}]


def next_messages(before: Sequence[Mapping[str, str]], answer: str, feedback: str) -> Messages:
    """The conversation after an answer, whose thinking is left out, and what was said of it."""
    said = take_apart(answer).said.strip() or _NOTHING
    return [
        *(dict(message) for message in before),
        {"role": "assistant", "content": said},
        {"role": "user", "content": feedback},
    ]


def feedback_of(
    row: Mapping[str, Any],
    status: str,
    reason: str,
    findings: Mapping[str, Any],
    finish: str,
    full: bool,
) -> str:
    """What a model is told of its answer to a row: what was wrong, with ``full`` the input on which
    it is, and what its kernels need and its lines tell where ``findings`` has that."""
    if status in (ScoreStatus.ROW_UNFIT, ScoreStatus.NOT_JUDGED):
        return "Nothing can be said of the answer: the task itself is wrong."
    if finish == "length":
        return f"The answer broke off at the most tokens that it may have. Be shorter. {_AGAIN}"
    hidden = (findings.get("detail") or "", findings.get("counter_example")) if full else ()
    facts = in_words(findings)
    parts = [f"That is not right yet. {evidence(row, status, reason, *hidden)}"]
    parts += [f"Of the text as it is:\n\n{facts}"] if facts else []
    return "\n\n".join([*parts, _AGAIN])


def faster_of(
    row: Mapping[str, Any], findings: Mapping[str, Any], time: Mapping[str, Any] | None
) -> str:
    """What a model is told of an answer that passes: its time, beside what the device takes at
    least where that is known, and the facts of its text."""
    facts = in_words(findings)
    parts = [f"That is right. {_time_in_words(row, time)}".rstrip()]
    parts += [f"Of the text as it is:\n\n{facts}"] if facts else []
    return "\n\n".join([*parts, _FASTER])


def _time_in_words(row: Mapping[str, Any], time: Mapping[str, Any] | None) -> str:
    if not time or time["us"] is None:
        return "Its time is not known."
    names = size_names(row)
    sizes = ", ".join(f"{names.get(s, s)} = {number(n)}" for s, n in time["sizes"].items())
    # Digits that a run on the same device repeats.
    said = f"With {sizes} it takes {time['us']:.3g} µs on one {time['device']}, {time['how']}"
    roof_us = time["roof_us"]
    if not roof_us or roof_us > time["us"]:
        # Of arrays that are not read whole more bytes are counted than are moved.
        return f"{said}."
    least = {
        "memory": "reading and writing its arrays once",
        "operations": "its operations at the rate of multiply-adds",
    }[time["roof"]]
    return f"{said}; {least} would take {roof_us:.3g} µs, {roof_us / time['us']:.0%} of that."


def attempt_id(body: Mapping[str, Any], task: str, sample: int, messages: Messages) -> str:
    """Which attempt it is: equal ones are asked for once."""
    about = json.dumps([body, task, sample, messages], sort_keys=True)
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def task_id(row: str, view: str, question: str) -> str:
    """Which task it is, by all that decides its answers and how they are judged."""
    about = json.dumps([row, view, question])
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:24]
