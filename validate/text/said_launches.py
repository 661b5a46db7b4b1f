"""Several launches as an answer says them: a JSON object with `launches` and, if it has, `scratch`.

Formulas may call sizes by the row's symbols or by the parameters of `plain_args` that hold them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from validate.text.launches import FORMULA, launches_problem, listed

Row = Mapping[str, Any]

_KEY = re.compile(r"\"launches\"\s{0,8}:")
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_TRIED = 4
_MOST_CHARACTERS = 20_000


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
        if number == _MOST_TRIED:
            break
        opening = text.rfind("{", max(0, match.start() - 200), match.start())
        if opening < 0:
            continue
        try:
            found, _ = decoder.raw_decode(text[opening : opening + _MOST_CHARACTERS])
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
