"""Sheets for readers: what is taken, how kernels of people are laid out, what verdicts come to."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from scripts.measure.rows import reading
from synth.dataset.stored import stored_rows

SAMPLES = Path(__file__).parents[1] / "data" / "samples"


@pytest.fixture(scope="module")
def rows() -> list[reading.Row]:
    return [row for _, row in stored_rows(SAMPLES)]


def test_two_rows_a_cell_of_idioms_that_differ(rows: list[reading.Row]) -> None:
    many = [
        row | {"id": f"{row['id']}{k}", "idiom": f"{row['idiom']}{k % 5}"}
        for row in rows
        for k in range(10)
    ]
    found = reading.picked(many, "a")
    cells = [(row["category"], row["level"]) for row in found]
    assert {cells.count(cell) for cell in cells} == {reading.PER_CELL}
    assert len(cells) == reading.PER_CELL * len({(r["category"], r["level"]) for r in rows})
    assert len({(r["category"], r["idiom"]) for r in found}) == len(found)
    assert found == reading.picked(list(reversed(many)), "a")
    assert {r["id"] for r in found} != {r["id"] for r in reading.picked(many, "b")}


def test_a_sheet_and_its_table(tmp_path: Path) -> None:
    sheet, said = tmp_path / "sheet.md", tmp_path / "said.md"
    options = Namespace(out=SAMPLES, sheet=sheet, salt="a", beside=SAMPLES)
    reading.write_sheet(options)
    key = json.loads(Path(f"{sheet}.json").read_text())
    text = sheet.read_text()
    assert '"""' not in text
    assert "Sizes in use" not in text
    assert text.count("## ") == len(key)
    assert any(row["of"] == reading.PEOPLE for row in key)
    said.write_text("".join(f"{n}. doubtful: a name\n" for n in range(1, len(key) + 1)) + "1 bad\n")
    lines = list(reading.table(key, reading.verdicts_in(said.read_text())))
    ours = sum(row["of"] != reading.PEOPLE for row in key)
    first_is_ours = key[0]["of"] != reading.PEOPLE
    assert any(
        line.startswith(f"| all ours | 0 | {ours - first_is_ours} | {int(first_is_ours)} | 0 %")
        for line in lines
    )


def test_a_missing_verdict_is_named(tmp_path: Path) -> None:
    sheet, said = tmp_path / "sheet.md", tmp_path / "said.md"
    reading.write_sheet(Namespace(out=SAMPLES, sheet=sheet, salt="a", beside=None))
    said.write_text("1. believable\n")
    with pytest.raises(SystemExit, match="no verdict of 2, 3"):
        reading.write_table(Namespace(sheet=sheet, verdicts=said))


def test_docstrings_and_comments_are_left_out() -> None:
    text = 'def f():\n    """Say it."""\n    # why\n    return (1)\n'
    assert reading.plain_layout(text) == "def f():\n    return 1"
