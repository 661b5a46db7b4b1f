"""``validate`` notices every edit of a stored dataset, by row or by file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synth.check.dataset import Report, check_dataset
from synth.codegen.translator import Translator
from synth.dataset.manifest import SPLITS
from synth.dataset.settings import make_settings
from synth.rows.maker import Row
from synth.rows.remake import retranslated
from synth.run import generate as run
from validate.row.edges import settings
from validate.row.schema import row_id

N, FEW = 48, 12
Edit = Callable[[Row], object]


def _made(factory: pytest.TempPathFactory, n: int) -> Path:
    out = factory.mktemp("check") / "out"
    run.generate(make_settings(verify="text"), n, out)
    return out


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _made(tmp_path_factory, N)


@pytest.fixture(scope="module")
def small_dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _made(tmp_path_factory, FEW)


def _copied(dataset: Path, out: Path) -> Path:
    shutil.copytree(dataset, out, ignore=shutil.ignore_patterns("include"))
    return out


@pytest.fixture
def copy(dataset: Path, tmp_path: Path) -> Path:
    """Of so many rows that every edit has one of its own."""
    return _copied(dataset, tmp_path / "copy")


@pytest.fixture
def few(small_dataset: Path, tmp_path: Path) -> Path:
    return _copied(small_dataset, tmp_path / "few")


def _shard(out: Path) -> Path:
    return max((out / "train").glob("*.parquet"), key=lambda p: p.stat().st_size)


def _edit_first_row(out: Path, edit: Edit) -> str:
    """Edit the first row of a shard, leaving the manifest aside; gives the row's id."""
    (out / "manifest.json").unlink()
    table = pq.read_table(_shard(out))
    rows = table.to_pylist()
    edit(rows[0])
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), _shard(out))
    found: str = rows[0]["id"]
    return found


def _edit_rows(out: Path, edits: Mapping[str, Edit]) -> dict[str, str]:
    """Make each edit in a row of its own of a shard, leaving the manifest aside; gives the name of
    the edit by the row's id."""
    (out / "manifest.json").unlink()
    table = pq.read_table(_shard(out))
    rows, edited, left = table.to_pylist(), {}, dict(edits)
    for row in rows:
        for name, edit in left.items():
            before = deepcopy(row)
            edit(row)
            if row != before:
                edited[row["id"]] = name
                del left[name]
                break
    assert not left, "no row is left for these edits, or they change none"
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), _shard(out))
    return edited


def _named(report: Report, edited: Mapping[str, str]) -> list[str]:
    """The edits whose rows a report names; the id of a row that is named and was not edited."""
    return sorted(edited.get(failure["id"], failure["id"]) for failure in report.failed)


def _output(row: Row) -> Row:
    return next(a for a in row["args"] if a["role"] != "in")


def _new_python(row: Row) -> None:
    row["python"] = row["python"].replace("wp.tid()", "wp.tid()  # here")
    row["id"] = row_id(row["python"], row["kernel_name"])


EDITS: dict[str, Edit] = {
    "python with its id": _new_python,
    "reference": lambda r: r.update(reference=r["reference"] + "\n# more\n"),
    "tolerance": lambda r: _output(r).update(rtol=0.5, atol=0.5),
    "role": lambda r: _output(r).update(role="inout"),
    "range": lambda r: r["args"][0].update(low="0", high="0"),
    "init": lambda r: r["args"][0].update(init="integers"),
    "sizes": lambda r: r["sizes"][0].update(value=7),
    "launch": lambda r: r["launch"].update(dim=["1"] * len(r["launch"]["dim"])),
    "block_dim": lambda r: r["launch"].update(block_dim=1),
    "input_seed": lambda r: r.update(input_seed=1),
    "regime": lambda r: r["regime"][0].update(high=r["regime"][0]["high"] + 1),
    "edge inputs": lambda r: r.update(edge_inputs=[]),
    "structure": lambda r: r.update(structure="0123456789abcdef"),
    "no structure": lambda r: r.update(structure=None),
    "category": lambda r: r.update(category="tensor"),
    "idiom": lambda r: r.update(idiom="another"),
    "level": lambda r: r.update(level=r["level"] % 5 + 1),
    "description": lambda r: r.update(description="Another text."),
    "ops": lambda r: r.update(ops=["sin"]),
    "another program": lambda r: r.update(program="{}"),
    "no program": lambda r: r.update(program=None),
    "seed": lambda r: r["provenance"].update(seed=99),
    "attempt": lambda r: r["provenance"].update(attempt=77),
    "plain CUDA": lambda r: r.update(cuda_plain="__global__ void kernel() {}"),
    "compiled": lambda r: r["checks"].update(compile_archs=["sm_90"]),
    "adjoint": lambda r: r["checks"].update(adjoint="agrees"),
    "registers": lambda r: r["checks"].update(registers=8),
}


