"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from matplotlib import image

from scripts.audit.commands import leaves
from synth.cli.main import main
from synth.cli.options import Finite
from synth.cli.show import adjoint_reason, print_row
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.errors import SettingsError
from synth.reasons import reject_sentence
from synth.run import estimate
from validate.row.schema import row_id
from validate.statuses import AdjointStatus

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "data" / "samples"
N = 18
"""Three rows a category."""


def pairsmith(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "synth", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(cwd), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def pairsmith_here(*arguments: object) -> Result:
    """The same in this process, for what ends before any work; how a process as a whole ends is
    asked in `tests/synth/cli/test_ends.py`."""
    return CliRunner().invoke(main, [str(word) for word in arguments])


def test_a_time_that_is_no_number_is_refused() -> None:
    """By every command that has one: NaN compares with no bound, and nothing ends after it."""
    tried = 0
    for words, command in leaves(main):
        for option in command.params:
            if isinstance(option.type, Finite):
                tried += 1
                for value in ("nan", "inf"):
                    done = pairsmith_here(*words, max(option.opts, key=len), value)
                    assert done.exit_code == 2
                    assert "is no finite number" in done.output
    assert tried > 8


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "out"
    done = pairsmith("generate", "-n", N, "-o", out, "--verify", "run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{N} rows in ")
    assert "row/s" in done.stderr
    assert "rejects=" in done.stderr
    return out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("-n", 0), "ask for at least one row"),
        (("-n", -3), "ask for at least one row"),
        (("-n", 6, "--category", "tensor"), "known are: arithmetic, atomic, control_flow, math"),
        (("-n", 6, "--level", 6), "levels go from 1 to 5"),
        (("-n", 6, "--workers", 0), "workers is 0"),
        (("-n", 6, "--shard-size", 0), "shard size is 0"),
        (("-n", 6, "--seed", -1), "seed -1 is out of range"),
        (("-n", 6, "--part", "second"), "--part second is no k/n"),
        (("-n", 6, "--part", "²/3"), "--part ²/3 is no k/n"),
        (("-n", 6, "--part", "9" * 5000 + "/3"), "is no k/n"),
        (("-n", 10**12), "1000000000000 rows are too many for one dataset"),
        (("-n", 10**30), "rows are too many for one dataset"),
        (("-n", 6, "--workers", 10**20), "give 4096 at most"),
        (("-n", 6, "--part", "3/2"), "part 3/2 does not exist"),
        (("-n", 6, "--address", "head:6379"), "add --engine ray"),
        (("-n", 6, "--engine", "ray", "--address", "head"), "neither host:port nor auto"),
        (("-n", 6, "--work", "here"), "--work goes with a URL"),
        (("-n", 0, "--dry-run"), "ask for at least one row"),
        (("-n", 10**12, "--dry-run"), "rows are too many for one dataset"),
    ],
)
def test_a_bad_request_gets_one_line_and_code_2(
    tmp_path: Path, arguments: tuple[object, ...], line: str
) -> None:
    done = pairsmith_here("generate", "-o", tmp_path / "out", "--quiet", *arguments)
    assert done.exit_code == 2
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_fingerprint_is_refused_and_nothing_harmed(dataset: Path) -> None:
    before = {p: p.read_bytes() for p in dataset.glob("*/*.parquet")}
    done = pairsmith("generate", "-n", N, "-o", dataset, "--seed", 9, "--verify", "run", "--quiet")
    assert done.returncode == 2
    assert "seed is 0 there and 9 here" in done.stderr
    assert {p: p.read_bytes() for p in dataset.glob("*/*.parquet")} == before


