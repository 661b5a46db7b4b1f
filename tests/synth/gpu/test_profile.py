"""What Nsight Compute prints, as records: of a real run on an H100, three launches of two rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from synth.cli.main import main
from synth.errors import SettingsError
from synth.gpu.output import write_run
from synth.gpu.profile import (
    PROFILE_SCHEMA,
    Profiling,
    command,
    find_ncu,
    parse_log,
    records_of,
    summary,
)
from validate.gpu.device import Device

ROOT = Path(__file__).resolve().parents[3]
LOG = (ROOT / "tests" / "data" / "nsight_compute.csv").read_text("utf-8")
DEVICE = Device(0, "NVIDIA H100 80GB HBM3", "GPU-0", "sm_90", 1, 132, 1, "13.0", "13.0", "14.2")
ROWS = [
    {"id": "a" * 16, "category": "arithmetic", "idiom": "red_black_sweep", "level": 1},
    {"id": "b" * 16, "category": "atomic", "idiom": "message_passing", "level": 1},
]


def _launched(row: dict[str, Any], text: str, threads: int) -> dict[str, Any]:
    told = {"id": row["id"], "sizes": "n=4194304", "text": text, "status": "passed"}
    return {**told, "block_threads": threads}


LAUNCHED = [
    _launched(ROWS[0], "plain", 256),
    _launched(ROWS[0], "warp", 256),
    _launched(ROWS[1], "plain", 128),
]


def _records() -> list[dict[str, Any]]:
    return records_of(ROWS, LAUNCHED, list(parse_log(LOG)), DEVICE)


def test_figures_are_in_units_of_the_schema(tmp_path: Path) -> None:
    first, second, third = _records()
    assert (first["kernel"], third["kernel"]) == ("sor_half_sweep", "message_passing")
    assert first["time_us"] == pytest.approx(18.144)
    assert (first["registers"], first["dram_bytes"]) == (28, 35_797_504)
    assert first["achieved_occupancy"] == pytest.approx(0.8741)
    assert first["sectors_per_load"] == pytest.approx(3_275_776 / 786_432)
    assert third.get("sectors_per_store") is None
    assert second["static_shared_bytes"] == 1024
    assert third["stalls"]["long_scoreboard"] == pytest.approx(326.22)
    assert all(r["occupancy"] == r["rules_occupancy"] == 1.0 for r in (first, second, third))
    (tmp_path / "gpu").mkdir()
    about = {"devices": [{"name": DEVICE.name}]}
    path = write_run(tmp_path, "profile", _records(), PROFILE_SCHEMA, about)
    assert path.name == "profile-nvidia-h100-80gb-hbm3.parquet"


def test_a_text_that_was_not_launched_takes_no_figures_of_another() -> None:
    lost = {"id": ROWS[0]["id"], "sizes": "n=1", "text": "warp", "status": "compile_error"}
    launched = [LAUNCHED[0], {**lost, "reason": "refused"}, LAUNCHED[2]]
    measured = [row for row in parse_log(LOG) if "cuda_kernel" not in row["Kernel Name"]]
    found = records_of(ROWS, launched, measured, DEVICE)
    assert [record.get("kernel") for record in found] == ["sor_half_sweep", None, "message_passing"]
    lines = summary(found)
    assert lines[0].endswith("warp: compile_error: refused")
    assert lines[-1] == "occupancy by the rules is Nsight Compute's for 2 of 2"


def test_another_occupancy_than_the_rules_give_is_counted() -> None:
    lines = summary(
        records_of(ROWS, LAUNCHED, list(parse_log(LOG.replace('"100"', '"75"'))), DEVICE)
    )
    assert lines[-1].endswith("for 0 of 3")
    assert "waits mostly for long_scoreboard (1)" in "\n".join(lines)


def test_launches_that_were_not_measured_are_told() -> None:
    with pytest.raises(SettingsError, match="fewer launches"):
        records_of(ROWS, LAUNCHED, list(parse_log(LOG))[:2], DEVICE)
    assert list(parse_log("==ERROR== no permission")) == []


def test_clocks_are_left_alone_and_a_missing_program_is_named(tmp_path: Path) -> None:
    told = " ".join(command(Profiling(tmp_path, 1 << 22, "ncu", 60.0), tmp_path))
    assert "--clock-control none" in told
    assert "--profile-from-start off" in told
    with pytest.raises(SettingsError, match="no-such-ncu"):
        find_ncu("no-such-ncu")


def test_without_a_gpu_one_line_says_so() -> None:
    done = CliRunner().invoke(main, ["gpu", "profile", str(ROOT / "data" / "samples")])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
