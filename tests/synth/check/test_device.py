"""``python`` run on Warp's CPU device: what stands in for retranslation under another Warp."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hand_rows import Row, all_rows, soft_clamp

from synth.check.dataset import check_dataset
from synth.check.device_run import DeviceRunner
from synth.dataset.settings import make_settings
from synth.run import generate as run


@pytest.fixture(scope="module")
def device() -> Iterator[DeviceRunner]:
    with DeviceRunner() as runner:
        yield runner


def test_rows_of_every_kind_of_parameter_agree(device: DeviceRunner) -> None:
    assert device.problems(all_rows()) == [""] * len(all_rows())


def test_another_python_is_noticed(device: DeviceRunner) -> None:
    row = soft_clamp()
    bad = {**row, "python": row["python"].replace("+ 1.0", "+ 1.5", 1), "id": "0" * 16}
    assert bad["python"] != row["python"]
    (reason,) = device.problems([bad])
    assert "wrong_value: result[" in reason


def test_rows_of_another_warp_are_run_on_the_device(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run.generate(make_settings(verify="run"), 6, out)
    (out / "manifest.json").unlink()

    def of_another_warp(row: Row) -> None:
        row["provenance"]["warp"] = "1.18.0"
        # What another version writes: the same kernel in other words.
        row["cuda_forward"] = row["cuda_forward"].replace("// forward", "// forward pass")

    for path in out.glob("*/shard-*.parquet"):
        table = pq.read_table(path)
        rows = table.to_pylist()
        for row in rows:
            of_another_warp(row)
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    report = check_dataset(out, "run")
    assert report.good, report.as_dict()
