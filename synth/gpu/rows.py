"""Rows of a dataset for a GPU run, and the headers that they are compiled with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from synth.dataset.stored import Row, require_columns, stored_rows
from synth.errors import SettingsError
from validate.errors import CompileUnavailable
from validate.row.columns import GRADIENT_COLUMNS
from validate.text.headers import warp_include_dir

COLUMNS = (
    "id",
    "category",
    "idiom",
    "level",
    "kernel_name",
    "reference",
    "cuda_prologue",
    "cuda_helpers",
    "cuda_forward",
    "cuda_backward",
    "cuda_plain",
    "plain_args",
    "plain_scratch",
    "plain_launch",
    "schedule",
    *GRADIENT_COLUMNS,
    "args",
    "sizes",
    "regime",
    "launch",
    "input_seed",
    "edge_inputs",
    "provenance",
)


def read_rows(out: Path, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Rows in order, with the columns that a GPU run needs; a few at a time are held."""
    return islice(_whole_rows(out, COLUMNS), limit)


def read_rows_and_programs(out: Path) -> Iterator[dict[str, Any]]:
    """The same with their programs, of which the operations of a launch are counted."""
    return _whole_rows(out, (*COLUMNS, "program"))


def include_dir(out: Path, asked: Path | None) -> Path:
    """The folder of Warp's headers: the one asked for, the dataset's own, or an installed Warp's.

    Warp itself is not imported. Raises SettingsError when there is none.
    """
    folders = [asked] if asked else [out / "include", *_installed()]
    for folder in folders:
        if (folder / "builtin.h").is_file():
            return folder.resolve()
    raise SettingsError(
        f"{folders[0]} does not hold Warp's headers: copy them there from the machine that made "
        "the dataset, or name their folder with --include"
    )


def _installed() -> list[Path]:
    try:
        return [warp_include_dir()]
    except CompileUnavailable:
        return []


def _whole_rows(out: Path, columns: Sequence[str]) -> Iterator[Row]:
    """The rows with these columns and their `split`; SettingsError where a dataset lacks one."""
    for split, row in stored_rows(out, columns):
        require_columns(row, columns, out)
        yield {**row, "split": split}
