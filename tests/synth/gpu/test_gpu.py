"""The GPU suite as far as a machine without a GPU can show it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from datasets import load_dataset

from synth.card.gpu_summary import BEGIN, END, card_section, gpu_runs, update_card
from synth.cli.main import main
from synth.errors import SettingsError
from synth.gpu.bench import BENCH_SCHEMA, Bench, bench_records, choose_rows
from synth.gpu.output import RUN_SCHEMA, ready_folder, write_run
from synth.gpu.report import markdown
from synth.gpu.rows import read_rows, read_rows_and_programs
from synth.gpu.run import run_dataset
from synth.gpu.work import work_of
from synth.rows.maker import Row
from validate.errors import GpuUnavailable
from validate.gpu.bench import Timing
from validate.gpu.ceilings import Peaks
from validate.gpu.device import Device, devices
from validate.gpu.large import as_wanted, bytes_moved, scaled_sizes, sizes_in_use
from validate.gpu.peers import NoPeer, peer_of, peer_source
from validate.gpu.result import TextResult
from validate.gpu.runner import GpuOptions, RowVerdict
from validate.oracle.reference import run_reference
from validate.row.inputs import draw_inputs
from validate.row.sizes import describe, evaluate_all, middle, own_sizes, symbols

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "data" / "samples"
_BLOCKED = ("warp", "datasets", "rich", "fastjsonschema", "yaml", "ray", "matplotlib")


def has_gpu() -> bool:
    try:
        return bool(devices())
    except GpuUnavailable:
        return False


def test_the_suite_imports_neither_warp_nor_datasets() -> None:
    modules = [
        "synth.cli.main",
        "synth.gpu.run",
        "synth.gpu.bench",
        "synth.gpu.tune",
        "validate.gpu.runner",
        "validate.gpu.case",
    ]
    modules += [
        "validate.gpu.worker",
        "validate.gpu.cubins",
        "validate.gpu.bench",
        "validate.gpu.ceilings",
    ]
    block = f"import sys; sys.modules.update(dict.fromkeys({_BLOCKED}))"
    code = f"{block}; import {', '.join(modules)}; synth.cli.main.main(['gpu', 'run', '--help'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Compile and launch" in done.stdout


@pytest.mark.skipif(has_gpu(), reason="this machine has a GPU")
@pytest.mark.parametrize("command", ["run", "bench", "tune"])
def test_without_a_gpu_it_says_so_and_ends(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "synth", "gpu", command, str(SAMPLES), "--quiet"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("pairsmith: ")
    assert "GPU" in line
    assert not (SAMPLES / "gpu").exists()


def test_machine_code_is_made_once_for_each_text(tmp_path: Path) -> None:
    command = ["gpu", "compile", str(SAMPLES), "-o", str(tmp_path), "--arch", "sm_90"]
    done = CliRunner().invoke(main, [*command, "--limit", "3", "--quiet"])
    assert done.exit_code == 0, done.output
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*")}
    backward = sum(row["cuda_plain_backward"] is not None for row in read_rows(SAMPLES, 3))
    assert len(files) == 2 * 3 + backward
    assert all(path.read_bytes()[:4] == b"\x7fELF" for path in files)
    again = CliRunner().invoke(main, [*command, "--limit", "3", "--quiet"])
    assert again.exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*")} == files


def test_bad_requests_are_one_line_each(tmp_path: Path) -> None:
    compile_ = ["gpu", "compile", str(SAMPLES), "-o", str(tmp_path / "made")]
    for command, what in (
        ([*compile_, "--arch", "sm_1"], "sm_1"),
        ([*compile_, "--arch", "sm_90", "--include", str(tmp_path)], "headers"),
        (["gpu", "compile", str(tmp_path), "-o", str(tmp_path), "--arch", "sm_90"], "no dataset"),
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 2
        assert what in done.output
        assert "Traceback" not in done.output


def test_a_text_that_does_not_compile_is_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(SAMPLES, data)
    (data / "manifest.json").unlink()
    path = next(data.glob("train/*.parquet"))
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[1]["cuda_plain"] = rows[1]["cuda_plain"].replace("{", "{ no_such_thing;", 1)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    command = ["gpu", "compile", str(data), "-o", str(tmp_path / "made"), "--arch", "sm_90"]
    done = CliRunner().invoke(main, [*command, "--limit", "3", "--quiet"])
    assert done.exit_code == 1
    assert rows[1]["id"] in done.output
    assert "no_such_thing" in done.output


def scale_row() -> dict[str, Any]:
    """A launch over rows: two loops, a matrix product, a helper."""
    row = next(iter(read_rows(SAMPLES)))
    size = {"symbol": "n", "value": 64, "min": 1, "multiple_of": 1}
    return {**row, "sizes": [size], "launch": {"dim": ["n"], "block_dim": 256}}


def test_bytes_and_operations_are_counted_from_the_row() -> None:
    def var(name: str, type_: str) -> dict[str, str]:
        return {"_": "Var", "name": name, "type": type_}

    def load(name: str) -> dict[str, Any]:
        array = var(name, "array1[mat33[float32]]")
        return {"_": "Load", "array": array, "indices": [], "type": "mat3x3[float32]"}

    product = {
        "_": "Op",
        "op": "mul",
        "args": [load("a"), load("a")],
        "type": "mat3x3[float32]",
    }
    loop = {
        "_": "For",
        "name": "k",
        "start": {"_": "Const", "value": 0, "type": "int32"},
        "stop": {"_": "Extent", "array": var("a", ""), "axis": 0, "type": "int32"},
        "step": 1,
        "body": [{"_": "Assign", "name": "c", "value": product}],
    }
    common = {"kind": "array", "shape": ["n"], "low": "0", "high": "1", "fields": []}
    args = [
        {**common, "name": "a", "dtype": "mat3x3[float32]", "role": "in", "init": "uniform"},
        {**common, "name": "b", "dtype": "float64", "role": "inout", "init": "uniform"},
    ]
    row = scale_row() | {
        "args": args,
        "program": json.dumps({"functions": [], "kernel": {"body": [loop]}}),
    }
    work = work_of(row, {"n": 10})
    assert work.bytes_moved == 10 * 36 + 2 * 10 * 8
    assert work.operations == 10 * 10 * 2 * 27
    assert work.scalar == "float32"


def test_every_program_can_be_counted(all_rows: list[Row]) -> None:
    for row in all_rows:
        work = work_of(row, own_sizes(row["sizes"]))
        assert work.bytes_moved > 0
        assert work.operations >= 0


def test_a_benchmark_counts_work_at_the_sizes_that_were_timed(all_rows: list[Row]) -> None:
    row = all_rows[0]
    device = Device(0, "a GPU", "GPU-1", "sm_90", 1 << 30, 1, 1, "1", "13", "14")
    sizes = sizes_in_use(row, 10_000)
    timing = Timing("warp", 10_000, describe(sizes), 21, 2.0, 1.0, 0.5)
    peaks = Peaks(1e12, {"float32": 1e13, "float64": 1e12})
    verdict = RowVerdict(row, device.uuid, 0, False, timings=[timing])
    (record,) = bench_records(Bench([device], peaks, [verdict]))
    work = work_of(row, sizes)
    assert set(record) == set(BENCH_SCHEMA.names)
    assert (record["bytes_moved"], record["operations"]) == (work.bytes_moved, work.operations)
    assert record["gb_per_s"] == work.bytes_moved / 2e-6 / 1e9


def test_large_shapes_have_about_so_many_threads(all_rows: list[Row]) -> None:
    for row in all_rows:
        sizes = scaled_sizes(row, 1 << 16)
        threads = np.prod(evaluate_all(row["launch"]["dim"], sizes))
        assert threads < 1 << 18, (row["id"], sizes)
        full = bytes_moved(row, {name: 2 * size for name, size in sizes.items()}) > 1 << 30
        assert full or threads > 1 << 15, (row["id"], sizes)
        for entry in row["sizes"]:
            assert sizes[entry["symbol"]] % max(1, entry["multiple_of"]) == 0


@pytest.mark.parametrize("elements", [1_000, 1_000_000, 10_000_000])
def test_a_benchmark_is_at_the_regime(all_rows: list[Row], elements: int) -> None:
    beside = 0
    for row in all_rows:
        dim, entries = row["launch"]["dim"], {e["symbol"]: e for e in row["sizes"]}
        sizes = sizes_in_use(row, elements)
        counted = {name for extent in dim for name in symbols(extent)}
        assert list(sizes) == [span["symbol"] for span in row["regime"]]
        for span in row["regime"]:
            size, entry = sizes[span["symbol"]], entries[span["symbol"]]
            assert size >= entry["min"]
            assert size % max(1, entry["multiple_of"]) == 0
            if span["symbol"] not in counted:
                beside += 1
                between = middle(span["low"], span["high"])
                assert between <= size < between + max(1, entry["multiple_of"])
        threads = np.prod(evaluate_all(dim, sizes))
        assert bytes_moved(row, sizes) <= 1 << 30
        assert threads < 2 * elements, (row["id"], sizes)
        twice = {n: 2 * size if n in counted else size for n, size in sizes.items()}
        full = bytes_moved(row, twice) > 1 << 30
        assert full or threads > elements / 2, (row["id"], sizes)
    assert beside >= 5


def test_a_benchmark_of_a_row_without_a_regime_is_at_its_own_sizes(all_rows: list[Row]) -> None:
    for row in all_rows:
        assert sizes_in_use({**row, "regime": None}, 1 << 16) == scaled_sizes(row, 1 << 16)


def test_a_size_at_its_least_leaves_the_rest_to_the_others(all_rows: list[Row]) -> None:
    # Two sizes, each of them counted once.
    row = next(
        row
        for row in all_rows
        if len({*row["launch"]["dim"]}) == 2 and all(map(str.isidentifier, row["launch"]["dim"]))
    )
    few, many = row["launch"]["dim"]
    ends = {few: 2, many: 10**6}
    regime = [
        {**span, "low": end, "high": end}
        for span in row["regime"]
        for end in [ends.get(span["symbol"], span["low"])]
    ]
    sizes = sizes_in_use({**row, "regime": regime}, 1_000)
    least = {e["symbol"]: max(1, e["min"]) for e in row["sizes"]}
    assert sizes[few] == least[few]
    assert 1_000 <= sizes[few] * sizes[many] < 2_000


def test_a_dataset_of_an_older_version_is_refused_in_one_line(tmp_path: Path) -> None:
    path = next(SAMPLES.glob("test/*.parquet"))
    (tmp_path / "old" / "test").mkdir(parents=True)
    table = pq.read_table(path).drop_columns(["regime"])
    pq.write_table(table, tmp_path / "old" / "test" / path.name)
    for read in (read_rows, read_rows_and_programs):
        with pytest.raises(SettingsError, match=r"its rows have no .*\bregime$"):
            list(read(tmp_path / "old"))


def test_array_code_agrees_with_the_reference(all_rows: list[Row]) -> None:
    agreed = 0
    for row in all_rows:
        try:
            peer = peer_of(row)
        except NoPeer:
            continue
        sizes = own_sizes(row["sizes"])
        inputs = draw_inputs(row["args"], sizes, row["input_seed"])
        given = [as_wanted(inputs[a["name"]]) for a in row["args"] if a["role"] != "out"]
        dim = evaluate_all(row["launch"]["dim"], sizes)
        wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        outputs = [a for a in row["args"] if a["kind"] == "array" and a["role"] != "in"]
        found = dict(zip([a["name"] for a in outputs], peer(np, *given), strict=True))
        shapes = {name: np.shape(value) for name, value in found.items()}
        if shapes != {name: value.shape for name, value in wanted.items()}:
            continue
        for name, value in found.items():
            if wanted[name].dtype.kind == "f":
                np.testing.assert_allclose(value, wanted[name], rtol=1e-9, atol=1e-9)
                agreed += 1
    assert agreed > 5


def test_array_code_is_refused_where_threads_decide() -> None:
    row = scale_row() | {
        "kernel_name": "f",
        "reference": "def f(dim, x, y):\n    for i in range(dim[0]):\n        if x[i] > 0:\n"
        "            y[i] = x[i]\n",
    }
    with pytest.raises(NoPeer):
        peer_source(row)


def verdict(**more: Any) -> dict[str, Any]:
    return {
        "id": "a",
        "text": "forward",
        "status": "passed",
        "driver": "13.0",
        "nvrtc": "13.0",
    } | more


def test_results_lie_beside_the_shards_and_are_shown(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(SAMPLES, data)
    before = load_dataset(str(data), cache_dir=str(tmp_path / "one"))
    about = {"devices": [{"name": "NVIDIA H200", "driver": "13.0"}]}
    records = [verdict(), verdict(text="plain", status="wrong_value"), verdict(id="b")]
    path = write_run(data, "run", records, RUN_SCHEMA, about)
    assert path == data / "gpu" / "run-nvidia-h200.parquet"
    (found,) = gpu_runs(data)
    assert (found["rows"], found["device"]) == (2, "NVIDIA H200")
    assert found["texts"] == {"forward/passed": 2, "plain/wrong_value": 1}
    assert update_card(data)
    card = (data / "README.md").read_text()
    assert card.count(BEGIN) == card.count(END) == 1
    assert (
        "| NVIDIA H200, driver for CUDA 13.0, NVRTC 13.0 | 2 | 2 of 2 | 0 of 0 | 0 of 1 |" in card
    )
    assert card_section(data) in card
    done = CliRunner().invoke(main, ["stats", str(data), "--json"])
    assert json.loads(done.stdout)["gpu"] == [found]
    after = load_dataset(str(data), cache_dir=str(tmp_path / "two"))
    assert {s: after[s].num_rows for s in after} == {s: before[s].num_rows for s in before}


def test_a_folder_that_cannot_be_written_is_named_first(tmp_path: Path) -> None:
    ready_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["gpu"]
    assert not list((tmp_path / "gpu").iterdir())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "gpu").write_text("a file")
    with pytest.raises(SettingsError, match="cannot write to"):
        ready_folder(tmp_path / "other")


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    (tmp_path / "gpu").mkdir()
    (tmp_path / "gpu" / "run-x.parquet").write_bytes(b"PAR1 no")
    done = CliRunner().invoke(main, ["stats", str(SAMPLES), "--json"])
    assert done.exit_code == 0
    with pytest.raises(ValueError, match=r"run-x\.parquet cannot be read"):
        gpu_runs(tmp_path)


def timing(contender: str, median_us: float, elements: int = 1000) -> dict[str, Any]:
    return {
        "id": "a",
        "category": "math",
        "contender": contender,
        "elements": elements,
        "median_us": median_us,
        "bytes_moved": 8000,
        "operations": 2000,
        "scalar": "float32",
        "gb_per_s": 8000 / median_us / 1e3,
        "gflop_per_s": 2000 / median_us / 1e3,
        "share_of_copy": 0.5,
    }


ABOUT = {
    "devices": [
        {"name": "GPU", "arch": "sm_90", "driver": "13.0", "cuda": "13.0", "cupy": "14.0"},
    ],
    "peaks": {"copy_bytes_per_s": 4e12, "operations_per_s": {"float32": 6e13, "float64": 3e13}},
    "versions": {"nvrtc": "13.0", "pairsmith": "0"},
}


def test_the_table_has_ratios_side_by_side() -> None:
    records = [timing("warp", 4.0), timing("plain", 2.0), timing("numpy", 50.0)]
    lines = markdown(records, ABOUT).splitlines()
    (line,) = [line for line in lines if line.startswith("| math")]
    assert line == "| math | 1,000 | 1 | 4.0 | 2.0 | 2.00 | 4 | 50.0 % | 25 |  |"


def test_the_roofline_is_a_picture(tmp_path: Path) -> None:
    from synth.gpu.roofline import draw

    path = tmp_path / "roofline.png"
    draw(path, [timing("warp", 4.0), timing("plain", 2.0)], ABOUT)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_rows_of_a_benchmark_are_even_over_cells() -> None:
    rows = list(read_rows(SAMPLES))
    cells = {(row["category"], row["level"]) for row in choose_rows(rows, len(rows))}
    assert len(cells) == len(rows)
    assert {f.name for f in BENCH_SCHEMA} >= {"median_us", "spread_us", "share_of_peak"}


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_told_to_end_writes_what_it_has_done(
    ends: signal.Signals, tmp_path: Path
) -> None:
    """Verdicts come from a stand-in for the GPU; the signal is a real one."""
    data = tmp_path / "data"
    shutil.copytree(SAMPLES, data)
    device = Device(0, "A device", "GPU-1", "sm_90", 1 << 30, 1, 1 << 20, "13.0", "13.0", "14.0")

    def runner(rows: Any, _options: Any) -> Any:
        for number, row in enumerate(rows):
            if number == 3:
                os.kill(os.getpid(), ends)
                time.sleep(5)
            yield RowVerdict(row, device.uuid, 0, False, [TextResult("plain")])

    options = GpuOptions(include_dir=tmp_path)
    run, path = run_dataset(data, [device], options, elsewhere=runner)
    assert run.broken_off
    assert not run.good
    assert pq.read_table(path).num_rows == len(run.verdicts) == 3
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
