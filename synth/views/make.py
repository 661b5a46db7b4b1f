"""``training-views``: conversations beside the shards, one file of each view for each shard.

A file says what it was made of. One that is made already, in this run or for rows that have not
changed, stays as it is; so a run that was killed makes the rest, as does one after a dataset has
grown.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from synth.card.page import write_card
from synth.dataset.files import (
    read_parquet,
    remove_folder,
    remove_leftovers,
    sha256_of,
    write_bytes,
)
from synth.dataset.lock import held_alone
from synth.dataset.manifest import Manifest, finished_manifest, require_whole
from synth.dataset.names import EVIDENCE
from synth.dataset.settings import Versions
from synth.dataset.stage import link, swap
from synth.dataset.views_index import FOLDER, View, ViewFile, Views, stored_views
from synth.errors import SettingsError
from synth.run.engine import Processes
from synth.run.prepare import disk_troubles
from synth.views.adjoints import adjoints_digest
from synth.views.file import Bounds, ViewTask, load_tokenizer, made_of, make_view_file
from synth.views.measured import tune_digests, tune_files
from synth.views.tensors import require_torch
from synth.views.texts import TENSOR_VIEWS, TIMED_VIEWS, VIEW_NAMES, WRONG_ADJOINTS
from validate.nvrtc.program import nvrtc_version

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
    _finished(out)
    chosen = _checked(names, asked, workers)
    versions: dict[str, Any] = _versions(asked.tokenizer, chosen)
    with held_alone(out), disk_troubles(out):
        manifest = _finished(out)
        require_whole(out, manifest)
        versions |= {"tuned": tune_digests(out), "evidence": adjoints_digest(out)}
        before = _before(out)
        remove_leftovers(out)
        staged = out / _STAGED
        tasks = _tasks(out, manifest, chosen, asked, versions)
        waiting = []
        for task in tasks:
            if _is_made(staged / task.name, task) or _taken_over(out, before, staged, task):
                progress(task.rows)
            else:
                waiting.append(task)
        _make(waiting, staged, workers, progress)
        settings = _settings(asked, versions)
        views = Views(manifest.rows_digest(), settings, _views(staged, tasks))
        if before:
            # Until the new ones are there, the card lists none.
            write_card(out, manifest)
        _put(out, staged, views)
        write_card(out, manifest, views)
    return views


def _finished(out: Path) -> Manifest:
    manifest = finished_manifest(out)
    if manifest.is_harvested:
        raise SettingsError(f"{out} was harvested: views are made of rows with plain CUDA")
    return manifest


def _checked(names: Sequence[str], bounds: Bounds, workers: int) -> list[str]:
    if workers < 1:
        raise SettingsError(f"workers is {workers}, at least 1 is needed")
    every = (*VIEW_NAMES, *TENSOR_VIEWS)
    if unknown := [name for name in names if name not in every]:
        raise SettingsError(f"unknown view {unknown[0]!r}; known are: {', '.join(every)}")
    for what, most in (("--max-chars", bounds.max_chars), ("--max-tokens", bounds.max_tokens)):
        if most is not None and most < 1:
            raise SettingsError(f"{what} is {most}, at least 1 is needed")
    if bounds.max_tokens is not None and bounds.tokenizer is None:
        raise SettingsError("--max-tokens needs --tokenizer, whose tokens they are")
    return [name for name in every if name in names]


def _versions(tokenizer: str | None, names: Sequence[str]) -> dict[str, str | None]:
    """What decides on texts and tokens beside the rows."""
    installed = Versions.installed()
    found = {"code": installed.code, "warp": installed.warp, "nvrtc": nvrtc_version()}
    if {*names} & {*TENSOR_VIEWS}:
        found["torch"] = require_torch()
    return {**found, "tokenizer_sha256": _tokenizer_sha256(tokenizer)}


def _tokenizer_sha256(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return hashlib.sha256(load_tokenizer(name).to_str().encode()).hexdigest()
    except ImportError:
        lacking = "--tokenizer needs tokenizers: pip install 'pairsmith[views]'"
        raise SettingsError(lacking) from None
    except Exception as error:  # noqa: BLE001 - the library raises bare Exceptions
        said = str(error).strip().split("\n")[0]
        raise SettingsError(
            f"--tokenizer {name}: {said}; give a tokenizer.json or a name on the Hub"
        ) from None


def _settings(bounds: Bounds, versions: Mapping[str, Any]) -> dict[str, Any]:
    """What the index tells of how the views were made; of a tokenizer's file the name alone."""
    name = bounds.tokenizer
    told = Path(name).name if name is not None and Path(name).is_file() else name
    return {**asdict(bounds), **versions, "tokenizer": told}


def _before(out: Path) -> dict[str, str]:
    """The sha256 of the files of the views that are there. SettingsError for what is none."""
    folder = out / FOLDER
    views = stored_views(out)
    if views is None and (folder.is_file() or (folder.is_dir() and any(folder.iterdir()))):
        raise SettingsError(f"{folder} holds no views of ours: move it away first")
    every = views.views.values() if views else ()
    return {file.path: file.sha256 for view in every for file in view.files}


def _tasks(
    out: Path,
    manifest: Manifest,
    names: Sequence[str],
    bounds: Bounds,
    versions: Mapping[str, Any],
) -> list[ViewTask]:
    return [
        ViewTask(
            name,
            out / shard["path"],
            f"{name}/{shard['split']}-{shard['path'].rpartition('-')[2]}",
            shard["rows"],
            bounds,
            made_of(name, shard["sha256"], bounds, _deciding(name, versions)),
            tuple(tune_files(out)) if name in TIMED_VIEWS else (),
            out / EVIDENCE if name == WRONG_ADJOINTS else None,
        )
        for name in names
        for shard in manifest.shards
    ]


def _deciding(name: str, versions: Mapping[str, Any]) -> dict[str, Any]:
    """The versions and measurements that decide on a view."""
    only_of = {"torch": TENSOR_VIEWS, "tuned": TIMED_VIEWS, "evidence": (WRONG_ADJOINTS,)}
    left_out = [what for what, views in only_of.items() if name not in views]
    return {what: version for what, version in versions.items() if what not in left_out}


def _is_made(path: Path, task: ViewTask) -> bool:
    """Whether a file is there, was made of just this, and can be read."""
    if not path.is_file():
        return False
    try:
        if _about(path)[b"made_of"].decode() != task.made_of:
            return False
        read_parquet(path)
        return True
    except (pa.ArrowException, OSError, KeyError):
        return False


def _about(path: Path) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = pq.read_schema(path).metadata
    return found


def _taken_over(out: Path, before: Mapping[str, str], staged: Path, task: ViewTask) -> bool:
    """A file of the views that are there stays, when it has the bytes of the index."""
    there = out / FOLDER / task.name
    if not _is_made(there, task) or before.get(f"{FOLDER}/{task.name}") != sha256_of(there):
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


def _views(staged: Path, tasks: Sequence[ViewTask]) -> dict[str, View]:
    names = dict.fromkeys(task.view for task in tasks)
    return {name: _view(staged, [task for task in tasks if task.view == name]) for name in names}


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
