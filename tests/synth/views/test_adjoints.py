"""What a question on a wrong adjoint says of it: what a check found, where that was kept."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synth.dataset.names import EVIDENCE
from synth.dataset.stored import stored_rows
from synth.errors import SettingsError
from synth.run.finish import EVIDENCE_SCHEMA
from synth.views.adjoints import adjoint_reports, report_sentence
from synth.views.make import make_views
from synth.views.texts import WRONG_ADJOINTS

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
WRONG = [
    row
    for _, row in stored_rows(SAMPLES)
    if row["checks"]["adjoint"] == "warp_differs" and row["cuda_plain_backward"] is not None
]


def questions(out: Path) -> dict[str, str]:
    views = make_views(out, [WRONG_ADJOINTS]).views[WRONG_ADJOINTS]
    rows: list[dict[str, Any]] = []
    for file in views.files:
        rows += pq.read_table(out / file.path).to_pylist()
    return {row["id"]: row["messages"][0]["content"] for row in rows}


def test_a_question_has_the_report_of_its_row_and_is_made_anew_with_it(tmp_path: Path) -> None:
    out = Path(shutil.copytree(SAMPLES, tmp_path / "data"))
    without = questions(out)
    assert len(without) == len(WRONG) > 2
    assert not [text for text in without.values() if "check of it says" in text]
    told = {row["id"]: f"along x{n} the adjoint gives {n}" for n, row in enumerate(WRONG[1:])}
    rows = [{"id": row_id, "adjoint_reason": said} for row_id, said in told.items()]
    (out / EVIDENCE).parent.mkdir()
    pq.write_table(pa.Table.from_pylist(rows, schema=EVIDENCE_SCHEMA), out / EVIDENCE)
    found = questions(out)
    for row_id, text in found.items():
        (said,) = re.findall(r"A gradient check of it says: ([^.]*)\.", text) or [""]
        assert said.replace("`", "") == told.get(row_id, "")


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (
            "along x the adjoint gives 1.5, differences give 3 at n=4",
            "A gradient check of it says: along `x` the adjoint gives 1.5, differences give 3 at "
            "n=4.",
        ),
        (
            "the gradient of y is not finite",
            "A gradient check of it says: the gradient of `y` is not finite.",
        ),
        ("", ""),
    ],
)
def test_a_report_in_a_sentence(report: str, sentence: str) -> None:
    assert report_sentence(report) == sentence


def test_evidence_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    assert adjoint_reports(path) == {}
    path.write_bytes(b"PAR1")
    with pytest.raises(SettingsError, match=r"run.parquet cannot be read"):
        adjoint_reports(path)
