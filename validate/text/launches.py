"""What plain CUDA is launched as: kernels in order, what each is passed, and scratch memory.

A row's `plain_launch` is a list. Answers of others may be one launch, whose kernel and arguments
are then the only ones that there can be: all of `plain_args`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from validate.row import dtypes
from validate.row.archs import most_shared_bytes
from validate.text.formula import MOST_CHARACTERS, evaluate

FORMULA = "="
"""What an argument begins with that is an `int`: a formula of size symbols follows."""
STARTS = ("zero", "none")
"""What scratch memory holds before the first launch: zeros, or nothing that may be read."""

_KEY = re.compile(r"\"launches\"\s{0,8}:")
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_SAID = 4
_MOST_SAID_CHARACTERS = 20_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_LAUNCHES = 64
_MOST_SCRATCH = 32
_MOST_ARGS = 128
_MOST_SCRATCH_BYTES = 1 << 33
_SCRATCH_KEYS = {"name", "dtype", "count", "init"}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Launch:
    """One launch: a kernel's name (empty: the only one of its text), what it is passed (names of
    `plain_args` and `plain_scratch`, or `=` and a formula of sizes), and formulas of its grid.

    `opt_in`: its dynamic shared memory may be more than every device gives unasked; "sm_90": more
    than any other has."""

    kernel: str
    args: tuple[str, ...]
    grid: tuple[str | int, ...]
    block: tuple[str | int, ...]
    shared_bytes: str | int = 0
    opt_in: bool | str = False


def listed(launches: Any) -> Sequence[Mapping[str, Any]]:
    """Launches as a list, where one may stand alone."""
    return [launches] if isinstance(launches, Mapping) else launches


def launches_of(row: Row) -> list[Launch]:
    """The launches of a row or an answer, in order. It must have no `launches_problem`."""
    return [
        Launch(
            one.get("kernel") or "",
            tuple(_everything(row) if one.get("args") is None else one["args"]),
            tuple(one["grid"]),
            tuple(one["block"]),
            one.get("shared_bytes") or 0,
            one.get("opt_in") or False,
        )
        for one in listed(row["plain_launch"])
    ]


def _everything(row: Row) -> list[str]:
    return [arg["name"] for arg in row["plain_args"]]


def kernels_of(launches: Sequence[Launch]) -> list[str]:
    """The kernels that are launched, each once, in the order in which they first are."""
    return list(dict.fromkeys(one.kernel for one in launches))


def scratch_of(row: Row) -> Sequence[Mapping[str, Any]]:
    """The scratch arrays of a row or an answer."""
    return row.get("plain_scratch") or ()


def scratch_bytes(entry: Mapping[str, Any]) -> int:
    """Bytes of an element of a scratch array. Raises ValueError for a dtype that there is not."""
    found = dtypes.parse(entry["dtype"])
    if found.kind == "struct":
        raise ValueError(f"scratch {entry['name']}: dtype {entry['dtype']} is no scalar or vector")
    return int(np.dtype(found.scalar).itemsize * prod(found.shape))


def scratch_count(entry: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    """Elements of a scratch array at these sizes. Raises ValueError for none, and for too many."""
    count = evaluate(entry["count"], sizes)
    if not 1 <= count <= _MOST_SCRATCH_BYTES // scratch_bytes(entry):
        raise ValueError(f"scratch {entry['name']}: {count} elements cannot be had")
    return count


def launches_problem(row: Row) -> str:
    """Why the launches and the scratch arrays of a row or an answer are none; empty when they are.

    Of an answer `plain_launch` may be one launch. What formulas come to is not looked at.
    """
    said = listed(row["plain_launch"])
    if not isinstance(said, Sequence) or isinstance(said, str):
        return "launch is no object and no list of objects"
    if not 1 <= len(said) <= _MOST_LAUNCHES:
        return f"launch is a list of {len(said)}: 1 to {_MOST_LAUNCHES} can be made"
    if problem := _scratch_problem(row):
        return problem
    known = {arg["name"] for arg in row["plain_args"]} | {e["name"] for e in scratch_of(row)}
    for number, one in enumerate(said):
        problem = launch_problem(one) or _passed_problem(one, known, len(said) > 1)
        if problem:
            return problem if len(said) == 1 else f"{problem} (launch {number + 1})"
    return ""


def launch_problem(launch: Any) -> str:
    """Why a launch is not of the form `{"grid": [...], "block": [...], "shared_bytes": ...}`.

    Each entry is a whole number or a C formula; what they come to is not looked at.
    """
    if not isinstance(launch, Mapping):
        return "launch is no object"
    for what in ("grid", "block"):
        found = launch.get(what)
        right = isinstance(found, list) and 1 <= len(found) <= 3
        if not right or any(type(entry) not in (int, str) for entry in found or ()):
            return f"launch.{what} is no list of one to three formulas"
    shared = launch.get("shared_bytes")
    if shared is not None and type(shared) not in (int, str):
        return "launch.shared_bytes is no formula"
    formulas = [
        entry for entry in (*launch["grid"], *launch["block"], shared) if type(entry) is str
    ]
    if any(len(formula) > MOST_CHARACTERS for formula in formulas):
        return f"launch has a formula of over {MOST_CHARACTERS} characters"
    most = most_shared_bytes(launch.get("opt_in"))
    if type(shared) is int and not 0 <= shared <= most:
        return f"launch.shared_bytes is not between 0 and {most}"
    return ""


def _passed_problem(launch: Mapping[str, Any], known: set[str], several: bool) -> str:
    kernel, args = launch.get("kernel"), launch.get("args")
    if several and not (kernel and args is not None):
        return "launch has no kernel and args: of several launches each says what it is"
    if kernel is not None and not (type(kernel) is str and _NAME.fullmatch(kernel)):
        return f"launch.kernel is {ascii(kernel)[:60]}, which names no kernel"
    if args is None:
        return ""
    if not isinstance(args, list) or any(type(name) is not str for name in args):
        return "launch.args is no list of texts"
    if len(args) > _MOST_ARGS:
        return f"launch.args has over {_MOST_ARGS} entries"
    strange = [name for name in args if name not in known and not name.startswith(FORMULA)]
    if strange:
        return f"launch.args has {ascii(strange[0])[:60]}, which is no argument and no scratch"
    if any(len(name) > MOST_CHARACTERS for name in args):
        return f"launch has a formula of over {MOST_CHARACTERS} characters"
    return ""


def _scratch_problem(row: Row) -> str:
    entries = row.get("plain_scratch")
    if entries is None:
        return ""
    if not isinstance(entries, list) or len(entries) > _MOST_SCRATCH:
        return f"scratch is no list of up to {_MOST_SCRATCH} objects"
    taken = {arg["name"] for arg in row["plain_args"]}
    for entry in entries:
        if not isinstance(entry, Mapping) or not set(entry) <= _SCRATCH_KEYS:
            return f"scratch has an entry that is no object of {', '.join(sorted(_SCRATCH_KEYS))}"
        name, count = entry.get("name"), entry.get("count")
        if not (type(name) is str and _NAME.fullmatch(name)) or name in taken:
            return f"scratch has the name {ascii(name)[:60]}, which is none or is taken"
        taken.add(name)
        if type(count) not in (int, str) or len(str(count)) > MOST_CHARACTERS:
            return f"scratch {name} has a count that is no formula"
        if entry.get("init", "none") not in STARTS:
            return f"scratch {name} has an init that is none of {', '.join(STARTS)}"
        try:
            scratch_bytes(entry)
        except (KeyError, TypeError, ValueError) as error:
            return f"scratch {name} has no dtype such as float32: {error}"
    return ""


def given_launches(given: Any) -> tuple[Any, Any]:
    """Launches and scratch memory of what was given with an answer: one launch, a list of them, or
    an object with `launches` and `scratch`. Whether they are any is for `launches_problem`."""
    if isinstance(given, Mapping) and "launches" in given:
        return given["launches"], given.get("scratch")
    return given, None


def said_launches(text: str, row: Row) -> tuple[Any, Any] | str | None:
    """The same of the first such object in a text, by the row's symbols; why it is none."""
    decoder = json.JSONDecoder()
    for number, match in enumerate(_KEY.finditer(text)):
        if number == _MOST_SAID:
            break
        opening = text.rfind("{", max(0, match.start() - 200), match.start())
        if opening < 0:
            continue
        try:
            found, _ = decoder.raw_decode(text[opening : opening + _MOST_SAID_CHARACTERS])
        except (ValueError, RecursionError):
            continue
        launches, scratch = given_launches(found)
        problem = launches_problem({**row, "plain_launch": launches, "plain_scratch": scratch})
        return problem or _by_symbols(listed(launches), scratch, _symbols(row))
    return None


