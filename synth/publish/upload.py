"""``publish``: a dataset goes to the Hub, checked first, in one commit, changed files alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from synth.card.page import write_card
from synth.check.dataset import Report, check_dataset
from synth.dataset.files import sha256_of
from synth.dataset.headers import copy_headers
from synth.dataset.lock import held_alone
from synth.dataset.manifest import MANIFEST, Manifest, finished_manifest
from synth.dataset.verify_levels import VERIFY_LEVELS
from synth.dataset.views_index import FOLDER, Views, stored_views, view_files
from synth.errors import SettingsError
from synth.publish.files import CARD, LocalFile, is_ours, published_files
from synth.publish.hub import HubRepository, Standing
from synth.run.prepare import disk_troubles
from synth.run.raise_level import is_raise

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
    finished_manifest(out)
    repository = HubRepository(name, revision)
    repository.log_in()
    standing, there, theirs = _theirs(repository, private, replace)
    with held_alone(out), disk_troubles(out):
        manifest = finished_manifest(out)
        if not replace:
            _require_ours(name, there, theirs, manifest)
        files = _ready(out, manifest, name, seen)
        changed = [file for file in files if _differs(file, there)]
        removed = _left_over(files, there)
        size = sum(file.bytes for file in changed)
        seen.to_send(size)
        commit = repository.open(standing, private)
        if changed or removed:
            message = f"{manifest.rows:,} rows, fingerprint {manifest.fingerprint}"
            commit = repository.send(changed, removed, message, commit, seen.sent)
    url, unchanged = f"{repository.endpoint}/datasets/{name}", len(files) - len(changed)
    return Published(url, commit, len(changed), size, unchanged, len(removed))


def _ready(out: Path, manifest: Manifest, name: str, seen: Watch) -> list[LocalFile]:
    """The files to publish, once the dataset is known to be sound and has its card."""
    _require_sound(out, check_dataset(out, "text", seen.checked))
    views = _sound_views(out, manifest)
    _require_headers(out, manifest)
    write_public_card(out, manifest, views, name)
    return published_files(out, manifest, view_files(views))


def _theirs(
    repository: HubRepository, private: bool, replace: bool
) -> tuple[Standing, dict[str, str], Manifest | None]:
    """What is there before: its standing, its files, and, unless it is replaced, its manifest."""
    standing = _standing(repository, private)
    if standing.commit is None:
        return standing, {}, None
    there = repository.files(standing.commit)
    wanted = MANIFEST in there and not replace
    return standing, there, repository.manifest(standing.commit) if wanted else None


def _standing(repository: HubRepository, private: bool) -> Standing:
    """What the repository is before; :class:`SettingsError` for one that cannot turn private."""
    standing = repository.standing()
    if private and standing.commit is not None and not standing.private:
        raise SettingsError(
            f"{repository.name} is there already and public: make it private on its page first, "
            "or leave --private out"
        )
    return standing


def _left_over(files: list[LocalFile], there: dict[str, str]) -> list[str]:
    """Files of an earlier publication that this one does not have."""
    names = {file.name for file in files}
    ours = sorted(path for path in there if MANIFEST in there and is_ours(path))
    return [path for path in ours if path not in names]


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


def _require_headers(out: Path, manifest: Manifest) -> None:
    """Headers that went are copied anew from the Warp that made the rows."""
    if (out / "include" / "builtin.h").is_file():
        return
    wanted = manifest.shape["warp version"]
    if version("warp-lang") != wanted:
        raise SettingsError(
            f"{out / 'include'} has no headers, and they are those of Warp {wanted}: pip install "
            f"warp-lang=={wanted}, and publish again"
        )
    copy_headers(out / "include")


def _sound_views(out: Path, manifest: Manifest) -> Views | None:
    views = stored_views(out)
    if views is None:
        return None
    again = f"run `pairsmith training-views {out}` again, or delete {out / FOLDER}"
    if views.rows_digest != manifest.rows_digest():
        raise SettingsError(f"the views at {out} are of other rows: {again}")
    for file in (file for view in views.views.values() for file in view.files):
        path = out / file.path
        if not path.is_file() or sha256_of(path) != file.sha256:
            raise SettingsError(f"{path} is missing or damaged: {again}")
    return views


def _require_ours(
    name: str, there: dict[str, str], theirs: Manifest | None, manifest: Manifest
) -> None:
    """Refuse to write over what is not an earlier state of this dataset."""
    if theirs is None:
        strange = sorted(set(there) - _THEIRS)
        if strange:
            raise SettingsError(
                f"{name} holds something else ({strange[0]}, no {MANIFEST}): choose another name, "
                "or give --replace to put this dataset beside it"
            )
        return
    if not _same_rows(manifest, theirs):
        raise SettingsError(
            f"{name} holds a dataset of other settings, versions or sources (fingerprint "
            f"{theirs.fingerprint}, here {manifest.fingerprint}): choose another name, or give "
            "--replace to take its place"
        )
    if theirs.rows > manifest.rows:
        raise SettingsError(
            f"{name} holds {theirs.rows} rows of this dataset, {manifest.rows} are here: make it "
            "grow first, or give --replace"
        )


def _same_rows(manifest: Manifest, theirs: Manifest) -> bool:
    """Whether one is the other, perhaps with fewer rows or less evidence."""
    if manifest.is_harvested:
        # The settings of a harvest do not say which modules it is of.
        return manifest.rows_digest() == theirs.rows_digest()
    if manifest.fingerprint == theirs.fingerprint:
        return True
    known = set(VERIFY_LEVELS)
    return theirs.shape.get("verify") in known and is_raise(manifest.shape, theirs.shape)


IMAGES = "images"


def write_public_card(out: Path, manifest: Manifest, views: Views | None, name: str) -> None:
    """Draw the pictures and write the card for the repository ``name``.

    A harvested dataset keeps the card that it has. Raises SettingsError without matplotlib.
    """
    if manifest.is_harvested:
        return
    try:
        from synth.card.plots import draw_all
    except ImportError:
        raise SettingsError("pictures need matplotlib: pip install 'pairsmith[publish]'") from None
    drawn = draw_all(out, out / IMAGES, manifest.draws)
    write_card(out, manifest, views, name, [path.stem for path in drawn])
