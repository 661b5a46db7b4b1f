"""The samples on a GPU: every text passes, it ran there, and what is written says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from gpu_tools import ROOT, run, statuses

from validate.gpu.bench import Turn, device_times
from validate.gpu.device import Device, load_cupy
from validate.gpu.launch import DeviceArena
from validate.gpu.result import COLUMN_OF

pytestmark = pytest.mark.gpu


def test_every_text_of_the_samples_passes(
    devices: list[Device], rows: list[dict[str, Any]], include: Path
) -> None:
    verdicts = run(rows, devices, include, workers=4)
    assert set(verdicts) == {row["id"] for row in rows}
    failed = {
        (key, r.text, r.status, r.reason)
        for key, v in verdicts.items()
        for r in v.results
        if r.status != "passed"
    }
    assert not failed
    for row in rows:
        ran = set(statuses(verdicts[row["id"]]))
        wanted = {text for text, column in COLUMN_OF.items() if row[column] is not None}
        assert {"forward", "plain"} <= wanted
        assert ran == wanted, row["id"]


def test_launches_took_time_on_the_device_and_were_large_as_well(
    devices: list[Device], rows: list[dict[str, Any]], include: Path
) -> None:
    for verdict in run(rows[:6], devices, include, workers=2).values():
        assert verdict.device == devices[0].uuid
        for result in verdict.results:
            assert result.time_us is not None
            assert result.time_us > 0
            assert result.large_sizes is not None
            assert result.large_time_us is not None


def test_machine_code_is_kept_and_used_again(
    devices: list[Device], rows: list[dict[str, Any]], include: Path, tmp_path: Path
) -> None:
    few = [{**row, "cuda_plain_backward": None} for row in rows[:4]]
    first = run(few, devices, include, cubins=tmp_path, large_elements=0)
    assert sum(v.spent.compiled for v in first.values()) == 2 * len(few)
    assert len(list(tmp_path.glob("*.cubin"))) == 2 * len(few)
    again = run(few, devices, include, cubins=tmp_path, large_elements=0)
    assert sum(v.spent.compiled for v in again.values()) == 0
    assert all(v.passed for v in again.values())


def test_timing_leaves_arrays_as_drawn(devices: list[Device]) -> None:
    import numpy as np

    arena = DeviceArena({"x": np.arange(5, dtype=np.float32)})
    calls = SimpleNamespace(enqueue=lambda: arena.block.fill(0))
    ready: Any = SimpleNamespace(arena=arena, calls=lambda: calls)
    assert len(device_times([Turn.of(ready)])) == 21
    arena.fetch()
    assert arena.array("x").tolist() == [0, 1, 2, 3, 4]


def test_buffers_lie_on_the_device(devices: list[Device]) -> None:
    import numpy as np

    cupy = load_cupy()
    arena = DeviceArena({"x": np.arange(5, dtype=np.float32)})
    found = cupy.cuda.runtime.pointerGetAttributes(arena.address("x"))
    assert (found.type, found.device) == (2, cupy.cuda.runtime.getDevice())
    arena.block[:] = 0
    arena.fetch()
    assert not arena.array("x").any()


def test_command_writes_results_beside_the_shards(
    devices: list[Device], dataset: Path, include: Path, tmp_path: Path
) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(dataset, copy)
    before = {p: p.read_bytes() for p in sorted(copy.rglob("*.parquet"))}
    command = ["gpu", "run", str(copy), "--include", str(include), "--limit", "5", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "synth", *command], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert devices[0].uuid in done.stdout
    assert all(path.read_bytes() == data for path, data in before.items())
    (path,) = (copy / "gpu").glob("run-*.parquet")
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"pairsmith"])
    assert about["devices"][0]["uuid"] == devices[0].uuid
    assert about["figures"]["rows"] == 5
    assert set(table["status"].to_pylist()) == {"passed"}
    assert set(table["device_uuid"].to_pylist()) == {devices[0].uuid}
