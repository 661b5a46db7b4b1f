"""``view``: a dataset as one HTML page that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

from synth.dataset.files import write_whole
from synth.dataset.stored import Row, count_rows, rows_at
from synth.errors import SettingsError
from synth.page.rows import Choice, choose, chosen_rows, gpu_verdicts
from synth.progress import progress_bar

PAGE = Path(__file__).with_name("static")
SCRIPTS = ("data", "text", "filters", "list", "lines", "facts", "row", "main")
"""Parts of the script, in this order: the last starts the page."""
ROWS_PER_BLOCK = 25
"""Rows that a browser unpacks at a time: a row shows before all are unpacked."""

_LISTED = ("id", "category", "idiom", "level", "kernel_name", "description")


@dataclass(frozen=True)
class Viewed:
    """What was written: rows on the page, of how many, and its bytes."""

    file: Path
    rows: int
    total: int
    size_bytes: int


@dataclass
class _Index:
    """What the page needs of all rows at once: the list and the filters."""

    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row, split: str, gpu: list[Row]) -> None:
        checks = row["checks"]
        self.rows.append(
            {
                **{name: row[name] for name in _LISTED},
                "split": split,
                "compiled": bool(checks["compile_archs"]),
                "run": checks["run_forward"],
                "plain": checks["run_plain"],
                "adjoint": checks["adjoint"],
                "gpu": sorted({record["status"] for record in gpu}),
            }
        )


def view(out: Path, file: Path | None = None, most: int = 1000, quiet: bool = False) -> Viewed:
    """Write the page of the dataset at ``out`` to ``file``, by default beside it.

    Shows ``most`` rows at most (:func:`synth.page.rows.choose`). :class:`SettingsError` when there
    is no dataset or the file cannot be written.
    """
    with _writable(file or out):
        target = _target(out, file)
    with progress_bar(count_rows(out), quiet, "view: choose") as bar:
        choice = choose(out, most, bar.update)
    with progress_bar(len(choice.places), quiet, "view: write") as bar:

        def write(path: Path) -> None:
            with path.open("wb") as page:
                _write_page(page, out, choice, bar.update)

        with _writable(target):
            write_whole(target, write)
    return Viewed(target, len(choice.places), choice.total, target.stat().st_size)


def _target(out: Path, file: Path | None) -> Path:
    beside = out.resolve() if out.name in ("", "..") else out
    target = beside.with_name(f"{beside.name}.html") if file is None else file
    if target.resolve().is_relative_to(out.resolve()):
        raise SettingsError(f"cannot write {target}: a dataset's folder holds the dataset alone")
    if target.is_dir():
        raise SettingsError(f"cannot write {target}: it is a folder")
    if not target.parent.is_dir():
        raise SettingsError(f"cannot write {target}: {target.parent} is no folder")
    return target


@contextmanager
def _writable(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SettingsError(f"cannot write {target}: {error.strerror}") from None


def _write_page(page: BinaryIO, out: Path, choice: Choice, written: Any) -> None:
    name = out.resolve().name
    before, after = _frame(name)
    page.write(before)
    index = _Index()
    for number, block in enumerate(_blocks(out, choice, index)):
        page.write(_packed(f"block-{number}", block))
        written(len(block["rows"]))
    head = {"name": name, "total": choice.total, "block": ROWS_PER_BLOCK, "rows": index.rows}
    page.write(_packed("index", head))
    page.write(after)


def _blocks(out: Path, choice: Choice, index: _Index) -> Iterator[dict[str, Any]]:
    """Rows by ROWS_PER_BLOCK, each block with the prologues that its rows point to."""
    block: dict[str, Any] = {"prologues": [], "rows": []}
    for split, row, gpu in _with_gpu(out, choice):
        index.add(row, split, gpu)
        prologue = row.pop("cuda_prologue")
        if prologue not in block["prologues"]:
            block["prologues"].append(prologue)
        place = block["prologues"].index(prologue)
        block["rows"].append({**row, "split": split, "prologue": place, "gpu": gpu})
        if len(block["rows"]) == ROWS_PER_BLOCK:
            yield block
            block = {"prologues": [], "rows": []}
    if block["rows"]:
        yield block


def _with_gpu(out: Path, choice: Choice) -> Iterator[tuple[str, Row, list[Row]]]:
    ids = {row["id"] for _, row in rows_at(out, choice.places, ("id",))}
    verdicts = gpu_verdicts(out, ids)
    for split, row in chosen_rows(out, choice):
        yield split, row, verdicts.get(row["id"], [])


def _packed(name: str, value: Any) -> bytes:
    """Data that no text of a row can break out of: base64 has no character of HTML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = base64.b64encode(zlib.compress(text.encode(), 9))
    return b'<script type="application/octet-stream" id="%s">%s</script>\n' % (name.encode(), data)


def _frame(name: str) -> tuple[bytes, bytes]:
    """The page before and after its data: markup and style, and the script that brings it to life.

    The policy of the page lets this one style and this one script in by their sha256, and forbids
    everything else, the network above all.
    """
    style = (PAGE / "page.css").read_text("utf-8")
    script = "\n".join((PAGE / f"{part}.js").read_text("utf-8") for part in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    page = (PAGE / "page.html").read_text("utf-8")
    for mark, text in (("policy", policy), ("style", style), ("script", script)):
        page = page.replace(f"@{mark}@", text)
    before, after = page.split("@data@\n")
    return before.replace("@name@", escape(name)).encode(), after.encode()


def _source(text: str) -> str:
    """How a content security policy names an inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
