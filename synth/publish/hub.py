"""A dataset repository on the Hub, and its troubles in plain words.

What goes wrong there is the user's or the network's: each becomes one line. What was sent before
stays on the Hub, and the same command goes on from there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, get_token
from huggingface_hub import errors as hub_errors
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import disable_progress_bars, validate_repo_id
from huggingface_hub.utils import logging as hub_logging

from synth.dataset.manifest import MANIFEST, Manifest
from synth.errors import RunError, SettingsError
from synth.publish.files import CARD, LocalFile

FILES_AT_ONCE = 32
"""So many large files are sent between two signs of progress."""

FILES_A_COMMIT = 1000
"""Up to so many files enter in one commit, so that a revision is one dataset, whole."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_NO_XET = re.compile(r"\b404\b.*/xet-write-token/|/xet-write-token/.*\b404\b")
"""What the library says when the Hub has no such call; a repository was found there before."""

_GO_ON = "what was sent is kept: run the same command again to go on"


@dataclass(frozen=True)
class Standing:
    """What is under a name: the commit to go on from (None: no repository), and whether the
    repository is private and has the branch. Without the branch it would begin at that commit."""

    commit: str | None
    private: bool
    has_revision: bool


class HubRepository:
    """A dataset repository; ``name`` is USER/NAME. Talks to the Hub that HF_ENDPOINT names."""

    def __init__(self, name: str, revision: str) -> None:
        """Raises SettingsError when the name is none, or no token is known."""
        try:
            validate_repo_id(name)
        except hub_errors.HFValidationError:
            raise SettingsError(f"{name!r} is no name of a repository; give USER/NAME") from None
        if "/" not in name:
            raise SettingsError(f"{name!r} names no user; give USER/NAME")
        if _COMMIT.fullmatch(revision):
            raise SettingsError(f"--revision {revision} is a commit: name a branch to write to")
        if get_token() is None:
            raise SettingsError("no token for the Hub: run `hf auth login`, or set HF_TOKEN")
        disable_progress_bars()
        hub_logging.set_verbosity_error()
        self.name, self.revision = name, revision
        self._api = HfApi(library_name="pairsmith")
        self._where: dict[str, Any] = {"repo_id": name, "repo_type": "dataset"}

    @property
    def endpoint(self) -> str:
        return str(self._api.endpoint)

    def log_in(self) -> str:
        """The user whose token it is. Raises SettingsError when the Hub does not know the token."""
        with self._plain_words():
            return str(self._api.whoami()["name"])

    def standing(self) -> Standing:
        """What is there under the name."""
        with self._plain_words():
            try:
                info = self._api.repo_info(**self._where, revision=self.revision)
            except hub_errors.RevisionNotFoundError:
                info = self._api.repo_info(**self._where)
                return Standing(str(info.sha), bool(info.private), False)
            except hub_errors.RepositoryNotFoundError:
                return Standing(None, False, False)
            return Standing(str(info.sha), bool(info.private), True)

    def open(self, standing: Standing, private: bool) -> str:
        """Make the repository and the branch where they are missing; gives the commit that the
        branch stood at, so that what somebody else adds meanwhile is noticed."""
        if standing.commit is not None and standing.has_revision:
            return standing.commit
        with self._plain_words():
            if standing.commit is None:
                self._api.create_repo(**self._where, private=private or None, exist_ok=True)
            if self.revision != "main":
                begin = standing.commit
                self._api.create_branch(
                    **self._where, branch=self.revision, revision=begin, exist_ok=True
                )
            return standing.commit or str(
                self._api.repo_info(**self._where, revision=self.revision).sha
            )

    def files(self, commit: str) -> dict[str, str]:
        """What lies there: sha256 (large files) or Git's id of each file by path."""
        with self._plain_words():
            listing = self._api.list_repo_tree(**self._where, revision=commit, recursive=True)
            return {
                entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id
                for entry in listing
                if isinstance(entry, RepoFile)
            }

    def manifest(self, commit: str) -> Manifest:
        """The manifest that lies there. Raises SettingsError when it is none."""
        with TemporaryDirectory() as folder, self._plain_words():
            path = self._api.hf_hub_download(
                **self._where, filename=MANIFEST, revision=commit, local_dir=folder
            )
            data = Path(path).read_bytes()
        try:
            return Manifest(**json.loads(data))
        except (ValueError, TypeError) as error:
            raise SettingsError(
                f"the {MANIFEST} of {self.name} cannot be read ({_line(error)}): choose another "
                "name, or give --replace to take its place"
            ) from None

    def send(
        self,
        files: Sequence[LocalFile],
        removed: Sequence[str],
        message: str,
        parent: str,
        progress: Callable[[int], None],
    ) -> str:
        """Send files and remove others; gives the commit. ``progress`` hears of bytes.

        The contents of large files go first, some at a time, and are known by their sha256: what
        has arrived is not sent again. Then comes a commit, or several for very many files.
        """
        adds = [CommitOperationAdd(file.name, file.path) for file in files]
        with self._plain_words(broken_off=True):
            for start in range(0, len(adds), FILES_AT_ONCE):
                some = adds[start : start + FILES_AT_ONCE]
                self._api.preupload_lfs_files(
                    self.name, some, repo_type="dataset", revision=self.revision, free_memory=False
                )
                progress(sum(file.bytes for file in files[start : start + FILES_AT_ONCE]))
            # The manifest, which says whose the repository is, enters first, the card last.
            adds.sort(key=lambda add: (add.path_in_repo != MANIFEST, add.path_in_repo == CARD))
            pieces = [adds[at : at + FILES_A_COMMIT] for at in range(0, len(adds), FILES_A_COMMIT)]
            gone = [CommitOperationDelete(name) for name in removed]
            for number, piece in enumerate(pieces or [[]], 1):
                last = number >= len(pieces)
                title = message if last else f"{message} (part {number} of {len(pieces)})"
                parent = self._api.create_commit(
                    **self._where,
                    operations=[*piece, *(gone if last else [])],
                    commit_message=title,
                    revision=self.revision,
                    parent_commit=parent,
                ).oid
        return parent

    @contextmanager
    def _plain_words(self, broken_off: bool = False) -> Iterator[None]:
        """``broken_off``: files are being sent, and what fails there is no bug of ours."""
        try:
            yield
        except hub_errors.OfflineModeIsEnabled:
            raise SettingsError("HF_HUB_OFFLINE is set: unset it to publish") from None
        except hub_errors.HfHubHTTPError as error:
            raise self._of_answer(error) from None
        except hub_errors.HTTPError as error:
            raise self._unreachable(error, broken_off) from None
        except (RuntimeError, OSError, ValueError) as error:
            # The library's: nothing but calls of it stands in such a block.
            cause = error.__cause__ or error
            if isinstance(cause, hub_errors.HfHubHTTPError):
                raise self._of_answer(cause) from None
            if isinstance(cause, hub_errors.HTTPError):
                raise self._unreachable(cause, broken_off) from None
            raise self._of_strange(cause, broken_off) from error

    def _of_strange(self, error: BaseException, broken_off: bool) -> Exception:
        if isinstance(error, UnicodeEncodeError):
            return SettingsError("the token has characters that no token has: set HF_TOKEN anew")
        if _NO_XET.search(str(error)):
            return SettingsError(
                f"{self.endpoint} does not speak Xet, by which large files are sent: set "
                "HF_HUB_DISABLE_XET=1 to send them by Git LFS, and run the same command again"
            )
        if broken_off:
            return RunError(f"the upload broke off ({_line(error)}); {_GO_ON}")
        return RunError(
            f"{self.endpoint} does not answer as a Hub does ({_line(error)}): look at the network "
            "and at HF_ENDPOINT, then run the same command again"
        )

    def _of_answer(self, error: hub_errors.HfHubHTTPError) -> Exception:
        status, said = error.response.status_code, _line(error.server_message or error)
        where = self.endpoint
        if status == 401:
            return SettingsError(
                f"{where} does not know this token ({said}): log in again with `hf auth login`, or "
                "set HF_TOKEN to a token with the right to write"
            )
        if status == 403:
            return SettingsError(
                f"this token may not write to {self.name} ({said}): use a token with the right to "
                "write there, or another name"
            )
        if status == 404:
            return SettingsError(f"{self.name} is not at {where}, or hidden from you ({said})")
        if status in (409, 412):
            return RunError(f"{self.name} was changed by somebody else meanwhile; {_GO_ON}")
        if status >= 500 or status == 429:
            return RunError(f"{where} cannot serve this now ({status}: {said}); {_GO_ON}")
        return SettingsError(f"{where} refuses ({status}): {said}")

    def _unreachable(self, error: Exception, broken_off: bool) -> Exception:
        after = _GO_ON if broken_off else "look at the network, then run the same command again"
        return RunError(f"cannot reach {self.endpoint} ({_line(error)}); {after}")


def _line(said: object) -> str:
    """The first line of what was said."""
    text = str(said).strip() or type(said).__name__
    return text.splitlines()[0][:300]
