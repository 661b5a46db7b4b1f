"""A dataset in an object store, or wherever fsspec reaches: made here, then copied there.

Stores have no rename, and a run reads and writes small files all the time. So work is done in a
local folder; the store gets the finished dataset, shards first and the manifest last, and only
those files that it does not have. A dataset that grows is fetched first if the folder lacks it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synth.dataset.manifest import MANIFEST, Manifest, damaged_shards, read_manifest
from synth.dataset.settings import differences
from synth.errors import RunError, SettingsError
from synth.run.raise_level import is_raise

_LEFT_HERE = ("work",)
# To make a folder there could make a bucket, for a name with a slip in it.
_WITHOUT_FOLDERS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "hf"})


def is_url(out: str) -> bool:
    """Whether an output is a URL and not a folder."""
    return "://" in out


class Store:
    """A dataset's place at a URL. Raises :class:`SettingsError` for a URL that nothing here reads.

    What the store refuses (no network, no rights) is a :class:`RunError`.
    """

    def __init__(self, url: str) -> None:
        import fsspec

        self.url = url.rstrip("/")
        try:
            self._fs, self._root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise SettingsError(f"cannot write to {url}: {error}") from None

    def require_place(self, out: Path, shape: Mapping[str, Any], n: int) -> dict[str, Any] | None:
        """The manifest there, None when there is none.

        Raises :class:`SettingsError` when what is there would be lost, or ``out`` lags behind.
        """
        theirs = self._manifest()
        if theirs is None:
            with _Troubles(self.url):
                if found := list(self._sizes()):
                    raise SettingsError(
                        f"{self.url} holds files and no dataset (first: {found[0]}); choose another"
                    )
            return None
        if theirs["rows"] > n:
            raise SettingsError(f"{self.url} holds {theirs['rows']} rows and {n} would delete some")
        what = "; ".join(differences(shape, theirs["shape"]))
        if what and not is_raise(shape, theirs["shape"]):
            raise SettingsError(f"{self.url} holds a dataset of other settings: {what}")
        here = read_manifest(out)
        if here is not None and here.rows < theirs["rows"]:
            raise SettingsError(
                f"{out} has {here.rows} of the {theirs['rows']} rows at {self.url}; delete it or "
                "name another --work"
            )
        return theirs

    def fetch(self, out: Path) -> None:
        """Fetch the dataset there into ``out``, unless that holds a run or a dataset already."""
        if read_manifest(out) is not None or (out / "work").is_dir():
            return
        theirs = self._manifest()
        if theirs is None:
            return
        with _Troubles(self.url):
            for name in self._sizes():
                target = out / name
                if name != MANIFEST:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    self._fs.get_file(f"{self._root}/{name}", str(target))
        manifest = Manifest(**theirs)
        if problems := damaged_shards(out, manifest):
            raise SettingsError(
                f"{self.url} is not whole: {problems[0]}; delete it there and {out} here, and "
                "generate it again"
            )
        manifest.write(out)

    def push(self, out: Path) -> int:
        """Copy a finished dataset there; gives how many files were sent.

        Raises :class:`SettingsError` as :meth:`require_place`: others may have written meanwhile.
        """
        ours = read_manifest(out)
        assert ours is not None, f"{out} is not finished"
        theirs = self.require_place(out, ours.shape, ours.rows)
        with _Troubles(self.url):
            return self._push(out, ours, theirs or {"shards": []})

    def _push(self, out: Path, ours: Manifest, theirs: Mapping[str, Any]) -> int:
        there = {shard["path"]: shard["sha256"] for shard in theirs["shards"]}
        digests = {shard["path"]: shard["sha256"] for shard in ours.shards}
        sizes = self._sizes()
        sent = 0
        for name in sorted(_files(out), key=lambda name: (name == MANIFEST, name)):
            # Headers follow from the version of Warp, which is part of the fingerprint.
            same = name in digests and there.get(name) == digests[name]
            header = theirs.get("fingerprint") == ours.fingerprint and name.startswith("include/")
            if (same or header) and sizes.get(name) == (out / name).stat().st_size:
                continue
            self._put(out / name, f"{self._root}/{name}")
            sent += 1
        for name in there.keys() - digests.keys():
            self._fs.rm_file(f"{self._root}/{name}")
        return sent

    def _put(self, path: Path, where: str) -> None:
        protocols = {self._fs.protocol} if isinstance(self._fs.protocol, str) else self._fs.protocol
        if not _WITHOUT_FOLDERS.intersection(protocols):
            self._fs.makedirs(where.rpartition("/")[0], exist_ok=True)
        self._fs.put_file(str(path), where)

    def _manifest(self) -> dict[str, Any] | None:
        with _Troubles(self.url):
            self._fs.invalidate_cache()
            if not self._fs.exists(f"{self._root}/{MANIFEST}"):
                return None
            data = self._fs.cat_file(f"{self._root}/{MANIFEST}")
        try:
            found = json.loads(data)
            _ = found["fingerprint"], found["shards"], found["rows"], found["shape"]["verify"]
        except (ValueError, KeyError, TypeError) as error:
            raise SettingsError(f"{self.url}/{MANIFEST} is damaged ({error})") from None
        return dict(found)

    def _sizes(self) -> dict[str, int]:
        """The files there with their sizes in bytes."""
        root = self._root.strip("/")
        found = self._fs.find(self._root, detail=True)
        return {
            str(path).strip("/").removeprefix(root).strip("/"): int(entry["size"])
            for path, entry in sorted(found.items())
        }


class _Troubles:
    """Turns what a store says into one line."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> None:
        # Each kind of store has errors of its own; botocore's and aiohttp's are no OSError.
        module = type(error).__module__.partition(".")[0] if error is not None else ""
        if isinstance(error, OSError) or module in ("botocore", "aiohttp", "gcsfs", "google"):
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(
                f"{self.url} does not take it: {said}; the dataset is kept here: run the same "
                "command again to go on"
            ) from None


def _files(out: Path) -> list[str]:
    return [
        path.relative_to(out).as_posix()
        for path in out.rglob("*")
        if path.is_file() and path.relative_to(out).parts[0] not in _LEFT_HERE
    ]
