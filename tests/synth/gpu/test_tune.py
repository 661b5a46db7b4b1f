"""Tunings as far as a machine without a GPU can show them: their jobs, their files, their ends."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from datasets import load_dataset

from synth.card.gpu_summary import update_card
from synth.cli.main import main
from synth.errors import SettingsError
from synth.gpu.rows import read_rows_and_programs
from synth.gpu.tune import Job, Journal, job_of, own_over_best, records_of, write_tune
from validate.gpu.ceilings import Peaks
from validate.gpu.device import Device
from validate.gpu.result import TextResult
from validate.gpu.runner import RowVerdict
from validate.gpu.tune import WARP, Trial
from validate.row.sizes import describe
from validate.statuses import GpuStatus

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
DEVICE = Device(0, "NVIDIA H200", "GPU-1", "sm_90", 1 << 37, 132, 1 << 26, "13.0", "13.0", "14.0")
PEAKS = Peaks(4e12, {"float32": 6e13, "float64": 3e13})


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    return [job_of(row, most=3) for row in islice(read_rows_and_programs(SAMPLES), 12)]


def timed(job: Job) -> RowVerdict:
    """A verdict in which each later contender takes longer, and Warp's text longest."""
    trials = [
        Trial(contender, describe(sizes), GpuStatus.PASSED, "", 7, time_us, time_us, 0.1)
        for sizes in job.row["tune"]["sizes"]
        for contender, time_us in (
            *((number, 10.0 + number) for number in range(len(job.schedules))),
            (WARP, 30.0),
        )
    ]
    return RowVerdict(job.row, DEVICE.uuid, 0, alone=False, trials=trials)


def all_records(jobs: list[Job]) -> list[dict[str, Any]]:
    return [record for job in jobs for record in records_of(job, timed(job), DEVICE)]


def test_a_row_s_own_schedule_comes_first_and_none_twice(jobs: list[Job]) -> None:
    for job in jobs:
        assert job.schedules[0].to_json() == job.row["schedule"]
        assert job.row["tune"]["contenders"][0]["cuda_plain"] == job.row["cuda_plain"]
        assert len(set(job.schedules)) == len(job.schedules) <= 3
    assert any(len(job.schedules) > 1 for job in jobs)


def test_ranks_count_plain_texts_of_a_size(jobs: list[Job]) -> None:
    for record in all_records(jobs):
        rank = None if record["contender"] == "warp" else record["time_us"] - 9.0
        assert record["rank"] == rank
    assert set(own_over_best(all_records(jobs))) == {1.0}


def test_a_row_whose_warp_text_fails_has_a_record_that_says_so(jobs: list[Job]) -> None:
    result = TextResult("forward", GpuStatus.WRONG_VALUE, "out[3] is 2.0")
    verdict = RowVerdict(jobs[0].row, DEVICE.uuid, 0, alone=True, results=[result])
    (record,) = records_of(jobs[0], verdict, DEVICE)
    found = record["contender"], record["status"], record["time_us"], record["rank"]
    assert found == ("warp", "wrong_value", None, None)


def test_schedules_load_by_name_and_split(tmp_path: Path, jobs: list[Job]) -> None:
    data = tmp_path / "data"
    shutil.copytree(SAMPLES, data)
    (data / "gpu").mkdir()
    rows = [job.row for job in jobs]
    paths = write_tune(data, rows, all_records(jobs), DEVICE, PEAKS)
    assert paths[0] == data / "gpu" / "tune-nvidia-h200.parquet"
    assert update_card(data)
    found = load_dataset(str(data), "schedules", cache_dir=str(tmp_path / "cache"))
    assert set(found) == {row["split"] for row in rows}
    split_of = {row["id"]: row["split"] for row in rows}
    for split, entries in found.items():
        for entry in entries:
            assert split_of[entry["id"]] == split
            assert entry["warp_time_us"] == 30.0
            assert entry["share_of_copy"] > 0
    own = {e["id"]: e["text"] for part in found.values() for e in part if e["own"]}
    assert own == {row["id"]: row["cuda_plain"] for row in rows}
    default = load_dataset(str(data), cache_dir=str(tmp_path / "other"))
    assert sum(default.num_rows.values()) == 30


def test_stats_and_card_say_how_good_published_schedules_are(
    tmp_path: Path, jobs: list[Job]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(SAMPLES, data)
    (data / "gpu").mkdir()
    write_tune(data, [job.row for job in jobs], all_records(jobs), DEVICE, PEAKS)
    update_card(data)
    assert "| NVIDIA H200 | 12 |" in (data / "README.md").read_text()
    done = CliRunner().invoke(main, ["stats", str(data), "--json"])
    (tuned,) = json.loads(done.stdout)["tunings"]
    assert tuned["within"] == {"1.1": 1.0, "1.25": 1.0}
    assert tuned["warp_over_plain"] == 3.0
    assert "12 rows tuned on NVIDIA H200" in CliRunner().invoke(main, ["stats", str(data)]).stdout


def test_a_tuning_goes_on_after_the_last_whole_line(tmp_path: Path, jobs: list[Job]) -> None:
    (tmp_path / "gpu").mkdir()
    journal = Journal(tmp_path, DEVICE, {"rows": 12})
    for job in jobs[:2]:
        journal.add(job.row["id"], records_of(job, timed(job), DEVICE))
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-40])
    again = Journal(tmp_path, DEVICE, {"rows": 12})
    assert again.done == {jobs[0].row["id"]}
    again.add(jobs[1].row["id"], records_of(jobs[1], timed(jobs[1]), DEVICE))
    assert again.path.read_bytes() == whole
    with pytest.raises(SettingsError, match="other settings"):
        Journal(tmp_path, DEVICE, {"rows": 13})


def test_a_device_s_schedules_take_the_place_of_its_earlier_ones(
    tmp_path: Path, jobs: list[Job]
) -> None:
    (tmp_path / "gpu").mkdir()
    rows = [job.row for job in jobs]
    write_tune(tmp_path, rows, all_records(jobs), DEVICE, PEAKS)
    train = tmp_path / "schedules" / "train-nvidia-h200.parquet"
    before = pq.read_metadata(train).num_rows
    write_tune(tmp_path, rows, all_records(jobs[:1]), DEVICE, PEAKS)
    left = sum(pq.read_metadata(p).num_rows for p in (tmp_path / "schedules").iterdir())
    assert 0 < left < before
