from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from synth.check.dataset import check_dataset
from synth.codegen.translator import Translator
from synth.dataset.names import HARVEST_REJECTED
from synth.errors import SettingsError
from synth.harvest.check import harvested_problem, harvested_split
from synth.harvest.files import Harvested, Options, harvest
from synth.harvest.output import check_folder, write_dataset
from validate.row.schema import check_row

ROOT = Path(__file__).resolve().parents[3]

KERNELS = """
    from enum import IntEnum
    import helpers_of_mine as helpers
    from typing import Any
    import warp as wp

    LIMIT = wp.constant(3.5)
    vec5 = wp.types.vector(length=5, dtype=wp.float32)

    class Mode(IntEnum):
        PLAIN = 0
        DOUBLE = 1

    @wp.struct
    class Body:
        position: wp.vec3
        mass: float

    @wp.func
    def clip(value: float):
        return wp.min(value, LIMIT)

    @wp.kernel
    def clipped(values: wp.array(dtype=float), out: wp.array(dtype=float)):
        \"\"\"Cap each value.

        More words.
        \"\"\"
        i = wp.tid()
        out[i] = helpers.twice(clip(values[i]))

    @wp.kernel(enable_backward=False)
    def weights(bodies: wp.array(dtype=Body), wide: wp.array(dtype=vec5), mode: int,
                out: wp.array(dtype=float)):
        i = wp.tid()
        weight = bodies[i].mass * wide[i][4]
        if mode == Mode.DOUBLE:
            weight = weight * 2.0
        out[i] = weight

    def scale_by(factor, dtype):
        @wp.kernel
        def scale(values: wp.array(dtype=dtype)):
            i = wp.tid()
            values[i] = values[i] * dtype(factor)
        return scale

    scales = [scale_by(2.0, wp.float32), scale_by(3.0, wp.float32), scale_by(2.0, wp.float64)]
    same_again = scale_by(2.0, wp.float32)

    @wp.kernel
    def fill(values: wp.array(dtype=Any), value: Any):
        values[wp.tid()] = value

    wp.overload(fill, [wp.array(dtype=wp.vec2), wp.vec2])
    wp.overload(fill, [wp.array(dtype=int), int])

    @wp.kernel
    def never_given_types(values: wp.array(dtype=Any)):
        values[wp.tid()] = values[0]

    def never_called(amount):
        print("this line does not run", 1 / 0)
        STEP = 2.5

        @wp.func
        def raised(value: float):
            return value + STEP

        @wp.kernel
        def nested(values: wp.array(dtype=float)):
            values[wp.tid()] = raised(1.0)

        @wp.kernel
        def hidden(values: wp.array(dtype=float)):
            values[wp.tid()] = amount

    @wp.kernel
    def wrong(values: wp.array(dtype=float)):
        values[wp.tid()] = no_such_name
    """

HELPERS = """
    import warp as wp

    @wp.func
    def twice(value: float):
        return value + value
    """


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text).lstrip())
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    write(folder / "kernels.py", KERNELS)
    write(folder / "helpers_of_mine.py", HELPERS)
    return folder


@pytest.fixture(scope="module")
def result(folder: Path) -> Harvested:
    return harvest([folder / "kernels.py"], Options())


def rows_called(result: Harvested, name: str) -> list[dict[str, Any]]:
    return [row for row in result.rows if row["kernel_name"] == name]


def left(result: Harvested) -> dict[str, str]:
    return {entry["kernel"]: entry["reason"] for entry in result.left}


def test_kernels_of_every_kind_become_rows(result: Harvested) -> None:
    names = [row["kernel_name"] for row in result.rows]
    assert sorted(names) == [
        *("clipped", "fill", "fill", "nested", "scale", "scale", "scale", "weights")
    ]
    assert [check_row(row) for row in result.rows] == [[]] * len(names)
    assert all(row["provenance"]["self_contained"] for row in result.rows), result.open
    assert all(row["checks"]["compile_archs"] == ["sm_90"] for row in result.rows)
    assert {row["provenance"]["module"] for row in result.rows} == {"kernels"}


def test_what_is_left_out_says_why(result: Harvested) -> None:
    reasons = left(result)
    assert reasons["never_given_types"] == "generic: no concrete overload"
    assert reasons["never_called.hidden"] == "not reached: its function does more than define it"
    assert reasons["scale"] == "same CUDA as another kernel"
    assert "no_such_name" in reasons["wrong"]
    counts = result.steps["kernels"]
    assert (counts["found"], counts["generated"], counts["distinct"]) == (12, 9, 8)


def test_python_holds_all_that_it_uses(result: Harvested) -> None:
    (clipped,) = rows_called(result, "clipped")
    assert clipped["description"] == "Cap each value."
    assert "LIMIT = 3.5\n" in clipped["python"]
    assert "out[i] = twice(clip(values[i]))" in clipped["python"]
    assert "helpers" not in clipped["python"]
    (weights,) = rows_called(result, "weights")
    assert "class Mode(IntEnum):\n    PLAIN = 0\n" in weights["python"]
    assert "@wp.kernel(enable_backward=False)\n" in weights["python"]
    assert weights["cuda_backward"] is None
    assert [(a["kind"], a["dtype"], a["role"]) for a in weights["args"]] == [
        ("array", "Body", "in"),
        ("array", "vec5[float32]", "in"),
        ("scalar", "int32", "in"),
        ("array", "float32", "inout"),
    ]
    fills = {row["args"][1]["dtype"]: row["python"] for row in rows_called(result, "fill")}
    assert "values: wp.array(dtype=wp.vec2), value: wp.vec2" in fills["vec2[float32]"]
    assert "Any" not in fills["int32"]


