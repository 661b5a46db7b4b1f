"""scripts/measure/rows/coverage.py and scripts/author/try_idiom.py: what is told of idioms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from drawn_programs import accepted_draw

from generators import categories
from scripts.author.try_idiom import draw_cell, predictions, tell_facts
from scripts.measure.rows.believable import Facts, sides, updates
from scripts.measure.rows.coverage import families, ideas_of, table
from synth.dataset.stored import stored_rows
from synth.errors import SettingsError

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "data" / "samples"


def test_every_row_of_a_dataset_is_of_one_idea() -> None:
    ideas = ideas_of(SAMPLES)
    rows = [row for _, row in stored_rows(SAMPLES)]
    counted = Counter((row["category"], row["idiom"]) for row in rows)
    assert {name: idea.rows for name, idea in ideas.items()} == counted
    assert sum(idea.styles.total() for idea in ideas.values()) == len(rows)
    assert set().union(*(idea.structures for idea in ideas.values())) == {
        row["structure"] for row in rows
    }
    lines = list(table(ideas))
    told = [tuple(line.strip("| ").split(" | ")[0:3:2]) for line in lines[2 : lines.index("")]]
    assert sorted(told) == sorted(counted)
    missing = lines[-1].removeprefix("\nNo row: ").split(", ")
    assert len(missing) + len(ideas) == sum(len(c.idioms) for c in categories().values())


def test_a_family_is_a_file_of_its_category() -> None:
    for (category, _), family in families().items():
        assert (ROOT / "generators" / category / f"{family.replace('.', '/')}.py").is_file()


def test_no_dataset_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no dataset"):
        ideas_of(tmp_path)


def test_each_style_is_predicted_once_the_quickest_first() -> None:
    program = accepted_draw("atomic", "histogram", 3).program
    lines = predictions(program)[1:]
    times = [float(line.split(": ")[1].split(" us")[0]) for line in lines]
    assert len(lines) == len({line.split(",")[0] for line in lines}) > 1
    assert times == sorted(times)


def test_the_shares_that_are_told_are_those_of_the_rules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    accepted, _ = draw_cell("atomic", "depth_buffer", 3, 8)
    tell_facts([(one, {}) for one in accepted])
    heads, _, line = (x.strip("| ").split(" | ") for x in capsys.readouterr().out.split("\n")[1:4])
    told = dict(zip(heads, line, strict=True))
    facts = [Facts(one.program) for one in accepted]
    assert told["rows"] == str(len(accepted))
    for rule in (sides, updates):
        assert told[rule.__name__] == f"{100 * sum(map(rule, facts)) / len(facts):.0f}"