def _claim_run(row: Row, **checks: object) -> None:
    shapes = [setting.name for setting in settings(row)]
    row["checks"].update(run_forward="agrees", shapes=shapes, **checks)


def _claim_compile(row: Row, *archs: str, nvrtc: str = "13.5") -> None:
    row["checks"].update(compile_archs=list(archs))
    row["provenance"].update(nvrtc=nvrtc)


EDITS |= {
    "invented shapes": lambda r: r["checks"].update(run_forward="agrees", shapes=["n=5"]),
    "run without adjoint": lambda r: _claim_run(r),
    "run with another adjoint": lambda r: _claim_run(r, adjoint="warp_differs"),
    "run with no adjoint to run": lambda r: (
        _claim_run(r, adjoint="no_float_input"),
        r.update(cuda_backward=None),
    ),
    "archs out of order": lambda r: _claim_compile(r, "sm_90", "sm_80"),
    "unknown arch": lambda r: _claim_compile(r, "sm_50"),
    "NVRTC without archs": lambda r: r["provenance"].update(nvrtc="13.5"),
}


def test_edited_rows_are_named_without_running_them(copy: Path) -> None:
    edited = _edit_rows(copy, EDITS)
    assert _named(check_dataset(copy, "text"), edited) == sorted(EDITS)


RUN_EDITS: dict[str, Edit] = {
    "line map": lambda r: r.update(line_map_cuda=[1] * len(r["line_map_cuda"])),
    "backward": lambda r: r.update(cuda_backward=r["cuda_backward"].replace("adj_", "adj", 1)),
    "prologue": lambda r: r.update(cuda_prologue=r["cuda_prologue"] + "\n#define X 1\n"),
    "invented adjoint status": lambda r: (
        _claim_run(r, adjoint="not_smooth_here"),
        r.update(_without_backward(r)),
    ),
    "invented lack of an adjoint": lambda r: (
        _claim_run(r, adjoint="not_smooth_here"),
        r.update(cuda_backward=None),
    ),
    "a Warp that is not supported": lambda r: r["provenance"].update(warp="0.9.9"),
}


def _without_backward(row: Row) -> Row:
    return retranslated(row, Translator(backward=False))


def test_edited_rows_are_named_by_a_run(few: Path) -> None:
    edited = _edit_rows(few, RUN_EDITS)
    report = check_dataset(few, "run")
    assert _named(report, edited) == sorted(RUN_EDITS)
    reasons = {edited[failure["id"]]: failure["reason"] for failure in report.failed}
    assert "is not supported" in reasons["a Warp that is not supported"]


BROKEN_TEXTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "no closing brace": ("cuda_forward", lambda t: t.rstrip().removesuffix("}")),
    "no such function": ("cuda_forward", lambda t: t.replace("array_store", "array_stor", 1)),
    "no semicolon": ("cuda_backward", lambda t: t.replace(";", "", 1)),
    "no header": ("cuda_prologue", lambda t: t.replace('#include "builtin.h"', "")),
}


def _broken(column: str, text: Callable[[str], str]) -> Edit:
    return lambda r: r.update({column: text(r[column])})


def test_rows_that_do_not_compile_are_named_without_running_them(few: Path) -> None:
    edited = _edit_rows(few, {name: _broken(*how) for name, how in BROKEN_TEXTS.items()})
    report = check_dataset(few, "compile")
    assert _named(report, edited) == sorted(BROKEN_TEXTS)
    for failure in report.failed:
        assert failure["reason"].startswith(("compile_error", "cuda_forward has no kernel"))


MANIFEST_EDITS: dict[str, Edit] = {
    "another Warp": lambda r: r["provenance"].update(warp="1.18.0"),
    "another pairsmith": lambda r: r["provenance"].update(pairsmith="0.0.9"),
    "another seed": lambda r: r["provenance"].update(seed=8),
    "harvested": lambda r: r.update(
        category="harvested", structure=None, idiom=None, level=None, reference=None, program=None
    ),
}


def test_rows_that_claim_another_origin_than_the_manifest_are_named(few: Path) -> None:
    manifest = (few / "manifest.json").read_text()
    edited = _edit_rows(few, MANIFEST_EDITS)
    (few / "manifest.json").write_text(manifest)
    assert _named(check_dataset(few, "text"), edited) == sorted(MANIFEST_EDITS)