def test_the_same_command_again_finds_the_dataset_complete(dataset: Path) -> None:
    done = pairsmith("generate", "-n", N, "-o", dataset, "--verify", "run")
    assert done.returncode == 0
    assert "complete already" in done.stdout


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    done = pairsmith("generate", "-n", 6, "-o", tmp_path, "--quiet")
    assert done.returncode == 2
    assert "holds no dataset" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = pairsmith("generate", "-n", 6, "-o", tmp_path / "file" / "out", "--quiet")
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["validate", "stats", "show", "finish"])
def test_no_dataset_is_said_in_one_line(tmp_path: Path, command: str) -> None:
    done = pairsmith_here(command, tmp_path / "nothing")
    assert done.exit_code == 2
    assert str(tmp_path / "nothing") in done.stderr
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize("command", ["validate", "stats", "show", "view", "finish"])
@pytest.mark.parametrize("text", ["{", "[" * 100_000 + "]" * 100_000, "7"], ids=range(3))
def test_a_damaged_manifest_is_said_in_one_line(tmp_path: Path, command: str, text: str) -> None:
    shutil.copytree(SAMPLES, tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text(text)
    done = pairsmith_here(command, tmp_path / "out")
    assert done.exit_code == 2, done.stderr
    assert isinstance(done.exception, SystemExit)
    assert done.stderr.splitlines()[-1].startswith("pairsmith: ")


@pytest.mark.parametrize("command", ["validate", "stats", "show", "view", "training-views"])
def test_rows_of_something_else_are_refused(tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    shutil.copytree(SAMPLES, out)
    for foreign in out.glob("*/*.parquet"):
        pq.write_table(pa.table({"a": [1]}), foreign)
    done = pairsmith_here(command, out, *(() if command in ("show", "stats") else ("--quiet",)))
    assert done.exit_code == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "its rows have no id" in done.stderr or "sha256" in done.stderr


def test_what_no_run_can_do_is_refused_before_anything_is_imported(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules.update({'warp': None, 'pyarrow': None, 'numpy': None})\n"
    )
    for more in (("-n", 10**12), ("-n", 6, "--part", "4/3"), ("-n", 6, "--workers", 10**20)):
        asked = ["generate", "-o", str(tmp_path / "out"), *map(str, more)]
        done = subprocess.run(
            [sys.executable, "-m", "synth", *asked],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("pairsmith: ")
        assert done.stderr.count("\n") == 1


def test_an_estimate_begins_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: object) -> tuple[float, float, float]:
        raise SettingsError("now rows are made")

    monkeypatch.setattr(estimate, "_tried", made)
    settings = make_settings(seed=0, verify="text")
    lines = estimate.estimate(settings, 100_000_000, 1, 1000)
    assert next(lines).startswith("100000000 rows at --verify text: ")
    assert next(lines).startswith("about ")
    with pytest.raises(SettingsError, match="now rows are made"):
        next(lines)


def test_an_unsupported_warp_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        textwrap.dedent(
            """
            import importlib.metadata as metadata
            real = metadata.version
            metadata.version = lambda name: "1.10.1" if name == "warp-lang" else real(name)
            """
        )
    )
    done = subprocess.run(
        [sys.executable, "-m", "synth", "generate", "-n", "6", "-o", "out", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "warp-lang 1.10.1 is not supported" in done.stderr
    assert ">=1.17,<1.20" in done.stderr
    assert not (tmp_path / "out").exists()


def test_show_prints_question_and_answer(dataset: Path) -> None:
    done = pairsmith("show", dataset, "--regenerate")
    assert done.returncode == 0, done.stderr
    assert "@wp.kernel" in done.stdout
    assert "_cuda_kernel_forward" in done.stdout
    assert "run on the host: agrees" in done.stdout
    assert "made again: equal" in done.stdout
    assert re.search(r"^In use `\w+` is [\d,.]+", done.stdout, re.MULTILINE)
    side_by_side = [line for line in done.stdout.splitlines() if "import warp as wp" in line]
    assert any(word in side_by_side[0] for word in ("extern", "struct", "__device__"))


def test_show_says_why_an_adjoint_is_withheld(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (row for _, row in stored_rows(SAMPLES))
    row = next(row for row in rows if row["checks"]["adjoint"] == "no_float_input")
    said = pairsmith("show", SAMPLES, row["id"]).stdout
    assert "adjoint: no_float_input: No input is an array of floats" in said
    assert "measured:" not in said
    path = tmp_path / "evidence" / "run.parquet"
    path.parent.mkdir()
    reason = "along x[0] the adjoint gives 1, differences give 2"
    pq.write_table(pa.table({"id": ["0", row["id"]], "adjoint_reason": ["", reason]}), path)
    assert adjoint_reason(tmp_path, "0") == ""
    differs = {**row, "checks": {**row["checks"], "adjoint": "warp_differs"}}
    print_row(differs, measured=adjoint_reason(tmp_path, row["id"]))
    said = capsys.readouterr().out
    assert "adjoint: warp_differs: Warp's adjoint gives other derivatives" in said
    assert f"measured: {reason}" in said


def test_show_needs_no_evidence(tmp_path: Path) -> None:
    assert adjoint_reason(tmp_path, "0" * 16) == ""
    path = tmp_path / "evidence" / "run.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"id": ["0" * 16], "max_ulp": [0.5]}), path)
    assert adjoint_reason(tmp_path, "0" * 16) == ""
    path.write_bytes(b"PAR1 no")
    with pytest.raises(SettingsError, match="cannot be read"):
        adjoint_reason(tmp_path, "0" * 16)


def test_show_refuses_an_id_that_is_not_there(dataset: Path) -> None:
    done = pairsmith("show", dataset, "ffffffffffffffff")
    assert done.returncode == 2
    assert "no row" in done.stderr


def test_stats_counts_all_rows(dataset: Path) -> None:
    done = pairsmith("stats", dataset, "--json")
    found = json.loads(done.stdout)
    assert found["rows"] == N
    assert set(found["counts"]["category"].values()) == {N // 6}
    assert found["counts"]["run_forward"] == {"agrees": N}
    printed = pairsmith("stats", dataset).stdout
    assert ("reject reason" in printed) == bool(found["draws"]["rejects_by_reason"])
    for reason in found["draws"]["rejects_by_reason"]:
        assert reject_sentence(reason) in printed
    for status in {name.split("/")[1] for name in found["counts"]["adjoint"]}:
        assert AdjointStatus(status).sentence[:80] in printed


def test_stats_draws_pictures(dataset: Path, tmp_path: Path) -> None:
    done = pairsmith("stats", dataset, "--plots", tmp_path / "plots")
    assert done.returncode == 0, done.stderr
    found = {path.stem: image.imread(path) for path in (tmp_path / "plots").glob("*.png")}
    assert {"categories", "lengths", "dtypes", "builtins", "rejects"} >= set(found)
    assert set(found) >= {"categories", "lengths", "dtypes", "builtins"}
    for picture in found.values():
        assert picture.std() > 0.02


def test_doctor_says_what_is_ready() -> None:
    done = pairsmith("doctor")
    assert done.returncode == 0, done.stderr
    assert "warp-lang" in done.stdout
    assert "--verify run: ready" in done.stdout
    assert "bundled with Warp" in done.stdout


def test_a_sound_dataset_validates(dataset: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = pairsmith("validate", dataset, "--report", report, "--quiet")
    assert done.returncode == 0, done.stdout
    expected = {"checked": N, "passed": N, "failed": [], "problems": [], "not_reproduced": 0}
    assert json.loads(report.read_text()) == expected


SWAPPED = {"cuda_forward": ("wp::mul(", "wp::add("), "python": (" * ", " + ")}


def _tampered(dataset: Path, folder: Path) -> tuple[Path, list[str]]:
    """A copy without manifest in which an operator is swapped in each of two columns, each in a row
    of its own; and their ids."""
    out, ids, left = folder / "tampered", [], dict(SWAPPED)
    shutil.copytree(dataset, out)
    (out / "manifest.json").unlink()
    for path in sorted(out.glob("t*/*.parquet")):
        table = pq.read_table(path)
        rows = table.to_pylist()
        for row in rows:
            for column, (old, new) in left.items():
                if old in row[column]:
                    row[column] = row[column].replace(old, new, 1)
                    if column == "python":
                        row["id"] = row_id(row["python"], row["kernel_name"])
                    ids.append(row["id"])
                    del left[column]
                    break
        pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    assert not left, "no row has these operators"
    return out, ids


def test_a_swapped_operator_is_named(dataset: Path, tmp_path: Path) -> None:
    out, bad_ids = _tampered(dataset, tmp_path)
    report = tmp_path / "report.json"
    done = pairsmith("validate", out, "--verify", "run", "--report", report, "--quiet")
    assert done.returncode == 1
    failed = [failure["id"] for failure in json.loads(report.read_text())["failed"]]
    assert sorted(failed) == sorted(bad_ids)


def test_a_damaged_shard_is_reported(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(dataset, out)
    shard = next(out.glob("train/*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-50])
    done = pairsmith("validate", out, "--verify", "text", "--quiet")
    assert done.returncode == 2
    assert "cannot be read" in done.stderr


def test_help_needs_neither_warp_nor_arrow() -> None:
    probe = "import sys; sys.argv = ['pairsmith', '--help']\n" + textwrap.dedent(
        """
        from synth.cli.main import main
        try:
            main()
        except SystemExit:
            heavy = {"warp", "numpy", "pyarrow", "datasets", "rich"} & set(sys.modules)
            assert not heavy, heavy
        """
    )
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr


SEVENTH = '''
"""A category that somebody dropped in."""

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom

ABOUT = "a demonstration"


@idiom
def affine(k: KernelBuilder, level: int) -> Title:
    """One product and one sum."""
    type_ = k.draw.wide_float_type()
    n = k.size("n", 48, 96)
    x = k.array("x", type_, n, low=-1.0, high=1.0)
    out = k.out("out", type_, n)
    (i,) = k.thread(n)
    value = k.let("value", x[i] * float(k.draw.value.constant(0.5, 2.0)))
    for _ in range(level):
        value = k.let("value", value + float(k.draw.value.constant(0.5, 2.0, digits=3)))
    k.store(out, i, value)
    return Title(k.name("affine"), "Scale every element and add constants.")
'''


def test_a_seventh_category_is_one_new_file(tmp_path: Path) -> None:
    for package in ("generators", "synth", "extract", "validate"):
        shutil.copytree(ROOT / package, tmp_path / package)
    (tmp_path / "generators" / "seventh.py").write_text(SEVENTH)
    out = tmp_path / "out"
    asked = ("-n", 7, "-o", out, "--verify", "run", "--quiet")
    done = pairsmith("generate", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(pairsmith("stats", out, "--json", cwd=tmp_path).stdout)
    assert found["counts"]["category"]["seventh"] == 1
    assert found["counts"]["run_forward"] == {"agrees": 7}


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = pairsmith("generate", "-n", 5000, "-o", out, "--verify", "text", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "5000 rows at --verify text: 105 units of 48 rows" in done.stdout
    assert "core-hours" in done.stdout
    assert "bytes a row" in done.stdout
    assert not out.exists()
