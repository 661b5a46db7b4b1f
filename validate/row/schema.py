"""Whether a row has the form that `pair.schema.json` and `notes/formats/row.md` describe."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import fastjsonschema

from validate.row import dtypes
from validate.row.sizes import symbols

_PYTHON_LINE = re.compile(r"//.*<L \d+>")
_ABSOLUTE_PATH = re.compile(r"//\s*(?:/|[A-Za-z]:[\\/])\S*\w")
_PROCESS_PATH = re.compile(r"^\s*#\s*line\b", re.MULTILINE)
_CUDA_COLUMNS = ("cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward")
HARVESTED = "harvested"
"""Category of rows from modules that people wrote: some columns cannot be known for these."""

_NEED_BOUNDS = ("uniform", "integers", "sorted", "well_conditioned")


@lru_cache(maxsize=1)
def row_json_schema() -> dict[str, Any]:
    """The JSON Schema (draft-07) of a row."""
    text = files("validate.row").joinpath("pair.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@lru_cache(maxsize=1)
def _validator() -> Callable[[Any], Any]:
    compiled: Callable[[Any], Any] = fastjsonschema.compile(row_json_schema(), use_default=False)
    return compiled


def row_id(python: str, kernel_name: str) -> str:
    """The id of a row: 16 hex digits of sha256 of its Python text, NUL, and the kernel's name."""
    return hashlib.sha256(f"{python}\0{kernel_name}".encode()).hexdigest()[:16]


def check_row(row: Any) -> list[str]:
    """The problems of a row, one line each; an empty list means that it is well formed.

    When the JSON Schema already refuses the row, its first finding is the only one: the checks
    that a schema cannot say need a row of the right form.
    """
    try:
        _validator()(row)
    except fastjsonschema.JsonSchemaValueException as error:
        return [error.message]
    return [problem for check in _CHECKS for problem in check(row)]


def _identity(row: Mapping[str, Any]) -> Iterator[str]:
    name = row["kernel_name"]
    expected = row_id(row["python"], name)
    if row["id"] != expected:
        yield f"id is {row['id']}, but the text and the name give {expected}"
    if not re.search(rf"^def {name}\(", row["python"], re.MULTILINE):
        yield f"python defines no function {name}"
    reference = row["reference"]
    if reference is not None and not re.search(rf"^def {name}\(", reference, re.MULTILINE):
        yield f"reference defines no function {name}"


def _names(row: Mapping[str, Any]) -> Iterator[str]:
    yield from _repeated("arg", [arg["name"] for arg in row["args"]])
    yield from _repeated("size", [size["symbol"] for size in row["sizes"]])
    for arg in row["args"]:
        yield from _repeated(f"field of {arg['name']}", [f["name"] for f in arg["fields"]])


def _repeated(what: str, names: list[str]) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{what} {name} occurs twice"


def _sizes(row: Mapping[str, Any]) -> Iterator[str]:
    known = {size["symbol"] for size in row["sizes"]}
    for size in row["sizes"]:
        if size["value"] < size["min"] or size["value"] % size["multiple_of"]:
            yield f"size {size['symbol']} is {size['value']}, against its min and multiple_of"
    for place, expression in _expressions(row):
        try:
            unknown = symbols(expression) - known
        except ValueError as error:
            yield f"{place}: {error}"
            continue
        for symbol in sorted(unknown):
            yield f"{place} uses {symbol}, which sizes does not declare"


