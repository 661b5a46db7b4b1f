"""``views/index.json``: which training views a dataset has, and of which rows they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.files import write_text
from synth.dataset.manifest import Manifest
from synth.errors import SettingsError
from validate.row.columns import schema_of

FOLDER = "views"
INDEX = "index.json"

MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])
_COLUMNS = [("id", pa.string()), ("category", pa.string()), ("level", pa.int32())]
_MESSAGES = [("messages", pa.list_(MESSAGE))]
_CHARS = [("chars", pa.int32())]
_TOKENS = ("tokens", pa.int32())
_TIMES = [("ratio", pa.float64()), ("time", pa.string()), ("device", pa.string())]
_PAIRS = [(name, pa.list_(MESSAGE)) for name in ("prompt", "chosen", "rejected")]
_SPAN = pa.struct([("kind", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
_SPANS = [("spans", pa.list_(_SPAN))]
SPANNED = (
    *("sft", "plain_python", "array", "words", "renamed", "repair", "optimise"),
    *("gradient", "wrong_adjoints"),
)
"""Views whose answers are plain CUDA: where its guards, indices and barriers are, by offset of
characters in the last message."""
_OWN = {
    "repair": [
        (name, pa.string()) for name in ("fault", "failure", "wrong", "wrong_launch", "first_fault")
    ],
    "optimise": [("slow", pa.string()), *_TIMES],
    "preference": [("failure", pa.string()), *_TIMES],
    "kernelbench": [("problem", pa.string()), ("solution", pa.string())],
}
"""Columns of views that say how their texts were chosen: the verdict on a wrong one; how many times
as long a slow one takes as the row's, whether that was predicted or measured, and on what device;
a problem and its solution as a harness takes them."""


@dataclass(frozen=True)
class ViewFile:
    """A file of a view."""

    path: str
    split: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class View:
    """``rows`` and ``files`` of a view, which may have none; ``left_out`` counts by reason the rows
    that it lacks."""

    rows: int
    left_out: dict[str, int]
    lengths: dict[str, list[int]]
    """Characters (and tokens, when a tokenizer was named) at 10, 50, 90 and 100 % of the rows."""
    files: list[ViewFile] = field(default_factory=list)


@dataclass(frozen=True)
class Views:
    """What `views/` holds; ``rows_digest`` names the rows that it was made of."""

    rows_digest: str
    settings: dict[str, Any]
    views: dict[str, View]

    def schema(self, name: str) -> pa.Schema:
        """Columns of a view."""
        return view_schema(name, self.settings["tokenizer"] is not None)

    def write(self, folder: Path) -> None:
        """Write the index into a folder of views, which keeps their order."""
        write_text(folder / INDEX, json.dumps(asdict(self), indent=2) + "\n")


def view_schema(name: str, with_tokens: bool) -> pa.Schema:
    """Columns of the view of that name."""
    columns = [
        *_COLUMNS,
        *(_PAIRS if name == "preference" else _MESSAGES),
        *_CHARS,
        *([_TOKENS] if with_tokens else []),
        *(_SPANS if name in SPANNED else []),
        *_OWN.get(name, []),
    ]
    return schema_of(columns)


def stored_views(out: Path) -> Views | None:
    """What `views/` says that it holds, None when there is none; SettingsError when damaged."""
    path = out / FOLDER / INDEX
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
        return Views(
            found["rows_digest"],
            found["settings"],
            {name: _view(entry) for name, entry in found["views"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"{path} is damaged ({error}); delete {out / FOLDER} and make the views again"
        ) from None


def _view(entry: Mapping[str, Any]) -> View:
    files = [ViewFile(**file) for file in entry["files"]]
    return View(entry["rows"], entry["left_out"], entry["lengths"], files)


def views_of(out: Path, manifest: Manifest) -> Views | None:
    """The views of the rows that are there; None when there are none that a card can list: of other
    rows, or damaged."""
    try:
        views = stored_views(out)
    except SettingsError:
        return None
    if views is None or views.rows_digest != manifest.rows_digest():
        return None
    return views if all((out / name).is_file() for name in view_files(views)) else None


def view_files(views: Views | None) -> list[str]:
    """Paths of all files of the views."""
    if views is None:
        return []
    files = [file.path for view in views.views.values() for file in view.files]
    return [f"{FOLDER}/{INDEX}", *files]
