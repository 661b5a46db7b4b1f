"""The suites of tests/data/judge at one hidden seed: honest texts pass, and no wrong text does.

What is known to be told wrongly stands in the tables, each with its reason. A text that is told
rightly must leave them: so they stay true.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from judge_texts import JudgeText, honest_texts, judge_rows, wrong_texts
from sweeps import part_of

from validate.score.scorer import Answer, Scorer, Verdict

HIDDEN_SEED = 1
_FAR = "only at sizes that take too long on the host"
_ASSEMBLY = "no assembly is run on the host"

PASSING = {
    "device_differs/by_contraction": "products and sums are not fused on the host",
    "device_differs/by_sign_of_nan": "the sign of a NaN is the host's",
    "device_differs/by_address_of_shared": "addresses are the host's",
    "fresh_second/f_shift_hides_size": _FAR,
    "fresh_values/f_value_by_table": "wrong for one value of 50,000, which is not drawn",
    "launch/dynamic_shared_by_columns": "rows kept in shared memory may be short in use",
    "launch/grid_y_of_elements": "grids of 524,280 elements along y are let be",
    "sizes/byte_block_number": _FAR,
}
"""Wrong texts that pass, by class and name, and why."""

REFUSED = {
    "fresh_math/f_sat_ptx_cvt": _ASSEMBLY,
    "fresh_style/f_asm_fma": _ASSEMBLY,
}
"""Honest texts that do not pass, by class and name, and why."""


def told(texts: list[JudgeText]) -> dict[str, Verdict]:
    """The verdicts on texts, by class and name."""
    rows = judge_rows()
    answers = [Answer(text.text, rows[text.row_id], text.launch) for text in texts]
    with Scorer(hidden_seed=HIDDEN_SEED, workers=2) as scorer:
        verdicts = scorer.score_batch(answers)
    names = [f"{text.kind}/{text.name}" for text in texts]
    return dict(zip(names, verdicts, strict=True))


def _some(texts: list[JudgeText], known: dict[str, str]) -> list[JudgeText]:
    """Some texts of each class, and all of a table: `make test-all` judges the whole, and so does
    `scripts/measure/judge/suite.py`, at more than one seed."""
    taken = part_of(texts, 8, lambda text: text.name, lambda text: text.kind)
    return [t for t in texts if t in taken or f"{t.kind}/{t.name}" in known]


def test_the_tables_name_texts_that_are_there() -> None:
    assert PASSING.keys() <= {f"{text.kind}/{text.name}" for text in wrong_texts()}
    assert REFUSED.keys() <= {f"{text.kind}/{text.name}" for text in honest_texts()}


@pytest.mark.parametrize(
    ("texts", "passes", "known"),
    [(wrong_texts, False, PASSING), (honest_texts, True, REFUSED)],
    ids=["wrong", "honest"],
)
def test_texts_are_told_rightly_but_for_those_of_the_table(
    texts: Callable[[], list[JudgeText]], passes: bool, known: dict[str, str]
) -> None:
    found = told(_some(texts(), known))
    wrongly = {name: verdict for name, verdict in found.items() if verdict.passed != passes}
    assert not {n: str(v) for n, v in wrongly.items() if n not in known}
    assert not known.keys() - wrongly.keys(), "told rightly: to be taken off the table"
    assert {verdict.status for verdict in found.values()}.isdisjoint({"row_unfit", "not_judged"})
