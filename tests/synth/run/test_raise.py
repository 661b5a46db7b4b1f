"""Raising the verify level of a finished dataset: the bytes of a run that asked for it at once."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from crowded import crowded

from synth.dataset.settings import Settings, Versions, make_settings, shape_of
from synth.errors import SettingsError
from synth.run import generate as run
from synth.run.raise_level import is_raise

N = 16
"""So many rows that the finishing pass has to replace some of them."""


def _settings(verify: str, **more: Any) -> Settings:
    return make_settings(verify=verify, **crowded(N), **more)


def _shards(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.glob("*/*.parquet"))}


def _dataset_shards(out: Path) -> dict[str, bytes]:
    return {name: data for name, data in _shards(out).items() if "shard-" in name}


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("raise") / "straight"
    run.generate(_settings("run"), N, out, shard_size=13)
    return out


def test_raised_step_by_step_equals_straight(straight: Path, tmp_path: Path) -> None:
    for verify in ("text", "compile", "run"):
        manifest = run.generate(_settings(verify), N, tmp_path / "out", shard_size=13)
    assert _dataset_shards(tmp_path / "out") == _dataset_shards(straight)
    assert manifest.draws["displaced"]
    assert not (tmp_path / "out" / "work").exists()


def test_raised_and_grown_at_once_by_workers_in_other_shards(
    straight: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run.generate(_settings("text"), N // 2, out, shard_size=6)
    run.generate(_settings("run"), N, out, workers=2, shard_size=13)
    assert _dataset_shards(out) == _dataset_shards(straight)


def test_given_rows_are_not_drawn_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = run.generate(_settings("text"), N, out).draws
    after = run.generate(_settings("compile"), N, out).draws
    drawn_again = after["draws"] - before["draws"]
    assert drawn_again <= 20 * len(before["displaced"])


def _raise(out: Path) -> None:
    os.setpgrp()
    run.generate(_settings("run"), N, out, shard_size=13)


def test_a_raise_that_was_killed_goes_on(straight: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run.generate(_settings("text"), N, out)
    child = multiprocessing.get_context("spawn").Process(target=_raise, args=(out,))
    child.start()
    while child.is_alive() and not (out / "work" / "plan.json").is_file():
        time.sleep(0.02)
    time.sleep(3.0)
    assert child.pid is not None
    os.killpg(child.pid, signal.SIGKILL)
    child.join()
    run.generate(_settings("run"), N, out, shard_size=13)
    assert _dataset_shards(out) == _dataset_shards(straight)


def test_a_damaged_dataset_is_not_raised(tmp_path: Path) -> None:
    out = tmp_path / "out"
    manifest = run.generate(_settings("text"), 6, out)
    (out / manifest.shards[0]["path"]).write_bytes(b"PAR1")
    with pytest.raises(SettingsError, match="cannot be checked further"):
        run.generate(_settings("compile"), 6, out)


def test_only_the_level_may_differ_and_only_upwards() -> None:
    versions = Versions.installed("run")
    text = shape_of(_settings("text"), Versions.installed())
    compiled, ran = (shape_of(_settings(v), versions) for v in ("compile", "run"))
    other_arch = shape_of(_settings("compile", archs_asked=("sm_80",)), versions)
    assert is_raise(compiled, text)
    assert is_raise(ran, compiled)
    assert is_raise(other_arch, text)
    assert not is_raise(compiled, ran)
    assert not is_raise(ran, ran)
    assert not is_raise(other_arch, compiled)
    assert not is_raise({**ran, "seed": 5}, text)
    assert not is_raise({**ran, "warp version": "1.0"}, text)


def test_rows_that_fail_at_the_higher_level_are_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that refuses some texts must lead both ways to the same rows."""
    from synth.rows import runners, verify
    from validate.nvrtc.compiler import CompileResult, CompileRunner

    class Picky(CompileRunner):
        def compile(self, rows: Any, archs: Any = None) -> list[CompileResult]:
            found = super().compile(rows, archs)
            return [
                CompileResult(r.id, "compile_error", [], "refused") if r.id[0] in "0123" else r
                for r in found
            ]

    monkeypatch.setattr(runners, "CompileRunner", Picky)
    verify.verifier.cache_clear()
    try:
        run.generate(_settings("text"), N, tmp_path / "out")
        raised = run.generate(_settings("compile"), N, tmp_path / "out")
        run.generate(_settings("compile"), N, tmp_path / "straight")
    finally:
        verify.verifier.cache_clear()
    assert _dataset_shards(tmp_path / "out") == _dataset_shards(tmp_path / "straight")
    assert raised.draws["failed_checks"] > 0
    lines = (tmp_path / "out" / "rejected" / "rejected.jsonl").read_text().splitlines()
    assert {json.loads(line)["reason"] for line in lines} == {"compile_error"}
    shards = (tmp_path / "out").glob("*/shard-*.parquet")
    ids = [row_id for path in shards for row_id in pq.read_table(path)["id"].to_pylist()]
    assert len(ids) == N
    assert not [row_id for row_id in ids if row_id[0] in "0123"]
