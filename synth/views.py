"""``views``: conversations to train on, beside the shards, one file of each view for each shard.

A file says what it was made of. One that is made already, in this run or for rows that have not
changed, stays as it is; so a run that was killed makes the rest, as does one after a dataset has
grown.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from synth.card import write_card
from synth.engine import Processes
from synth.errors import SettingsError
from synth.files import read_parquet, remove_folder, sha256_of, write_bytes
from synth.lock import held_alone
from synth.manifest import Manifest, damaged_shards, read_manifest
from synth.prepare import disk_troubles
from synth.settings import Versions
from synth.swap import link, swap
from synth.view_file import Bounds, ViewTask, made_of, make_view_file, token_counter
from synth.view_texts import VIEW_NAMES
from synth.views_index import FOLDER, View, ViewFile, Views, rows_digest

_STAGED = ".views"


def make_views(
    out: Path,
    names: Sequence[str] = VIEW_NAMES,
    *,
    bounds: Bounds | None = None,
    workers: int = 1,
    progress: Callable[[int], None] = lambda _rows: None,
) -> Views:
    """Make the views ``names`` of the dataset at ``out``; others there before go away.

    Raises :class:`SettingsError` when there is no whole dataset, for an unknown view, and for
    bounds that cannot be kept; RunError when a worker is lost: what is made is kept.
    """
    asked = bounds or Bounds()
    manifest = _manifest(out)
    chosen = _checked(names, asked, workers)
    with held_alone(out), disk_troubles(out):
        staged = out / _STAGED
        tasks = _tasks(out, manifest, chosen, asked)
        waiting = []
        for task in tasks:
            if _is_made(staged / task.name, task) or _taken_over(out, staged, task):
                progress(task.rows)
            else:
                waiting.append(task)
        _make(waiting, staged, workers, progress)
        views = _index(manifest, staged, tasks, asked)
        _put(out, staged, views)
        write_card(out, manifest, views)
    return views


def _manifest(out: Path) -> Manifest:
    manifest = read_manifest(out)
    if manifest is None:
        raise SettingsError(f"{out} holds no finished dataset")
    if "structure_cap" not in manifest.shape:
        raise SettingsError(f"{out} was harvested: views are made of rows with plain CUDA")
    if damaged := damaged_shards(out, manifest):
        raise SettingsError(f"{out} is not whole: {damaged[0]}; generate it again first")
    return manifest


def _checked(names: Sequence[str], bounds: Bounds, workers: int) -> list[str]:
    if workers < 1:
        raise SettingsError(f"workers is {workers}, at least 1 is needed")
    if unknown := [name for name in names if name not in VIEW_NAMES]:
        raise SettingsError(f"unknown view {unknown[0]!r}; known are: {', '.join(VIEW_NAMES)}")
    for what, most in (("--max-chars", bounds.max_chars), ("--max-tokens", bounds.max_tokens)):
        if most is not None and most < 1:
            raise SettingsError(f"{what} is {most}, at least 1 is needed")
    if bounds.max_tokens is not None and bounds.tokenizer is None:
        raise SettingsError("--max-tokens needs --tokenizer, whose tokens they are")
    _try_tokenizer(bounds.tokenizer)
    return [name for name in VIEW_NAMES if name in names]


def _try_tokenizer(name: str | None) -> None:
    try:
        token_counter(name)
    except ImportError:
        raise SettingsError(
            "--tokenizer needs tokenizers: pip install 'pairsmith[views]'"
        ) from None
    except Exception as error:  # noqa: BLE001 - the library raises bare Exceptions
        said = str(error).strip().split("\n")[0]
        raise SettingsError(
            f"--tokenizer {name}: {said}; give a tokenizer.json or a name on the Hub"
        ) from None


def _tasks(out: Path, manifest: Manifest, names: Sequence[str], bounds: Bounds) -> list[ViewTask]:
    code = Versions.installed().code
    return [
        ViewTask(
            name,
            out / shard["path"],
            f"{name}/{shard['split']}-{shard['path'].rpartition('-')[2]}",
            shard["rows"],
            bounds,
            made_of(name, shard["sha256"], bounds, code),
        )
        for name in names
        for shard in manifest.shards
    ]


def _is_made(path: Path, task: ViewTask) -> bool:
    if not path.is_file():
        return False
    try:
        return _about(path)[b"made_of"].decode() == task.made_of
    except (pa.ArrowInvalid, OSError, KeyError):
        return False


def _about(path: Path) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = pq.read_schema(path).metadata
    return found


def _taken_over(out: Path, staged: Path, task: ViewTask) -> bool:
    """A file of the views that are there stays."""
    there = out / FOLDER / task.name
    if not _is_made(there, task):
        return False
    (staged / task.name).parent.mkdir(parents=True, exist_ok=True)
    (staged / task.name).unlink(missing_ok=True)
    link(there, staged / task.name)
    return True


def _make(
    tasks: Sequence[ViewTask], staged: Path, workers: int, progress: Callable[[int], None]
) -> None:
    for task, data in _done(tasks, workers):
        write_bytes(staged / task.name, data)
        progress(task.rows)


def _done(tasks: Sequence[ViewTask], workers: int) -> Iterator[tuple[ViewTask, bytes]]:
    if workers == 1 or len(tasks) < 2:
        yield from ((task, make_view_file(task)) for task in tasks)
        return
    pool = Processes(min(workers, len(tasks)))
    try:
        yield from pool.each(make_view_file, tasks)
    finally:
        pool.close()


def _index(manifest: Manifest, staged: Path, tasks: Sequence[ViewTask], bounds: Bounds) -> Views:
    views: dict[str, View] = {}
    for name in dict.fromkeys(task.view for task in tasks):
        ours = [task for task in tasks if task.view == name]
        view = _view(staged, ours)
        if view.rows:
            views[name] = view
    return Views(rows_digest(manifest), asdict(bounds), views)


def _view(staged: Path, tasks: Sequence[ViewTask]) -> View:
    left_out: Counter[str] = Counter()
    chars, tokens, files = [], [], []
    for task in tasks:
        path = staged / task.name
        left_out.update(json.loads(_about(path)[b"left_out"]))
        table = read_parquet(path)
        if not table.num_rows:
            continue
        chars += table["chars"].to_pylist()
        if "tokens" in table.column_names:
            tokens += table["tokens"].to_pylist()
        split = Path(task.name).name.partition("-")[0]
        files.append(ViewFile(f"{FOLDER}/{task.name}", split, table.num_rows, sha256_of(path)))
    lengths = {"chars": chars, "tokens": tokens}
    told = {name: _quantiles(counts) for name, counts in lengths.items() if counts}
    return View(len(chars), dict(sorted(left_out.items())), told, files)


def _quantiles(counts: Sequence[int]) -> list[int]:
    return [int(n) for n in np.quantile(counts, [0.1, 0.5, 0.9, 1.0], method="nearest")]


def _put(out: Path, staged: Path, views: Views) -> None:
    """The staged folder, with nothing but what the index lists, takes the place of the other."""
    wanted = {file.path for view in views.views.values() for file in view.files}
    for path in staged.rglob("*"):
        if path.is_file() and f"{FOLDER}/{path.relative_to(staged).as_posix()}" not in wanted:
            path.unlink()
    for folder in staged.iterdir():
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    views.write(staged)
    swap(staged, out / FOLDER)
    remove_folder(staged)
