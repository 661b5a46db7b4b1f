"""The digest of the sources moves with every file that can decide a row or a verdict."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from synth.dataset.source_digest import DECIDING, PACKAGES, source_digest

ROOT = Path(__file__).resolve().parents[3]
ELSEWHERE = {".css", ".html", ".js", ".clang-format", ".pyc"}
"""Kinds of files that decide neither rows nor verdicts: the page's, and a formatter's settings."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.pyc"))
    return tmp_path


def _folders_and_kinds(root: Path) -> list[Path]:
    """One deciding file of each kind in each folder."""
    chosen: dict[tuple[Path, str], Path] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if path.suffix in DECIDING:
                chosen.setdefault((path.parent, path.suffix), path)
    return list(chosen.values())


def test_an_edit_in_any_folder_and_kind_of_file_moves_the_digest(copy: Path) -> None:
    whole = source_digest(root=copy)
    files = _folders_and_kinds(copy)
    assert {path.suffix for path in files} == set(DECIDING)
    assert any(path.suffix == ".h" and path.parent.name != "validate" for path in files)
    for path in files:
        text = path.read_bytes()
        path.write_bytes(text + b" ")
        source_digest.cache_clear()
        assert source_digest(root=copy) != whole, path
        path.write_bytes(text)
    source_digest.cache_clear()
    assert source_digest(root=copy) == whole


def test_a_new_or_a_renamed_file_moves_the_digest(copy: Path) -> None:
    whole = source_digest(root=copy)
    path = next((copy / "validate").rglob("*.h"))
    path.rename(path.with_name("renamed.h"))
    source_digest.cache_clear()
    assert source_digest(root=copy) != whole


def test_nobody_added_a_kind_of_file_without_deciding_what_it_decides() -> None:
    kinds = {
        path.suffix
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file()
    }
    assert kinds <= {*DECIDING, *ELSEWHERE}


def test_the_digest_is_of_this_repository() -> None:
    assert source_digest() == source_digest(root=ROOT)
    assert len({source_digest("synth/lower"), source_digest("validate"), source_digest("no")}) == 3