def _symbols(row: Row) -> dict[str, str]:
    """What sizes may be called, and the symbol of each."""
    names = {entry["symbol"]: entry["symbol"] for entry in row["sizes"]}
    for arg, plain in zip(row["args"], row["plain_args"], strict=False):
        prefix, _, symbol = (arg["init"] or "").partition(":")
        if prefix == "size":
            names[plain["name"]] = f"({symbol})"
    names |= {arg["name"]: f"({arg['size']})" for arg in row["plain_args"] if arg["size"]}
    return names


def _by_symbols(
    launches: Sequence[Mapping[str, Any]],
    scratch: Sequence[Mapping[str, Any]] | None,
    symbols: Mapping[str, str],
) -> tuple[Any, Any]:
    def named(formula: Any) -> Any:
        if not isinstance(formula, str):
            return formula
        return _WORD.sub(lambda word: symbols.get(word[0], word[0]), formula)

    def passed(name: str) -> str:
        return named(name) if name.startswith(FORMULA) else name

    found = [
        {
            **one,
            "args": None if one.get("args") is None else list(map(passed, one["args"])),
            "grid": [named(formula) for formula in one["grid"]],
            "block": [named(formula) for formula in one["block"]],
            "shared_bytes": named(one.get("shared_bytes")),
        }
        for one in launches
    ]
    return found, scratch and [{**entry, "count": named(entry["count"])} for entry in scratch]