def test_closures_are_told_apart_by_their_constants(result: Harvested) -> None:
    texts = [row["python"] for row in rows_called(result, "scale")]
    assert len(set(texts)) == 3
    assert sum("factor = 3.0" in text for text in texts) == 1
    assert sum("wp.float64" in text for text in texts) == 1


def test_rows_translate_again_and_a_changed_one_does_not(result: Harvested) -> None:
    translator = Translator()
    for row in result.rows:
        assert harvested_problem(row, translator) == ""
    row = dict(rows_called(result, "clipped")[0])
    row["cuda_forward"] = row["cuda_forward"].replace("wp::tid", "wp::dit").replace("wp::", "wp ::")
    assert "python translates to another cuda_forward" in harvested_problem(row, translator)
    assert "id is" in harvested_problem({**row, "id": "0" * 16})


def test_lines_of_python_are_those_of_the_row(result: Harvested) -> None:
    (row,) = rows_called(result, "clipped")
    lines = row["python"].splitlines()
    said = [lines[number - 1].strip() for number in row["line_map_python"]]
    assert said == ["i = wp.tid()", "out[i] = twice(clip(values[i]))"]


def test_kernels_ran_like_on_the_cpu_device(result: Harvested) -> None:
    (row,) = rows_called(result, "clipped")
    assert row["checks"]["run_forward"] == "agrees"
    assert row["checks"]["shapes"] == ["n=8"]
    assert result.total("run") >= 6, result.no_run


def test_dataset_reads_and_repeats(folder: Path, result: Harvested, tmp_path: Path) -> None:
    again = harvest([folder / "kernels.py", folder / "kernels.py"], Options(workers=2))
    for out, found in ((tmp_path / "a", result), (tmp_path / "b", again)):
        write_dataset(found, Options(), out, "MIT", 1000)
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*"))
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
    loaded = load_dataset(str(tmp_path / "a"), cache_dir=str(tmp_path / "cache"))
    assert sum(split.num_rows for split in loaded.values()) == 8
    for shard in (tmp_path / "a").glob("*/shard-*.parquet"):
        for row in pq.read_table(shard).to_pylist():
            assert harvested_split(row) == shard.parent.name
    listed = (tmp_path / "a" / HARVEST_REJECTED).read_text().splitlines()
    assert {json.loads(line)["kernel"] for line in listed} >= {"wrong", "never_called.hidden"}
    assert "license: mit" in (tmp_path / "a" / "README.md").read_text()
    checked = check_dataset(tmp_path / "a", "text")
    assert (checked.failed, checked.problems, checked.checked) == ([], [], 8)


def test_cap_counts_distinct_rows_of_a_module(folder: Path) -> None:
    found = harvest([folder / "kernels.py"], Options(per_module=2, run=False))
    assert len(found.rows) == 2
    assert found.total("distinct") == 8
    assert sum(e["reason"] == "more than 2 of its module" for e in found.left) == 6
    assert found.no_run == {"not asked for": 2}


def test_requests_that_cannot_be_met(tmp_path: Path) -> None:
    path = write(tmp_path / "plain.py", "x = 1\n")
    for files, options in (
        ([], Options()),
        ([write(tmp_path / "other" / "plain.py", "x = 1\n").parent], Options()),
        ([tmp_path / "absent.py"], Options()),
        ([write(tmp_path / "notes.txt", "x")], Options()),
        ([path], Options(per_module=-1)),
        ([path], Options(timeout_s=0)),
        ([path], Options(workers=0)),
        ([path], Options(archs=("sm_1",))),
    ):
        with pytest.raises(SettingsError) as error:
            harvest(files, options)
        assert "\n" not in str(error.value)
    with pytest.raises(SettingsError, match=r"no module no_such_package\.inner is found"):
        harvest([], Options(), modules=["no_such_package.inner"])
    with pytest.raises(SettingsError):
        check_folder(path)
    with pytest.raises(SettingsError):
        check_folder(tmp_path)


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "synth", "harvest", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_exit_codes_of_the_command(folder: Path, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.py", "x = 1\n")
    nothing = run_command(str(plain), "-o", str(tmp_path / "none"), "--quiet")
    assert nothing.returncode == 2
    assert nothing.stderr.splitlines()[-1].startswith("pairsmith: no kernel found")
    text = (folder / "kernels.py").read_text().replace("import helpers_of_mine as helpers", "")
    lone = write(tmp_path / "lone.py", text)
    failing = write(tmp_path / "failing.py", "1 / 0\n")
    out = str(tmp_path / "out")
    some = run_command(str(lone), str(failing), "-o", out, "--quiet", "--no-run")
    assert some.returncode == 1, some.stderr
    assert "ZeroDivisionError" in some.stdout
    assert "7 rows" in some.stdout
    assert "IS EXECUTED" in run_command("--help").stdout