def _expressions(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for expression in row["launch"]["dim"]:
        yield "launch.dim", expression
    for arg in row["args"]:
        for expression in arg["shape"]:
            yield f"shape of {arg['name']}", expression
        for entry in (arg, *arg["fields"]):
            _, colon, expression = (entry["init"] or "").partition(":")
            if colon:
                yield f"init of {entry['name']}", expression


def _args(row: Mapping[str, Any]) -> Iterator[str]:
    found = row["category"] == HARVESTED
    if not found and all(arg["role"] == "in" for arg in row["args"]):
        yield "no arg is an output"
    for arg in row["args"]:
        if found and (arg["kind"] == "other" or arg["init"] is None):
            continue  # of which a hand-written module says no more than the type
        for problem in _one_arg(arg, tolerances=row["reference"] is not None):
            yield f"arg {arg['name']}: {problem}"


def _harvest(row: Mapping[str, Any]) -> Iterator[str]:
    """What only rows from hand-written modules may have, and must have."""
    origin = row["provenance"]
    given = [key for key in ("module", "line", "self_contained") if origin[key] is not None]
    if row["category"] == HARVESTED:
        if len(given) < 3:
            yield "a harvested row does not say where it is from"
        return
    if given:
        yield f"provenance has {' and '.join(given)} but the row was not harvested"
    for arg in row["args"]:
        if arg["kind"] == "other":
            yield f"arg {arg['name']}: kind other is for harvested rows"
        elif arg["init"] is None:
            yield f"arg {arg['name']}: has no init"


def _one_arg(arg: Mapping[str, Any], *, tolerances: bool) -> Iterator[str]:
    try:
        is_struct = dtypes.parse(arg["dtype"]).kind == "struct"
    except ValueError as error:
        yield str(error)
        return
    if is_struct != bool(arg["fields"]):
        yield "has no fields" if is_struct else "has fields but is no struct"
        return
    is_array = arg["kind"] == "array"
    if not is_array and is_struct != (arg["kind"] == "struct"):
        yield f"kind {arg['kind']} does not fit {arg['dtype']}"
    if is_array != bool(arg["shape"]):
        yield "has no shape" if is_array else "has a shape but is no array"
    if arg["role"] != "in" and not is_array:
        yield "only an array can be an output"
    yield from _tolerances(arg, tolerances)
    if arg["role"] != "out":
        for entry in arg["fields"] or (arg,):
            if entry["init"] is not None:
                yield from _bounds(entry)


def _tolerances(arg: Mapping[str, Any], needed: bool) -> Iterator[str]:
    given = [key for key in ("rtol", "atol") if arg[key] is not None]
    if arg["role"] == "in" or not dtypes.has_floats(arg):
        if given:
            yield f"has {' and '.join(given)} but is no float output"
    elif len(given) < 2 and needed:
        yield "is a float output without rtol and atol"
    elif not all(math.isfinite(arg[key]) for key in given):
        yield "has a tolerance that is not finite"


def _bounds(entry: Mapping[str, Any]) -> Iterator[str]:
    if entry["init"] in _NEED_BOUNDS and dtypes.parse(entry["dtype"]).scalar != "bool":
        if entry["low"] is None or entry["high"] is None:
            yield f"init {entry['init']} of {entry['name']} needs low and high"
        elif float(entry["low"]) > float(entry["high"]):
            yield f"low of {entry['name']} is above high"
    if entry["init"] == "reduction_identity" and entry["low"] is None:
        yield f"init reduction_identity of {entry['name']} needs low"


def _cuda(row: Mapping[str, Any]) -> Iterator[str]:
    for column in _CUDA_COLUMNS:
        text = row[column] or ""
        if _PYTHON_LINE.search(text):
            yield f"{column} holds a line of Python as a comment"
        if _ABSOLUTE_PATH.search(text):
            yield f"{column} holds an absolute path"
        if _PROCESS_PATH.search(text):
            yield f"{column} holds a #line directive"
    for column, suffix in (("cuda_forward", "forward"), ("cuda_backward", "backward")):
        kernel = (
            rf'extern "C"[^;{{]*\b__global__\b[^;{{]*\b{row["kernel_name"]}_cuda_kernel_{suffix}\('
        )
        if row[column] is not None and not re.search(kernel, row[column]):
            yield f"{column} has no kernel {row['kernel_name']}_cuda_kernel_{suffix}"


def _line_map(row: Mapping[str, Any]) -> Iterator[str]:
    lines = {"python": row["line_map_python"], "cuda": row["line_map_cuda"]}
    if len(lines["python"]) != len(lines["cuda"]):
        yield "the line maps differ in length"
    for column, text in (("python", row["python"]), ("cuda", row["cuda_forward"])):
        if max(lines[column], default=0) > len(text.splitlines()):
            yield f"line_map_{column} points past the end of its text"


_CHECKS = (_identity, _names, _sizes, _args, _harvest, _cuda, _line_map)
