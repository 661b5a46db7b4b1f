"""What a process compiles before its first row is made once for all processes of a user."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from validate.host import kept

LINK = """
import sys, tempfile
from pathlib import Path
from validate.host import clang
from validate.host.plain_link import Linker
from validate.text.headers import warp_include_dir
with tempfile.TemporaryDirectory() as folder:
    Linker(Path(folder))
    clang.make_precompiled_header(warp_include_dir(), Path(folder), 256)
    print(*sorted(path.name for path in Path(folder).rglob("*") if path.is_file()))
"""


def start(cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-c", LINK]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def lies(cache: Path) -> dict[str, int]:
    files = [path for path in cache.rglob("*") if path.is_file()]
    return {str(path.relative_to(cache)): path.stat().st_mtime_ns for path in files}


def test_processes_at_once_and_after_each_other_share_what_is_compiled(tmp_path: Path) -> None:
    together = [start(tmp_path), start(tmp_path)]
    assert [process.communicate()[0].strip() for process in together] == ["", ""]
    assert [process.returncode for process in together] == [0, 0]
    found = lies(tmp_path)
    assert sorted(Path(name).name for name in found) == [
        *("builtin.h", "builtin_256.pch", "builtin_256.pch", "runtime.o")
    ]
    third = start(tmp_path)
    assert third.communicate()[0].strip() == ""
    assert third.returncode == 0
    assert lies(tmp_path) == found


def test_without_a_cache_a_process_keeps_its_own(tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.write_text("")
    process = start(no_folder)
    assert process.communicate()[0].split() == [
        *("builtin.h", "builtin_256.pch", "builtin_256.pch", "runtime.o")
    ]
    assert process.returncode == 0


def test_a_cache_without_room_or_of_no_name_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / os.fsdecode(b"\xff")))
    assert kept.kept_folder("a") is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert kept.kept_folder("a") is not None
    monkeypatch.setattr(kept, "_LEAST_ROOM_BYTES", 1 << 60)
    assert kept.kept_folder("a") is None


def test_other_headers_and_texts_have_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept.folder_of_headers.cache_clear()
    include = tmp_path / "native"
    include.mkdir()
    header = include / "builtin.h"
    header.write_text("int a;")
    assert kept.folder_of_headers(include) is None
    kept.folder_of_headers.cache_clear()
    monkeypatch.setattr(kept, "warp_include_dir", lambda: include)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "warp-clang.so").write_bytes(b"")
    first = kept.folder_of_headers(include)
    assert first is not None
    assert first.is_dir()
    os.utime(header, ns=(1, 1))
    kept.folder_of_headers.cache_clear()
    assert kept.folder_of_headers(include) not in (first, None)
    assert kept.kept_folder("plain", "a") != kept.kept_folder("plain", "b")
    kept.folder_of_headers.cache_clear()


def test_what_nobody_asked_for_in_a_month_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    old, used = kept.kept_folder("old"), kept.kept_folder("used")
    assert old is not None
    assert used is not None
    month_ago = time.time() - 31 * 24 * 3600
    os.utime(old, (month_ago, month_ago))
    assert kept.kept_folder("new") is not None
    assert not old.exists()
    assert used.exists()


def test_a_file_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "builtin.h"
    kept.write_once(path, "first")
    kept.write_once(path, "second")
    assert path.read_text() == "first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["builtin.h"]
