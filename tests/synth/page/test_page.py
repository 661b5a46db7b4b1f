"""The page of a dataset as bytes; `test_synth_view_page.py` looks at it in a browser."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from viewed_rows import (
    HOSTILE,
    HOSTILE_ID,
    SAMPLES,
    hostile_row,
    sample_rows,
    unpacked,
    write_gpu_run,
    write_harvested,
    write_rows,
)

from synth.cli.main import main
from synth.dataset.stored import rows_at, stored_rows
from synth.errors import SettingsError
from synth.page.page import PAGE, ROWS_PER_BLOCK, view
from synth.page.rows import COLUMNS, choose, plain_value
from validate.row.columns import COLUMNS as ALL_COLUMNS

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("view") / "samples.html"
    view(SAMPLES, file, quiet=True)
    return file


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """103 rows in four strata of 60, 30, 10 and 3, mixed, in small row groups."""
    out = tmp_path_factory.mktemp("uneven") / "out"
    model = sample_rows()[0]
    strata = [("a", 1, 60), ("a", 2, 30), ("b", 1, 10), ("b", None, 3)]
    rows = [
        {**model, "id": f"{category}{level}-{i}", "category": category, "level": level}
        for category, level, count in strata
        for i in range(count)
    ]
    rows.sort(key=lambda row: hashlib.md5(row["id"].encode()).digest())
    schema = pq.read_schema(next(SAMPLES.glob("train/*.parquet")))
    (out / "train").mkdir(parents=True)
    for number, part in enumerate((rows[:50], rows[50:])):
        table = pa.Table.from_pylist(part, schema=schema)
        pq.write_table(table, out / f"train/shard-{number:05}.parquet", row_group_size=7)
    return out


def test_page_holds_all_that_it_loads(samples: Path) -> None:
    page = samples.read_text()
    shell = re.sub(r'octet-stream" id="[\w-]+">[^<]*', "", page)
    for load in ("http:", "https:", "//cdn", " src=", "<link", "<iframe", "url(", "@import"):
        assert load not in shell, load
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    parts = {
        "style-src": re.findall(r"<style>(.*?)</style>", page, re.DOTALL),
        "script-src": re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL),
    }
    for directive, texts in parts.items():
        (text,) = texts
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_page_has_every_row_as_it_is_stored(samples: Path) -> None:
    index, rows = unpacked(samples)
    stored = list(stored_rows(SAMPLES))
    assert (index["name"], index["total"]) == ("samples", len(stored))
    assert len(index["rows"]) == len(rows) == len(stored) > ROWS_PER_BLOCK
    for (split, row), on_page, listed in zip(stored, rows, index["rows"], strict=True):
        assert {name: on_page[name] for name in COLUMNS} == plain_value(
            {name: row[name] for name in COLUMNS}
        )
        assert on_page["split"] == listed["split"] == split
        assert listed["adjoint"] == row["checks"]["adjoint"]
        assert (listed["compiled"], listed["run"], listed["gpu"]) == (True, "agrees", [])


def test_page_leaves_out_no_column_by_mistake() -> None:
    assert {name for name, _ in ALL_COLUMNS} - set(COLUMNS) == {"schema_version", "program"}


def test_same_bytes_twice(samples: Path, tmp_path: Path) -> None:
    view(SAMPLES, tmp_path / "again.html", quiet=True)
    assert (tmp_path / "again.html").read_bytes() == samples.read_bytes()


def test_sample_is_even_and_does_not_depend_on_the_order(uneven: Path, tmp_path: Path) -> None:
    def drawn(out: Path, most: int) -> list[str]:
        places = choose(out, most).places
        return [row["id"] for _, row in rows_at(out, places, ("id",))]

    for most, counts in ((13, [3, 3, 3, 4]), (43, [3, 10, 15, 15]), (102, [3, 10, 30, 59])):
        ids = drawn(uneven, most)
        assert len(ids) == len(set(ids)) == most
        assert sorted(Counter(name.split("-")[0] for name in ids).values()) == counts
    rows = [row for _, row in stored_rows(uneven)]
    write_rows(tmp_path / "out/train/shard-00000.parquet", rows[::-1])
    assert sorted(drawn(tmp_path / "out", 43)) == sorted(drawn(uneven, 43))
    everything = choose(uneven, 103)
    assert (everything.places, everything.total) == (list(range(103)), 103)


def test_rows_are_read_by_their_places(uneven: Path) -> None:
    ids = [row["id"] for _, row in stored_rows(uneven, ("id",))]
    for places in ([], [0], [6, 7, 49, 50, 51, 102], list(range(103))):
        read = [row["id"] for _, row in rows_at(uneven, places, ("id",))]
        assert read == [ids[place] for place in places]


def test_part_of_a_dataset_says_so(uneven: Path, tmp_path: Path) -> None:
    file = tmp_path / "part.html"
    done = CliRunner().invoke(main, ["view", str(uneven), "--out", str(file), "--rows", "40"])
    assert done.exit_code == 0, done.output
    assert "40 of 103 rows in " in done.output
    index, rows = unpacked(file)
    assert (len(rows), len(index["rows"]), index["total"]) == (40, 40, 103)


def test_default_file_is_beside_the_dataset(uneven: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(uneven)
    for out in (uneven, Path(), Path("../out"), Path("../out/train/..")):
        assert view(out, quiet=True).file.resolve() == uneven.parent / "out.html"
        (uneven.parent / "out.html").unlink()
    assert sorted(path.name for path in uneven.iterdir()) == ["train"]


def test_hostile_texts_stay_in_their_place(tmp_path: Path) -> None:
    out = tmp_path / "<!-- <b>&"
    write_rows(out / "train/shard-00000.parquet", [hostile_row()])
    file = view(out, quiet=True).file
    page = file.read_text()
    assert page.count("<script") == page.count("</script>") == 3
    assert page.count("<!--") == 0
    assert "broken out" not in page
    assert "<title>&lt;!-- &lt;b&gt;&amp; · pairsmith</title>" in page
    index, (row,) = unpacked(file)
    assert index["rows"][0]["id"] == row["id"] == HOSTILE_ID
    assert row["description"] == HOSTILE
    assert row["python"].endswith(HOSTILE)
    assert (row["input_seed"], row["checks"]["max_ulp"]) == (str(2**63 - 1), "nan")
    assert index["rows"][0]["adjoint"] is None


def test_harvested_rows(tmp_path: Path) -> None:
    write_harvested(tmp_path / "out", tmp_path)
    index, (row,) = unpacked(view(tmp_path / "out", quiet=True).file)
    assert (row["level"], row["cuda_plain"], row["schedule"]) == (None, None, None)
    assert row["provenance"]["module"] == "doubling"
    assert index["rows"][0]["idiom"] is None


def test_gpu_runs_of_the_rows_alone(tmp_path: Path) -> None:
    rows = sample_rows()[:2]
    write_rows(tmp_path / "out/train/shard-00000.parquet", rows)
    write_gpu_run(tmp_path / "out", {rows[0]["id"]: "wrong_value", "of another": "passed"})
    index, on_page = unpacked(view(tmp_path / "out", quiet=True).file)
    assert [row["gpu"] for row in index["rows"]] == [["wrong_value"], []]
    assert on_page[0]["gpu"][0]["device"] == "A GPU"
    (tmp_path / "out/gpu/run-b.parquet").write_text("no Parquet")
    with pytest.raises(SettingsError, match=r"run-b\.parquet cannot be read: .*; delete it"):
        view(tmp_path / "out", quiet=True)


def _refused(*arguments: Any) -> str:
    done = CliRunner().invoke(main, ["view", "--quiet", *map(str, arguments)])
    assert done.exit_code == 2, done.output
    assert len(done.output.splitlines()) == 1
    return done.output


def test_requests_that_cannot_be_met(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "no dataset at" in _refused(tmp_path / "absent")
    assert "is no folder" in _refused(SAMPLES, "--out", tmp_path / "absent" / "x.html")
    assert "is no folder" in _refused(SAMPLES, "--out", tmp_path / "file" / "x.html")
    assert "it is a folder" in _refused(SAMPLES, "--out", tmp_path)
    assert "holds the dataset alone" in _refused(SAMPLES, "--out", SAMPLES / "x.html")
    assert "File name too long" in _refused(SAMPLES, "--out", tmp_path / ("x" * 300))
    table = pq.read_table(next(SAMPLES.glob("test/*.parquet")))
    (tmp_path / "old/test").mkdir(parents=True)
    pq.write_table(table.drop_columns(["schedule"]), tmp_path / "old/test/shard-00000.parquet")
    assert "its rows have no schedule" in _refused(tmp_path / "old")
    assert not (tmp_path / "old.html").exists()
    (tmp_path / "bad/train").mkdir(parents=True)
    (tmp_path / "bad/train/shard-00000.parquet").write_text("no Parquet")
    assert "cannot be read" in _refused(tmp_path / "bad")


def test_the_page_is_packed_with_the_package() -> None:
    (listed,) = re.findall(
        r'^"\*" = \[(.*)\]$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    packed = re.findall(r'"([^"]+)"', listed)
    files = sorted(PAGE.iterdir())
    assert len(files) > 2
    for file in files:
        assert any(fnmatch(file.name, glob) for glob in packed), file
        assert len(file.read_text().splitlines()) <= 260, file
        assert file.suffix == ".html" or "</s" not in file.read_text(), file


def _luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_is_aa(scheme: int) -> None:
    block = re.findall(r":root \{(.*?)\}", (PAGE / "page.css").read_text(), re.DOTALL)[scheme]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))
    on_code = ("ink", "soft", "com", "str", "num", "key", "typ", "fun", "pre")
    pairs = [(ink, ground) for ink in on_code for ground in ("panel", "mark")]
    on_all = ("ink", "soft", "accent", "good", "other")
    pairs += [(ink, ground) for ink in on_all for ground in ("ground", "panel", "raised")]
    pairs += [("ink", "chosen"), ("soft", "chosen")]
    for ink, ground in pairs:
        low, high = sorted(_luminance(colours[name]) for name in (ink, ground))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)
