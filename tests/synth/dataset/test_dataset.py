"""A dataset on disk: loading, prefixes, splits, determinism, resume."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from datasets import Features, Value, load_dataset
from drawn_once import DrawnOnce

from generators.program.keys import program_keys
from generators.program.serialise import from_json
from synth.dataset.existing import Shard, as_text, kept_renames
from synth.dataset.files import sha256_of, write_parquet
from synth.dataset.manifest import SPLITS, read_manifest
from synth.dataset.names import KEYS
from synth.dataset.placement import OldRows
from synth.dataset.settings import STRUCTURE_CAP, Versions, make_settings, shape_of
from synth.dataset.stored import stored_rows
from synth.errors import RunError, SettingsError
from synth.run import generate as run
from synth.run.work import open_work
from validate.row.columns import ROW_SCHEMA

ROOT = Path(__file__).resolve().parents[3]
N = 120


def _generate(out: Path, n: int = N, **options: Any) -> None:
    workers = options.pop("workers", 1)
    shard_size = options.pop("shard_size", 1000)
    settings = make_settings(**{"verify": "text", **options})
    run.generate(settings, n, out, workers=workers, shard_size=shard_size)


def _tables(out: Path) -> dict[str, str]:
    return {p.relative_to(out).as_posix(): sha256_of(p) for p in sorted(out.glob("*/*.parquet"))}


def _shards(out: Path) -> dict[str, str]:
    return {name: digest for name, digest in _tables(out).items() if "/shard-" in name}


@pytest.fixture(scope="module")
def drawn() -> DrawnOnce:
    return DrawnOnce()


@pytest.fixture
def rows_drawn_once(drawn: DrawnOnce) -> Iterator[None]:
    """For tests of files; those of what is drawn draw anew."""
    with drawn.at_work():
        yield


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory, drawn: DrawnOnce) -> Path:
    out = tmp_path_factory.mktemp("dataset") / "out"
    with drawn.at_work():
        _generate(out)
    return out


def _rows_by_id(out: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for _, row in stored_rows(out)}


@pytest.mark.usefixtures("rows_drawn_once")
@pytest.mark.parametrize("shard_size", [1000, 5])
def test_load_dataset_gives_three_typed_splits(
    tmp_path: Path, dataset: Path, shard_size: int
) -> None:
    out = dataset
    if shard_size != 1000:
        out = tmp_path / "out"
        _generate(out, shard_size=shard_size)
        assert len(_shards(out)) >= 12
    loaded = load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == set(SPLITS)
    assert sum(len(split) for split in loaded.values()) == N
    expected = Features.from_arrow_schema(ROW_SCHEMA)
    for split in loaded.values():
        assert split.features == expected
    assert expected["cuda_plain"] == Value("string")
    counts = Counter(c for split in loaded.values() for c in split["category"])
    assert len(counts) == 6
    assert max(counts.values()) - min(counts.values()) <= 1


def test_a_dataset_of_one_row_loads(tmp_path: Path) -> None:
    _generate(tmp_path / "out", n=1)
    loaded = load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert [len(split) for split in loaded.values()] == [1]
    streamed = load_dataset(str(tmp_path / "out"), streaming=True)
    assert sum(1 for split in streamed.values() for _ in split) == 1


def test_streaming_gives_the_same_rows(dataset: Path) -> None:
    streamed = load_dataset(str(dataset), streaming=True)
    ids = {row["id"] for split in streamed.values() for row in split}
    assert ids == set(_rows_by_id(dataset))
    assert streamed["train"].features == Features.from_arrow_schema(ROW_SCHEMA)


def test_fewer_rows_are_a_prefix_of_more(tmp_path: Path, dataset: Path) -> None:
    _generate(tmp_path / "short", n=34)
    short, long = _rows_by_id(tmp_path / "short"), _rows_by_id(dataset)
    assert len(short) == 34
    assert all(long[row_id] == row for row_id, row in short.items())


def test_rows_are_distinct_and_splits_share_no_structure(dataset: Path) -> None:
    split_of: dict[str, str] = {}
    structures: Counter[str] = Counter()
    for split, row in stored_rows(dataset):
        assert split_of.setdefault(row["structure"], split) == split
        structures[row["structure"]] += 1
    assert max(structures.values()) <= STRUCTURE_CAP


def test_neighbouring_seeds_share_no_kernel_up_to_names(tmp_path: Path, dataset: Path) -> None:
    def rename_keys(out: Path) -> set[str]:
        return {program_keys(from_json(row["program"])).rename for _, row in stored_rows(out)}

    _generate(tmp_path / "other", seed=1)
    assert len(rename_keys(dataset)) == N
    assert len(rename_keys(tmp_path / "other") & rename_keys(dataset)) <= 1


def _subprocess(out: Path, *options: str, **environment: str) -> None:
    command = [sys.executable, "-m", "synth", "generate", "-n", "12", "-o", str(out), "--quiet"]
    done = subprocess.run(
        [*command, *options],
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_bytes_depend_on_neither_workers_nor_hash_seed_nor_the_cpus_maths(tmp_path: Path) -> None:
    _subprocess(tmp_path / "a", PYTHONHASHSEED="1")
    _subprocess(tmp_path / "b", "--workers", "2", PYTHONHASHSEED="2")
    tunables = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"
    _subprocess(tmp_path / "c", GLIBC_TUNABLES=tunables)
    assert _tables(tmp_path / "a") == _tables(tmp_path / "b") == _tables(tmp_path / "c")


@pytest.mark.usefixtures("rows_drawn_once")
def test_a_killed_run_goes_on_and_gives_the_same_bytes(tmp_path: Path, dataset: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "synth", "generate", "-n", str(N), "-o", str(out)]
    options = ["--verify", "text", "--quiet"]
    process = subprocess.Popen([*command, *options], cwd=ROOT, start_new_session=True)
    deadline_s = time.monotonic() + 600
    while not list((out / "work").glob("unit-*.parquet")):
        assert process.poll() is None
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert read_manifest(out) is None
    _generate(out)
    assert _tables(out) == _tables(dataset)
    assert not (out / "work").exists()


def test_ctrl_c_ends_soon_without_a_traceback(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "synth", "generate", "-n", "1200", "-o", str(out)]
    options = ["--verify", "text", "--workers", "2", "--quiet"]
    process = subprocess.Popen(
        [*command, *options], cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    deadline_s = time.monotonic() + 600
    while not list((out / "work").glob("unit-*.parquet")):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert len(list((out / "work").glob("unit-*.parquet"))) < 20


def test_a_finished_dataset_is_left_alone(dataset: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in dataset.rglob("*")}
    _generate(dataset)
    assert {p: p.stat().st_mtime_ns for p in dataset.rglob("*")} == before


def test_other_settings_are_refused_and_named(dataset: Path) -> None:
    before = _shards(dataset)
    with pytest.raises(SettingsError, match=r"seed is 0 there and 5 here"):
        _generate(dataset, seed=5)
    assert _shards(dataset) == before


@pytest.mark.usefixtures("rows_drawn_once")
def test_a_damaged_shard_is_made_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _generate(out, n=12)
    before = _shards(out)
    shard = next(iter(before))
    (out / shard).write_bytes((out / shard).read_bytes()[:-100])
    _generate(out, n=12)
    assert _shards(out) == before


def test_rows_are_never_deleted_by_asking_for_fewer(dataset: Path) -> None:
    before = _shards(dataset)
    with pytest.raises(SettingsError, match=f"holds {N} rows"):
        _generate(dataset, n=12)
    assert _shards(dataset) == before


@pytest.mark.usefixtures("rows_drawn_once")
def test_a_finished_dataset_grows(tmp_path: Path, dataset: Path) -> None:
    out = tmp_path / "out"
    _generate(out, n=30, shard_size=4)
    _generate(out, n=N)
    assert _rows_by_id(out) == _rows_by_id(dataset)
    manifest = read_manifest(out)
    assert manifest is not None
    assert {s["path"] for s in manifest.shards} == set(_shards(out))


@pytest.mark.usefixtures("rows_drawn_once")
def test_a_damaged_unit_is_made_again(tmp_path: Path, dataset: Path) -> None:
    out = tmp_path / "out"
    work = open_work(out, shape_of(make_settings(verify="text"), Versions.installed()), N, 1000)
    work.keep("unit-00000000-00000008", b"no Parquet").write_bytes(b"neither")
    _generate(out)
    assert _shards(out) == _shards(dataset)


def test_a_damaged_plan_is_named(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "plan.json").write_text("{")
    with pytest.raises(SettingsError, match=r"plan\.json is damaged"):
        _generate(tmp_path)


def test_the_card_names_what_is_there(dataset: Path) -> None:
    _, front, body = (dataset / "README.md").read_text().split("---\n", 2)
    found = yaml.safe_load(front)
    files = found["configs"][0]["data_files"]
    assert [entry["split"] for entry in files] == list(SPLITS)
    assert all(list(dataset.glob(entry["path"])) for entry in files)
    assert found["license"] == "apache-2.0"
    assert f"{N} GPU kernels" in body
    assert "neither compiled nor run" in body


def test_headers_come_with_their_licences(dataset: Path) -> None:
    assert (dataset / "include" / "builtin.h").is_file()
    assert "Apache License" in (dataset / "include" / "licenses" / "LICENSE.md").read_text()


@pytest.mark.usefixtures("rows_drawn_once")
def test_a_full_disk_is_said_and_the_run_goes_on(
    tmp_path: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("synth.run.finish.copy_headers", full)
        with pytest.raises(RunError, match=r"No space left on device.*finished units are kept"):
            _generate(out)
    assert read_manifest(out) is None
    _generate(out)
    assert _shards(out) == _shards(dataset)


@pytest.mark.usefixtures("rows_drawn_once")
def test_a_dataset_grows_with_the_keys_that_it_keeps(
    tmp_path: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their file is of these very rows, or they come from the programs; shards are the same."""
    kept, other = tmp_path / "kept", tmp_path / "other"
    _generate(kept, 30)
    keys = kept / KEYS
    shutil.copytree(kept, other)
    manifest = read_manifest(kept)
    assert manifest is not None
    renames = kept_renames(kept, manifest)
    assert renames is not None
    wanted = {program_keys(from_json(row["program"])).rename for _, row in stored_rows(kept)}
    assert {as_text(int(key)) for key in renames} == wanted
    (other / KEYS).write_bytes(keys.read_bytes()[:-1])
    assert kept_renames(other, manifest) is None
    manifest.shards[0]["sha256"] = "0" * 64
    assert kept_renames(kept, manifest) is None
    _generate(other)
    with monkeypatch.context() as patch:
        patch.setattr("synth.dataset.existing.program_keys", None)
        _generate(kept)
    assert _tables(kept) == _tables(other) == _tables(dataset)


def test_old_rows_come_in_pieces_that_hold_some(tmp_path: Path) -> None:
    """A shard that begins before a position may hold no row of that split's before it."""
    path = tmp_path / "shard.parquet"
    rows = [{"category": "one", "provenance": {"index": index}} for index in (5, 7)]
    write_parquet(path, pa.Table.from_pylist(rows))
    shard = Shard({"split": "train", "path": "shard.parquet"}, path, np.array([5, 7]))
    old = OldRows([shard], ("one",))
    counts = [[t.num_rows for t in old.before("train", end)] for end in (5, 6, 7, 8, 9)]
    assert counts == [[], [1], [], [1], []]
