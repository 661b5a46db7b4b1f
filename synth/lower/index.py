"""What `pairsmith lower` has made before, in files: one a text, an architecture and a shape."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from synth.dataset.files import write_text
from synth.dataset.source_digest import source_digest
from synth.errors import SettingsError
from synth.lower.spec import canonical_json
from validate.host.kept import cache_dir
from validate.nvrtc.program import nvrtc_version

_LOWERING = ("synth/lower",)
_CHECKING = (*_LOWERING, "validate")


def default_folder() -> Path:
    """The user's cache folder for lowered texts."""
    return cache_dir("lower")


def text_versions() -> dict[str, str]:
    """What a text depends on besides its spec."""
    return {"pairsmith": version("pairsmith"), "source": source_digest(*_LOWERING)}


def compile_versions() -> dict[str, str]:
    """What NVRTC's answer depends on besides text and architecture. Raises CompileUnavailable."""
    return {
        "pairsmith": version("pairsmith"),
        "source": source_digest(*_CHECKING),
        "nvrtc": nvrtc_version(),
    }


def run_versions() -> dict[str, str]:
    """What a host run's answer depends on besides text and shape."""
    return {
        "pairsmith": version("pairsmith"),
        "source": source_digest(*_CHECKING),
        "warp": version("warp-lang"),
        "machine": f"{sys.platform} {os.uname().machine}",
    }


class Index:
    """Values by what they are of: a spec's key, versions, and an architecture or a shape.

    A file is written whole or not at all. One that is damaged is as good as none: it is not
    believed, and the next `put` writes it anew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, of: Mapping[str, Any]) -> Path:
        """Where the value of `of` lies."""
        name = _sha256(canonical_json(of))
        return self.folder / name[:2] / f"{name}.json"

    def take(self, of: Mapping[str, Any]) -> Any:
        """The value, or None when there is none that is sound.

        Raises SettingsError when the folder cannot be read.
        """
        try:
            entry = json.loads(self.path(of).read_bytes())
            value = entry["value"]
            sound = entry["of"] == dict(of) and entry["sha256"] == _sha256(canonical_json(value))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._refused("read", error) from None
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        return value if sound else None

    def put(self, of: Mapping[str, Any], value: Any) -> None:
        """Keep a value that JSON can hold. Raises SettingsError when it cannot be written."""
        entry = {"of": dict(of), "value": value, "sha256": _sha256(canonical_json(value))}
        try:
            write_text(self.path(of), json.dumps(entry) + "\n")
        except OSError as error:
            raise self._refused("write", error) from None

    def _refused(self, verb: str, error: OSError) -> SettingsError:
        why = f"cannot {verb} {self.folder}: {error.strerror}"
        return SettingsError(f"--cache: {why}; allowed is any folder of yours")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
