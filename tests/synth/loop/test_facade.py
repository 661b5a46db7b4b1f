"""One import: what it gives is what the commands give, and it loads nothing too early."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

import pairsmith
from synth.errors import SettingsError
from synth.loop.rewards import Reward, text_of

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"


@pytest.fixture(scope="module")
def drawn() -> list[pairsmith.Row]:
    return list(islice(pairsmith.stream(seed=5, verify="text"), 20))


def test_a_bare_import_loads_nothing_of_weight() -> None:
    code = "import sys, pairsmith; print(sorted({'numpy', 'warp', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=SAMPLES.parents[1], capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_seed_gives_its_rows_again(drawn: list[pairsmith.Row]) -> None:
    again = list(islice(pairsmith.stream(seed=5, verify="text"), 20))
    assert again == drawn
    other = list(islice(pairsmith.stream(seed=6, verify="text"), 20))
    assert not {row["id"] for row in other} & {row["id"] for row in drawn}
    assert len({row["id"] for row in drawn}) == 20


def test_a_stream_gives_what_is_asked_for() -> None:
    rows = list(islice(pairsmith.stream(1, ("math",), (2, 4), "text"), 6))
    assert {row["category"] for row in rows} == {"math"}
    assert {row["level"] for row in rows} == {2, 4}
    with pytest.raises(SettingsError, match="level 9 does not exist"):
        next(iter(pairsmith.stream(levels=(9,))))


def test_tasks_have_the_shape_of_reasoning_gym(drawn: list[pairsmith.Row]) -> None:
    ds = pairsmith.tasks("plain_python", rows=drawn)
    assert len(ds) == 20
    entry = ds[3]
    assert set(entry) == {"question", "answer", "metadata"}
    assert entry["metadata"]["source_index"] == 3
    assert entry["metadata"]["id"] == drawn[3]["id"]
    assert drawn[3]["reference"].strip() in entry["question"]
    assert ds[-1] == ds[19]
    assert [one["metadata"]["source_index"] for one in ds[2:5]] == [2, 3, 4]
    with pytest.raises(IndexError):
        ds[20]
    assert len(list(ds)) == 20
    assert len(pairsmith.tasks(rows=drawn, size=99)) == 20
    assert len(pairsmith.tasks(rows=drawn, size=2)) == 2
    assert len(pairsmith.tasks(size=7, verify="text")) == 7


@pytest.mark.parametrize("view", ["warp", "reverse", "nothing"])
def test_a_view_that_nothing_judges_is_refused(drawn: list[pairsmith.Row], view: str) -> None:
    with pytest.raises(SettingsError, match="view"):
        pairsmith.tasks(view, rows=drawn)[0]


def test_answers_are_worth_what_score_says() -> None:
    ds = pairsmith.tasks(path=SAMPLES, size=3)
    right, broken = ds[0]["answer"], ds[1]["answer"].replace("blockIdx.x", "1 + blockIdx.x")
    assert broken != ds[1]["answer"]
    assert ds.score_answer(right, ds[0]) == 1.0
    assert ds.score_answer(None, ds[0]) == 0.0
    said = [right, [{"role": "assistant", "content": broken}], "I do not know"]
    rows = [ds[at]["metadata"]["row"] for at in (0, 1, 2)]
    assert pairsmith.reward(["", "", ""], said, row=rows, level=[1, 1, 1]) == [1.0, 0.0, 0.0]
    shaped = pairsmith.shaped_reward(["", "", ""], said, row=list(map(json.loads, rows)))
    assert shaped[0] == 1.0
    assert shaped[1] is not None
    assert 0.0 < shaped[1] <= 0.5
    assert shaped[2] == 0.0


def test_a_row_that_is_wrong_says_nothing_of_the_answer() -> None:
    ds = pairsmith.tasks(path=SAMPLES, size=1)
    row = json.loads(ds[0]["metadata"]["row"])
    row["cuda_plain"] = row["cuda_plain"].replace("blockIdx.x", "1 + blockIdx.x")
    assert pairsmith.reward([""], [ds[0]["answer"]], row=[row]) == [None]
    entry = {**ds[0], "metadata": {**ds[0]["metadata"], "row": json.dumps(row)}}
    with pytest.raises(RuntimeError, match="unfit"):
        ds.score_answer(ds[0]["answer"], entry)


def test_a_call_without_rows_is_no_reward() -> None:
    with pytest.raises(TypeError, match="row"):
        pairsmith.reward([""], ["x"])
    with pytest.raises(TypeError, match="completion"):
        Reward()([""], [3], row=[{}])
    assert text_of([{"role": "assistant", "content": None}]) == ""


def test_load_reads_every_row() -> None:
    rows = pairsmith.load(SAMPLES)
    manifest = json.loads((SAMPLES / "manifest.json").read_text())
    assert len(rows) == manifest["rows"]
    assert {row["split"] for row in rows} <= {"train", "validation", "test"}
    with pytest.raises(SettingsError, match="no dataset"):
        pairsmith.load(SAMPLES / "nothing")


def test_a_name_that_is_not_there() -> None:
    assert pairsmith.Scorer.__name__ == "Scorer"
    with pytest.raises(AttributeError, match="no attribute 'score'"):
        pairsmith.score  # noqa: B018
