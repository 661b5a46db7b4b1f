"""Rows in OpenCL C and HIP on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synth.check.targets import translated
from synth.dataset.stored import stored_rows
from synth.render.cuda.dialect.table import NoForm
from synth.rows.maker import Row
from validate.errors import OpenclUnavailable
from validate.opencl.runner import OpenclRunner

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "data" / "samples"


def pairsmith(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does."""
    start = "from synth.cli.main import main; main()"
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", start, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def formed() -> tuple[Row, Row]:
    """A sample that has a form and one that has none."""
    found: dict[bool, Row] = {}
    for _, row in stored_rows(SAMPLES):
        try:
            translated(row, "opencl")
            found.setdefault(True, row)
        except NoForm:
            found.setdefault(False, row)
    return found[True], found[False]


def dataset(folder: Path, rows: list[Row]) -> Path:
    """A folder with one shard of these rows."""
    (shard,) = list((SAMPLES).glob("test/*.parquet"))
    (folder / "test").mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=pq.read_schema(shard))
    pq.write_table(table, folder / "test" / "shard-00000.parquet")
    return folder


def test_show_prints_a_text_and_its_launch(formed: tuple[Row, Row]) -> None:
    done = pairsmith("show", SAMPLES, formed[0]["id"], "--target", "opencl")
    assert done.returncode == 0, done.stderr
    name = formed[0]["plain_launch"][0]["kernel"]
    assert "__kernel void " in done.stdout
    assert f" {name}(" in done.stdout
    for said in (f"// kernel {name}", "// global size: ", "// local size: ", "// schedule: "):
        assert said in done.stdout


def test_show_of_hip_says_that_it_was_not_run(formed: tuple[Row, Row]) -> None:
    done = pairsmith("show", SAMPLES, formed[0]["id"], "--target", "hip")
    assert done.stdout.startswith("#include <hip/hip_runtime.h>\n")
    assert done.stdout.endswith("// printed, and neither compiled nor run\n")


def test_a_row_without_a_form_is_a_line_and_another_schedule_helps(
    formed: tuple[Row, Row],
) -> None:
    refused = pairsmith("show", SAMPLES, formed[1]["id"], "--target", "opencl")
    assert refused.returncode == 2
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "the 32 threads of a warp" in refused.stderr
    helped = pairsmith(
        *("show", SAMPLES, formed[1]["id"], "--target", "opencl", "--schedule", "guarded")
    )
    assert "__kernel void" in helped.stdout


@pytest.mark.skipif(find_spec("pyopencl") is not None, reason="PyOpenCL is there")
def test_without_pyopencl_there_is_a_line() -> None:
    done = pairsmith("validate", SAMPLES, "--target", "opencl", "--quiet")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "pip install 'pairsmith[opencl]'" in done.stderr


def test_validate_reports_each_row_and_fails_with_one(
    formed: tuple[Row, Row], tmp_path: Path
) -> None:
    with OpenclRunner() as runner:
        try:
            runner.start()
        except OpenclUnavailable as missing:
            pytest.skip(str(missing))
    empty = formed[0]["reference"].replace("):\n", "):\n    return\n", 1)
    wrong = {**formed[0], "reference": empty}
    good = dataset(tmp_path / "good", list(formed))
    bad = dataset(tmp_path / "bad", [wrong])
    report = tmp_path / "report.json"
    done = pairsmith("validate", good, "--target", "opencl", "--report", report, "--quiet")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "1 agrees, 1 no_form" in done.stdout
    found = json.loads(report.read_text())
    assert [row["status"] for row in found["rows"]] == ["agrees", "no_form"]
    assert found["statuses"] == {"agrees": 1, "no_form": 1}
    failed = pairsmith("validate", bad, "--target", "opencl", "--quiet")
    assert failed.returncode == 1
    assert f"{formed[0]['id']}: " in failed.stdout
