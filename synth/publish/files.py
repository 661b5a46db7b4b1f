"""Which files of a dataset folder are published, and whether the Hub would take them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from synth.dataset.files import sha256_of
from synth.dataset.manifest import MANIFEST, SPLITS, Manifest
from synth.errors import SettingsError

CARD = "README.md"
_SPLIT = f"({'|'.join(SPLITS)})"
_OURS = re.compile(
    rf"{_SPLIT}/shard-\d{{5}}\.parquet|views/index\.json|views/\w+/{_SPLIT}-\d{{5}}\.parquet"
    r"|images/(categories|lengths|dtypes|builtins|rejects)\.png|evidence/(run|keys)\.parquet"
    r"|rejected/\w+\.jsonl|gpu/[\w.-]+"
    rf"|(schedules|lowered)/{_SPLIT}-[\w.-]+\.parquet"
)

MOST_FILE_BYTES = 500_000_000
MOST_ROW_GROUP_BYTES = 100_000_000
"""Uncompressed. Above about that the Hub's viewer reads no pages (its own limit is 300 MB)."""

MOST_FILES_A_FOLDER = 10_000
_SUFFIXES = {
    "evidence": (".parquet",),
    "rejected": (".jsonl",),
    "gpu": (".parquet", ".json", ".md", ".png"),
    "images": (".png",),
    "schedules": (".parquet",),
    "lowered": (".parquet",),
}


def is_ours(name: str) -> bool:
    """Whether a publication makes files of that name, and so may remove one.

    Headers in ``include/`` are never removed: they are written over, and others do no harm.
    """
    return _OURS.fullmatch(name) is not None


@dataclass(frozen=True)
class LocalFile:
    """A file to publish: its path in the repository, where it lies, and how large it is."""

    name: str
    path: Path
    bytes: int

    def sha256(self) -> str:
        """What Git LFS calls its contents."""
        return sha256_of(self.path)

    def git_oid(self) -> str:
        """What Git calls its contents: sha1 of a header and the bytes."""
        digest = hashlib.sha1(b"blob %d\0" % self.bytes, usedforsecurity=False)
        digest.update(self.path.read_bytes())
        return digest.hexdigest()


def published_files(out: Path, manifest: Manifest, views: list[str]) -> list[LocalFile]:
    """The files of a dataset, by name; ``views`` are those of its training views.

    Nothing else in the folder goes along. Raises SettingsError for a file, a row group or a folder
    that is larger than the Hub's readers take.
    """
    names = [CARD, MANIFEST, *(shard["path"] for shard in manifest.shards), *views]
    names += [
        path.relative_to(out).as_posix()
        for folder, suffixes in _SUFFIXES.items()
        for path in (out / folder).glob("*")
        if path.suffix in suffixes and not path.name.startswith(".")
    ]
    names += [p.relative_to(out).as_posix() for p in (out / "include").rglob("*") if p.is_file()]
    files = [LocalFile(name, out / name, (out / name).stat().st_size) for name in sorted(names)]
    _check(files)
    return files


def _check(files: list[LocalFile]) -> None:
    folders: dict[Path, int] = {}
    for file in files:
        folders[file.path.parent] = folders.get(file.path.parent, 0) + 1
        if file.bytes > MOST_FILE_BYTES:
            raise SettingsError(
                f"{file.path} has {file.bytes / 1e6:,.0f} MB, more than "
                f"{MOST_FILE_BYTES / 1e6:,.0f}: make the dataset with a smaller --shard-size"
            )
        if file.path.suffix == ".parquet" and (largest := _largest_group(file.path)) > (
            MOST_ROW_GROUP_BYTES
        ):
            raise SettingsError(f"{file.path} has a row group of {largest / 1e6:,.0f} MB")
    for folder, count in folders.items():
        if count > MOST_FILES_A_FOLDER:
            raise SettingsError(f"{folder} has {count} files: make it with a larger --shard-size")


def _largest_group(path: Path) -> int:
    """Uncompressed bytes of a file's largest row group."""
    about = pq.ParquetFile(path).metadata
    groups = (about.row_group(at) for at in range(about.num_row_groups))
    return max((group.total_byte_size for group in groups), default=0)
