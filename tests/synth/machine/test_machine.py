"""The configuration `lowered`, made of the samples with the real tools."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import kills
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from datasets import load_dataset

import pairsmith
from synth.card.gpu_summary import update_card
from synth.card.lowered import lowered, stale_line
from synth.cli.machine import beside_lines
from synth.cli.main import main
from synth.dataset.files import sha256_of, write_parquet
from synth.dataset.lowered import lowered_records, measured_resources
from synth.errors import SettingsError
from synth.machine import dataset as machine
from synth.machine.dataset import Wanted, lower_dataset
from synth.machine.records import records_of
from synth.publish.files import is_ours
from validate.errors import CompileUnavailable
from validate.nvrtc.lowered import Kernel, Lowered
from validate.row.columns import ROW_SCHEMA
from validate.row.occupancy import occupancy
from validate.text.headers import warp_include_dir
from validate.text.ptx import Usage

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ALL = frozenset(("ptx", "sass", "resources"))
FILE = "lowered/train-sm_90-cuda_plain-00000.parquet"


def wanted(**other: Any) -> Wanted:
    asked: dict[str, Any] = {"emit": ALL, "archs": ("sm_90",), "columns": ("cuda_plain",)}
    return Wanted(**{**asked, "include_dir": warp_include_dir(), **other})


def copied(folder: Path) -> Path:
    shutil.copytree(SAMPLES, folder)
    return folder


def edited(out: Path, edit: Callable[[list[dict[str, Any]]], None]) -> None:
    """Alter rows of the first shard, and the manifest with them."""
    path = out / "train" / "shard-00000.parquet"
    rows = pq.read_table(path).to_pylist()
    edit(rows)
    write_parquet(path, pa.Table.from_pylist(rows, schema=ROW_SCHEMA))
    manifest = json.loads((out / "manifest.json").read_text())
    for shard in manifest["shards"]:
        if shard["path"] == "train/shard-00000.parquet":
            shard["sha256"] = sha256_of(path)
    (out / "manifest.json").write_text(json.dumps(manifest))


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = copied(tmp_path_factory.mktemp("made") / "out")
    both = wanted(columns=("cuda_plain", "cuda_forward"), limit=4, workers=2)
    seen: list[int] = []
    done = lower_dataset(out, both, seen.append)
    assert (done.texts, sum(seen), len(done.written), done.failed) == (8, 8, 2, [])
    return out


def test_records_have_what_was_asked_for(made: Path) -> None:
    records = list(lowered_records(made))
    rows = {row["id"]: row for row in pairsmith.load(made)}
    assert len(records) == 8
    for record in records:
        row = rows[record["id"]]
        assert record["status"] == "compiles"
        assert f".entry {record['kernel']}(" in record["ptx"]
        assert record["sass"].startswith(f"{record['kernel']}:\n")
        assert record["instructions"] > 10 < len(record["lines"])
        assert record["spill_bytes"] == record["spill_stores"] + record["spill_loads"]
        plain = record["column"] == "cuda_plain"
        threads = row["plain_launch"][0]["block"] if plain else [row["launch"]["block_dim"]]
        found = occupancy(
            "sm_90",
            threads=record["block_threads"],
            registers=record["registers"],
            shared_bytes=record["shared_bytes"] + record["dynamic_shared_bytes"],
            barriers=record["barriers"],
        )
        assert record["block_threads"] in (threads[0], prod(threads))
        assert (record["blocks_per_sm"], record["occupancy"]) == (found.blocks, found.share)
        assert record["style"] == (json.loads(row["schedule"])["style"] if plain else None)


def test_each_kernel_has_its_own_launch() -> None:
    used = Usage(64, 8, 4, 1024, 16, 1)
    kernels = tuple(Kernel(name, used, 560, None) for name in ("parts", "total", "unused"))
    launches = [
        {"kernel": "parts", "block": [64, 4], "shared_bytes": 0},
        {"kernel": "total", "block": [32], "shared_bytes": 40000},
        {"kernel": "parts", "block": [32], "shared_bytes": 0},
    ]
    row = {
        **{"id": "a", "category": "c", "idiom": "i", "level": 1},
        **{"plain_launch": launches, "schedule": '{"style": "block_total"}'},
    }
    found = Lowered("compiles", ptx="text", nvrtc="13.5.1", kernels=kernels)
    parts, total, unused = records_of(row, "cuda_plain", "sm_90", found, ALL, "13.5.2")
    assert (parts["block_threads"], parts["dynamic_shared_bytes"]) == (256, 0)
    assert (parts["blocks_per_sm"], parts["occupancy"], parts["limited_by"]) == (
        *(4, 0.5, "registers"),
    )
    # 40,000, 1,024 of its own and 1,024 of the system's, five times in 228 KiB.
    assert (total["blocks_per_sm"], total["occupancy"], total["limited_by"]) == (
        *(5, 5 / 64, "shared"),
    )
    assert "occupancy" not in unused
    assert {one["style"] for one in (parts, total, unused)} == {"block_total"}
    assert (unused["spill_bytes"], unused["ptx"], unused["nvdisasm"]) == (12, "text", "13.5.2")
    only = records_of(row, "cuda_plain", "sm_90", found, frozenset(["resources"]), None)[0]
    assert only["ptx"] is None
    refused = Lowered("compile_error", "no")
    (record,) = records_of(row, "cuda_plain", "sm_90", refused, ALL, None)
    assert (record["status"], record["reason"], "kernel" in record) == (
        "compile_error",
        "no",
        False,
    )


def test_bytes_do_not_depend_on_workers_or_kills(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_ROWS_A_PART", 2)
    out = copied(tmp_path / "out")
    asked = wanted(limit=4)
    # Before the second part is written.
    assert kills.killed_at(4, lambda: lower_dataset(out, asked))
    parts = list((out / "lowered" / ".parts").rglob("*.parquet"))
    assert len(parts) == 1
    lowered_ids: list[str] = []
    lower = machine.Lowerers._lower

    def counted(self: Any, row: Any, column: str, arch: str) -> Any:
        lowered_ids.append(row["id"])
        return lower(self, row, column, arch)

    monkeypatch.setattr(machine.Lowerers, "_lower", counted)
    done = lower_dataset(out, asked)
    assert len(lowered_ids) == 2
    assert done.texts == 4
    assert (out / FILE).read_bytes() == (made / FILE).read_bytes()
    assert sorted(p.name for p in (out / "lowered").iterdir()) == [Path(FILE).name]
    # A file that has more than is asked for stays; one that has less is made anew.
    assert lower_dataset(out, wanted(limit=2, emit=frozenset(["ptx"]))).kept == [out / FILE]
    assert len(lowered_ids) == 2
    assert lower_dataset(out, wanted(limit=5, emit=frozenset(["resources"]))).texts == 5
    assert {record["sass"] for record in lowered_records(out)} == {None}


def test_readers_join_it(made: Path) -> None:
    found = load_dataset(str(made), "lowered", split="train")
    assert found.num_rows == 8
    assert found[0]["lines"][0].keys() == {"offset", "line"}
    assert load_dataset(str(made), split="train").num_rows > 8
    rows = pairsmith.load(made, lowered=True)
    measured = [row for row in rows if row["checks"]["registers"] is not None]
    assert len(measured) == 4
    for row in measured:
        plain, warp = sorted(row["lowered"], key=lambda r: r["column"], reverse=True)
        assert row["checks"]["registers"] == warp["registers"]
        assert row["checks"]["shared_bytes"] == warp["shared_bytes"] == 1024
        assert plain["column"] == "cuda_plain"
    assert not any(row["lowered"] for row in rows if row not in measured)
    assert all(row["checks"]["registers"] is None for row in pairsmith.load(SAMPLES))
    assert measured_resources(made, {})[measured[0]["id"]]["registers"] > 8
    assert is_ours(FILE)


def test_card_stats_and_show(made: Path) -> None:
    card = (made / "README.md").read_text()
    assert "config_name: lowered" in card
    assert "Plain CUDA of 4 rows for sm_90" in card
    counted = json.loads(run("stats", made, "--json").stdout)
    assert [one["column"] for one in counted["lowered"]] == ["cuda_forward", "cuda_plain"]
    styles = counted["lowered"][1]["styles"]
    assert sum(one["kernels"] for style, one in styles.items() if style != "all") == 4
    assert styles["all"]["spilling"] == 0
    assert "Warp's forward kernel of 4 rows for sm_90" in run("stats", made).stdout
    row = pairsmith.load(made)[0]
    record = next(r for r in lowered_records(made) if r["column"] == "cuda_plain")
    assert f"{record['registers']} registers, no spills" in run("show", made, record["id"]).stdout
    sass = run("show", made, record["id"], "--sass", "--column", "cuda_plain").stdout
    assert "cuda_forward" not in sass
    source = row["cuda_plain"].splitlines()
    for entry in record["lines"]:
        at = sass.index(f"/*{entry['offset']:04x}*/")
        if entry["line"] is not None:
            above = sass[:at].splitlines()[-2]
            assert above == f"// {entry['line']}: {source[entry['line'] - 1].strip()}"
    assert run("show", made, row["id"], "--ptx").stdout.count(".visible .entry") == 2
    none = run("show", made, row["id"], "--sass", "--arch", "sm_80")
    assert (none.exit_code, none.stderr.count("\n")) == (2, 1)
    assert "--emit sass" in none.stderr


def test_lines_that_are_no_lines_of_the_text() -> None:
    record = {
        "sass": "k:\n    /*0000*/  NOP ;\n.L_x_0:\n    /*0010*/  EXIT ;\n",
        "lines": [{"offset": 0, "line": 2}, {"offset": 16, "line": None}],
    }
    assert beside_lines(record, "a\n  b;\n") == (
        "k:\n// 2: b;\n    /*0000*/  NOP ;\n.L_x_0:\n// (no line of the text)\n"
        "    /*0010*/  EXIT ;\n"
    )


def test_a_fault_is_counted_with_its_reason(tmp_path: Path) -> None:
    out = copied(tmp_path / "out")

    def edit(rows: list[dict[str, Any]]) -> None:
        rows[1]["cuda_plain"] = rows[1]["cuda_plain"].replace(";\n", "; nowhere();\n", 1)
        rows[2].update(dict.fromkeys(("cuda_plain", "plain_launch", "schedule")))

    edited(out, edit)
    words = ("compile", out, "--quiet", "--limit", 3, "--columns", "cuda_plain")
    done = run(*words, "--emit", "resources")
    assert done.exit_code == 1
    assert "2 texts lowered, 1 failed; 1 files written, 0 kept" in done.stdout
    records = list(lowered_records(out))
    assert [record["status"] for record in records] == ["compiles", "compile_error"]
    assert f"{records[1]['id']} cuda_plain sm_90: cuda_plain(" in done.stdout
    assert "nowhere" in records[1]["reason"]
    assert records[1]["registers"] is None
    assert lowered(out)[0]["failed"] == 1
    again = run(*words, "--emit", "resources")
    assert (again.exit_code, "0 files written, 1 kept" in again.stdout) == (1, True)
    shown = run("show", out, records[1]["id"])
    assert "compile_error: cuda_plain(" in shown.stdout


def test_files_of_other_shards_are_left_out_and_removed(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(made, out)
    edited(out, lambda rows: rows[0].update(description="Another."))
    assert stale_line(out).startswith("lowered: 2 files of other shards left out")
    assert list(lowered_records(out)) == []
    assert lowered(out) == []
    # As after a run that made the dataset grow.
    update_card(out)
    assert "lowered" not in (out / "README.md").read_text()
    lower_dataset(out, wanted(limit=1, emit=frozenset(["resources"])))
    assert [p.name for p in (out / "lowered").glob("*")] == [Path(FILE).name]
    assert stale_line(out) == ""
    assert "config_name: lowered" in (out / "README.md").read_text()


def test_wrong_requests_end_in_a_line(made: Path, tmp_path: Path) -> None:
    for words, said in (
        (["--emit", "ptx,cubin"], "--emit: unknown 'cubin'; known are: ptx, sass, resources"),
        (["--columns", "python"], "--columns: unknown 'python'; known are: cuda_plain"),
        (["--arch", "sm_1"], "--arch: unknown architecture 'sm_1'"),
        (["--include", str(tmp_path)], "does not hold Warp's headers"),
    ):
        done = run("compile", made, *words)
        assert done.exit_code == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert run("compile", tmp_path / "none").exit_code == 2
    (made / "lowered" / "test-sm_90-cuda_plain-00000.parquet").write_bytes(b"no parquet")
    try:
        with pytest.raises(SettingsError, match="cannot be read"):
            lowered(made)
    finally:
        (made / "lowered" / "test-sm_90-cuda_plain-00000.parquet").unlink()


def test_without_the_tool_only_sass_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = copied(tmp_path / "out")

    def missing() -> None:
        raise CompileUnavailable("nvdisasm is missing: pip install 'pairsmith[lowered]'")

    monkeypatch.setattr(machine, "disassembler", missing)
    refused = run("compile", out, "--limit", 1, "--quiet")
    assert refused.exit_code == 2
    assert refused.stderr == "pairsmith: nvdisasm is missing: pip install 'pairsmith[lowered]'\n"
    assert not (out / "lowered").exists()
    words = ("--columns", "cuda_plain", "--emit", "ptx,resources")
    done = run("compile", out, "--limit", 1, "--quiet", *words)
    assert done.exit_code == 0, done.stderr
    (record,) = lowered_records(out)
    assert (record["sass"], record["nvdisasm"]) == (None, None)
    assert record["registers"] > 8
