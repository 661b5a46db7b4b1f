"""``publish``: a dataset goes to the Hub, checked first, in one commit, changed files alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from synth.check import Report, check_dataset
from synth.dress import dress
from synth.errors import SettingsError
from synth.hub import HubRepository
from synth.lock import held_alone
from synth.manifest import MANIFEST, Manifest, read_manifest
from synth.published import CARD, FOLDERS, LocalFile, published_files
from synth.views_index import Views, rows_digest, stored_views, view_files

_THEIRS = frozenset({".gitattributes", CARD})
"""What the Hub, or a page that asks for a description, puts into a repository that is new."""


@dataclass(frozen=True)
class Published:
    """What a publication did; ``url`` is that of the dataset's page."""

    url: str
    commit: str
    sent: int
    sent_bytes: int
    unchanged: int
    removed: int


@dataclass(frozen=True)
class Watch:
    """What hears of the work: rows checked, bytes to send, bytes sent."""

    checked: Callable[[int], None] = lambda _rows: None
    to_send: Callable[[int], None] = lambda _bytes: None
    sent: Callable[[int], None] = lambda _bytes: None


def publish(
    out: Path,
    name: str,
    *,
    private: bool = False,
    revision: str = "main",
    replace: bool = False,
    watch: Watch | None = None,
) -> Published:
    """Publish the dataset at ``out`` as ``name`` (USER/NAME).

    Raises :class:`SettingsError` when the dataset is not whole or does not pass ``validate --verify
    text``, when the token is missing or has no right, and when the repository holds something else
    (``replace`` allows that); RunError when the Hub cannot be reached or the upload breaks
    off: what was sent is kept there.
    """
    seen = watch or Watch()
    manifest = read_manifest(out)
    if manifest is None:
        raise SettingsError(f"{out} holds no finished dataset")
    repository = HubRepository(name, revision)
    repository.log_in()
    head = repository.head()
    there = {} if head is None else repository.files(head)
    if head is not None and not replace:
        _require_ours(repository, head, there, manifest)
    with held_alone(out):
        _require_sound(out, check_dataset(out, "text", seen.checked))
        views = _fresh_views(out, manifest)
        dress(out, manifest, views, name)
        files = published_files(out, manifest, view_files(views))
        changed = [file for file in files if _differs(file, there)]
        names = {file.name for file in files}
        removed = [
            path
            for path in sorted(there)
            if path.partition("/")[0] in FOLDERS and path not in names
        ]
        size = sum(file.bytes for file in changed)
        seen.to_send(size)
        head = repository.open(private) if head is None else head
        if changed or removed:
            message = f"{manifest.rows:,} rows, fingerprint {manifest.fingerprint}"
            head = repository.send(changed, removed, message, head, seen.sent)
    return Published(
        f"{repository.endpoint}/datasets/{name}",
        head,
        len(changed),
        size,
        len(files) - len(changed),
        len(removed),
    )


def _differs(file: LocalFile, there: dict[str, str]) -> bool:
    """Whether the Hub has other contents under a file's name, or none."""
    known = there.get(file.name)
    return known is None or known != (file.sha256() if len(known) == 64 else file.git_oid())


def _require_sound(out: Path, report: Report) -> None:
    if report.good:
        return
    failed = [f"row {failure['id']}: {failure['reason']}" for failure in report.failed]
    troubles = [*report.problems, *failed]
    raise SettingsError(
        f"{out} does not pass `pairsmith validate --verify text` ({len(troubles)} problems; first: "
        f"{troubles[0]}); nothing was published"
    )


def _fresh_views(out: Path, manifest: Manifest) -> Views | None:
    views = stored_views(out)
    if views is not None and views.rows_digest != rows_digest(manifest):
        raise SettingsError(
            f"the views at {out} are of other rows: run `pairsmith views {out}` again, or delete "
            f"{out / 'views'}"
        )
    return views


def _require_ours(
    repository: HubRepository, head: str, there: dict[str, str], manifest: Manifest
) -> None:
    """Refuse to write over what is not an earlier state of this dataset."""
    name = repository.name
    if MANIFEST not in there:
        strange = sorted(set(there) - _THEIRS)
        if strange:
            raise SettingsError(
                f"{name} holds something else ({strange[0]}, no {MANIFEST}): choose another name, "
                "or give --replace to put this dataset beside it"
            )
        return
    try:
        found = repository.manifest(head)
        theirs, rows = found["fingerprint"], int(found["rows"])
    except (ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"the {MANIFEST} of {name} cannot be read ({error})") from None
    if theirs != manifest.fingerprint:
        raise SettingsError(
            f"{name} holds a dataset of other settings or versions (fingerprint {theirs}, here "
            f"{manifest.fingerprint}): choose another name, or give --replace to take its place"
        )
    if rows > manifest.rows:
        raise SettingsError(
            f"{name} holds {rows} rows of this dataset, {manifest.rows} are here: make it grow "
            "first, or give --replace"
        )
