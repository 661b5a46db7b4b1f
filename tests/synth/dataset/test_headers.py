"""The headers that rows of a dataset are compiled with."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.dataset.headers import copy_headers, headers_of
from validate.text.headers import warp_include_dir


@pytest.fixture
def out(tmp_path: Path) -> Path:
    copy_headers(tmp_path / "include")
    return tmp_path


def test_equal_headers_are_the_installed_ones(out: Path, tmp_path: Path) -> None:
    assert headers_of(out) == warp_include_dir()
    assert headers_of(tmp_path / "without") == warp_include_dir()


def test_other_headers_are_the_datasets_own(out: Path) -> None:
    own = out / "include"
    header = own / "builtin.h"
    text = header.read_bytes()
    header.write_bytes(text.replace(b"inline", b"INLINE", 1))
    assert headers_of(out) == own
    header.write_bytes(text)
    (own / "more.h").write_text("")
    assert headers_of(out) == own
    (own / "more.h").unlink()
    assert headers_of(out) == warp_include_dir()
    (own / "vec.h").unlink()
    assert headers_of(out) == own
