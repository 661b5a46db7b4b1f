"""A dataset at a URL: sent whole, grown there, refused when it is another's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner
from kills import contents

from synth.cli.main import main
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.errors import SettingsError
from synth.run import generate as run
from synth.run.remote import Store

URL = "memory://bucket/mine"


@pytest.fixture
def memory() -> Iterator[Any]:
    store = fsspec.filesystem("memory")
    store.store.clear()
    yield store
    store.store.clear()


def _make(out: Path, n: int) -> Path:
    run.generate(make_settings(verify="text"), n, out, shard_size=5)
    return out


def _command(n: int, work: Path, *more: str) -> Any:
    arguments = ["generate", "-n", str(n), "-o", URL, "--work", str(work), "--verify", "text"]
    return CliRunner().invoke(main, [*arguments, "--shard-size", "5", "--quiet", *more])


def test_the_store_gets_what_a_folder_would(memory: Any, tmp_path: Path) -> None:
    done = _command(24, tmp_path / "work")
    assert done.exit_code == 0, done.output
    Store(URL).fetch(tmp_path / "fetched")
    assert contents(tmp_path / "fetched") == contents(_make(tmp_path / "straight", 24))
    assert memory.exists("/bucket/mine/include/builtin.h")


def test_a_dataset_grows_where_it_lies_and_full_shards_are_not_sent_again(
    memory: Any, tmp_path: Path
) -> None:
    assert _command(24, tmp_path / "one").exit_code == 0
    before = {path: memory.created(path) for path in memory.find("/bucket/mine/train")}
    done = _command(48, tmp_path / "two")
    assert done.exit_code == 0, done.output
    after = {path: memory.created(path) for path in memory.find("/bucket/mine/train")}
    assert len(after) > len(before)
    assert sum(after[path] == before[path] for path in before) >= len(before) - 1
    Store(URL).fetch(tmp_path / "fetched")
    assert contents(tmp_path / "fetched") == contents(_make(tmp_path / "straight", 48))


def test_another_dataset_there_is_left_alone(memory: Any, tmp_path: Path) -> None:
    assert _command(12, tmp_path / "one").exit_code == 0
    before = {path: memory.cat_file(path) for path in memory.find("/bucket")}
    done = _command(12, tmp_path / "two", "--seed", "1")
    assert done.exit_code == 2
    assert "holds a dataset of other settings" in done.output
    assert {path: memory.cat_file(path) for path in memory.find("/bucket")} == before


def test_a_store_that_is_ahead_or_holds_other_files_loses_nothing(
    memory: Any, tmp_path: Path
) -> None:
    assert _command(12, tmp_path / "one").exit_code == 0
    assert _command(24, tmp_path / "two").exit_code == 0
    before = {path: memory.cat_file(path) for path in memory.find("/bucket")}
    for n, work, message in (
        (12, "one", "holds 24 rows and 12 would delete some"),
        (36, "one", "has 12 of the 24 rows"),
    ):
        done = _command(n, tmp_path / work)
        assert done.exit_code == 2
        assert message in done.output
    assert {path: memory.cat_file(path) for path in memory.find("/bucket")} == before
    memory.store.clear()
    memory.pipe_file("/bucket/mine/train/photo.png", b"not ours")
    done = _command(12, tmp_path / "three")
    assert done.exit_code == 2
    assert "holds files and no dataset" in done.output
    assert not (tmp_path / "three").exists()
    assert memory.find("/bucket") == ["/bucket/mine/train/photo.png"]


def test_a_dataset_in_a_store_is_raised(memory: Any, tmp_path: Path) -> None:
    assert _command(6, tmp_path / "one").exit_code == 0
    done = _command(6, tmp_path / "two", "--verify", "compile")
    assert done.exit_code == 0, done.output
    Store(URL).fetch(tmp_path / "fetched")
    rows = [row for _, row in stored_rows(tmp_path / "fetched")]
    assert all(row["checks"]["compile_archs"] for row in rows)


def test_a_store_that_refuses_is_one_line_and_the_dataset_is_kept(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError("Access Denied")

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "put_file", refuse)
        done = _command(12, tmp_path / "work")
    assert done.exit_code == 1
    assert "does not take it: Access Denied; the dataset is kept here" in done.output
    assert _command(12, tmp_path / "work").exit_code == 0
    with pytest.raises(SettingsError, match="cannot write to nowhere://x"):
        Store("nowhere://x")


def test_a_damaged_copy_is_not_grown(memory: Any, tmp_path: Path) -> None:
    assert _command(12, tmp_path / "one").exit_code == 0
    first = memory.find("/bucket/mine/train")[0]
    memory.pipe_file(first, b"PAR1")
    with pytest.raises(SettingsError, match="is not whole"):
        Store(URL).fetch(tmp_path / "two")
    memory.rm_file(first)
    with pytest.raises(SettingsError, match="is missing"):
        Store(URL).fetch(tmp_path / "three")