def test_python_that_the_program_does_not_vouch_for_is_not_executed(
    few: Path, tmp_path: Path
) -> None:
    """Python of a harvested row, which has no program, and of a row whose program is another."""
    mark = tmp_path / "executed"

    def append(row: Row) -> None:
        row["python"] += f"\nopen({str(mark)!r}, 'w').close()\nraise SystemExit(0)\n"
        row["id"] = row_id(row["python"], row["kernel_name"])

    def harvested(row: Row) -> None:
        nothing = dict.fromkeys(("structure", "idiom", "level", "reference", "program"))
        row.update(category="harvested", **nothing)
        row["args"] = [{**arg, "rtol": None, "atol": None} for arg in row["args"]]
        append(row)
        row["provenance"].update(module="m", line=1, self_contained=True)

    edited = _edit_rows(few, {"harvested": harvested, "another": append})
    report = check_dataset(few, "run")
    assert report.checked == FEW
    # What else is wrong with the harvested row, which claims no architecture, is not asked here.
    assert {"another"} <= set(_named(report, edited)) <= {"another", "harvested"}
    assert not mark.exists()


def test_rows_are_compiled_for_the_architectures_asked_for(few: Path) -> None:
    report = check_dataset(few, "compile", archs=("sm_80", "sm_120"))
    assert report.good, report.as_dict()


def test_resources_that_a_row_claims_are_measured_again(tmp_path: Path) -> None:
    settings = make_settings(verify="compile", resources=True, categories_asked=("math",))
    run.generate(settings, 3, tmp_path / "out")
    assert check_dataset(tmp_path / "out", "compile").good
    table = pq.read_table(_shard(tmp_path / "out")).to_pylist()
    assert all(row["checks"]["registers"] > 0 for row in table)
    edited = _edit_first_row(tmp_path / "out", lambda r: r["checks"].update(registers=999))
    report = check_dataset(tmp_path / "out", "compile")
    assert [failure["id"] for failure in report.failed] == [edited]
    assert "other resources" in report.failed[0]["reason"]


def test_a_row_in_the_wrong_split_is_named(few: Path) -> None:
    (few / "manifest.json").unlink()
    table = pq.read_table(_shard(few))
    pq.write_table(table.slice(1), _shard(few))
    (few / "test").mkdir(exist_ok=True)
    pq.write_table(table.slice(0, 1), few / "test" / "shard-00009.parquet")
    report = check_dataset(few, "text")
    moved = table.slice(0, 1).to_pylist()[0]["id"]
    assert report.failed[0]["id"] == moved
    assert "belongs in the split train" in report.failed[0]["reason"]


def test_a_row_twice_is_named(few: Path) -> None:
    (few / "manifest.json").unlink()
    table = pq.read_table(_shard(few))
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), _shard(few))
    report = check_dataset(few, "text")
    assert [f["reason"] for f in report.failed] == ["another row is equal up to names"]


def _drop_row(out: Path) -> None:
    table = pq.read_table(_shard(out))
    pq.write_table(table.slice(1), _shard(out))


def _add_shard(out: Path) -> None:
    shutil.copy(_shard(out), out / "train" / "shard-00007.parquet")


def _edit_manifest(**changes: object) -> Callable[[Path], None]:
    def edit(out: Path) -> None:
        found = json.loads((out / "manifest.json").read_text())
        found.update(changes)
        (out / "manifest.json").write_text(json.dumps(found))

    return edit


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_drop_row, "sha256"),
        (_add_shard, "is not in the manifest"),
        (_edit_manifest(rows=999), "counts 999 rows"),
        (_edit_manifest(shards=[]), "is not in the manifest"),
        (_edit_manifest(fingerprint="0" * 16), "fingerprint"),
    ],
)
def test_files_that_contradict_the_manifest_are_named(
    few: Path, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(few)
    report = check_dataset(few, "text")
    assert not report.good
    assert any(words in problem for problem in report.problems)


def test_a_split_that_is_gone_is_named(copy: Path) -> None:
    shutil.rmtree(copy / "train")
    assert any("is missing" in problem for problem in check_dataset(copy, "text").problems)


def test_an_untouched_copy_is_good(few: Path) -> None:
    report = check_dataset(few, "text")
    assert report.good, report.as_dict()
    assert report.checked == FEW
    assert {p.parent.name for p in few.glob("*/shard-*.parquet")} <= set(SPLITS)
