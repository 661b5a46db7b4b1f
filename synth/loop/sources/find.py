"""The tasks of what a user names: a dataset, specs of `lower`, or a Python file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.loop.archive import ArchivedTask
from synth.loop.solve import archived_task
from synth.loop.tasks import dataset_rows, entry_of
from synth.loop.times import TIMED

_PYTHON, _SPECS = ".py", ".json"


def split_name(given: str) -> tuple[Path, str]:
    """The path, and the function behind ``file.py:``; empty where none is named."""
    path, _, name = given.rpartition(":")
    return (Path(path), name) if path.endswith(_PYTHON) else (Path(given), "")


def tasks_of(
    given: str,
    view: str,
    splits: Sequence[str] = (),
    limit: int | None = None,
    sizes: Mapping[str, int] | None = None,
) -> list[ArchivedTask]:
    """The tasks of what is named, ``sizes`` in place of a file's own. Raises SettingsError where
    there are none."""
    path, name = split_name(given)
    if path.is_file() and path.suffix == _PYTHON:
        return _of_python(path, name, sizes or {})[:limit]
    if path.is_file() and path.suffix == _SPECS:
        from synth.loop.sources.specs import spec_tasks

        return spec_tasks(path, sizes or {})[:limit]
    if sizes:
        raise SettingsError("--size is for specs and Python files: rows have their sizes")
    found = list(islice(_of_rows(dataset_rows(path, splits), view), limit))
    if not found:
        raise SettingsError(f"no row of {path} has a task of the view {view!r} in these splits")
    return found


def _of_rows(rows: Iterable[Mapping[str, Any]], view: str) -> Iterator[ArchivedTask]:
    """The tasks of rows, each once, with the columns that times follow from."""
    seen: set[str] = set()
    for index, row in enumerate(rows):
        entry = entry_of(row, view, index)
        if entry is None:
            continue
        task = archived_task(entry, view, {name: row.get(name) for name in TIMED})
        if task.id not in seen:
            seen.add(task.id)
            yield task


def _of_python(path: Path, name: str, sizes: Mapping[str, int]) -> list[ArchivedTask]:
    from synth.loop.sources.declared import read_declared, read_source
    from synth.loop.sources.numpy_file import numpy_tasks
    from synth.loop.sources.warp_file import warp_tasks

    text, tree = read_source(path)
    declared = read_declared(path, tree, sizes)
    if _imports_warp(tree):
        return warp_tasks(path, declared, name)
    return numpy_tasks(path, text, tree, declared, name)


def _imports_warp(tree: ast.Module) -> bool:
    names = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    return any(name.split(".")[0] == "warp" for name in names)
