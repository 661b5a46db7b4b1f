"""The suites of tests/data/judge at one hidden seed: honest texts pass, and no wrong text does.

What is known to be told wrongly stands in the tables, each with its reason. A text that is told
rightly must leave them: so they stay true.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from judge_texts import JudgeText, honest_texts, judge_rows, wrong_texts

from validate.score.scorer import Answer, Scorer, Verdict

HIDDEN_SEED = 1
_FAR = "only at sizes that take too long on the host"
_TILES = "only with more corners than any trial has"

PASSING = {
    "device_differs/by_contraction": "products and sums are not fused on the host",
    "device_differs/by_sign_of_nan": "the sign of a NaN is the host's",
    "device_differs/by_address_of_shared": "addresses are the host's",
    "host_only/concept_of_later_standard": "both compilers take a later C++ than nvcc's default",
    "launch/grid_y_of_rows": _FAR,
    "launch/grid_y_of_elements": _FAR,
    "launch/grid_z_of_batches": _FAR,
    "launch/dynamic_shared_by_columns": _FAR,
    "memory/tile_one_short": _TILES,
    "races/atomic_of_a_block": "atomics of a block's scope count as those of the grid",
    "races/one_try": "threads take turns: no update is lost between a read and its swap",
    "races/stale_expectation": "threads take turns: no update is lost between a read and its swap",
    "races/corners_refilled_at_once": _TILES,
    "sizes/hides_large_n_in_a_product": _FAR,
    "sizes/byte_block_number": _FAR,
    "sizes/first_tile_only": _TILES,
    "sizes/last_tile_dropped": _TILES,
    "sizes/shape_number_in_the_tile": _TILES,
    "sizes/groups_to_64": "only with more groups than any trial has",
    "sizes/shared_bins_for_256": "only with more rows than any trial has",
    "sizes/not_for_multiples_of_256": "no trial has such a size",
}
"""Wrong texts that pass, by class and name, and why."""

REFUSED = {
    "defensive/generic_if_constexpr": "template arguments are not looked up where the text stands",
    "headers/include_limits_template": "numeric_limits has no is_iec559",
    "warps/cg_tile_reduce": "thread_block_tile<32> cannot be made of one with its parent's type",
    "warps/cg_coalesced_threads": "there is no labeled_partition",
    "warps/cg_block_sync_tile16": "thread_block_tile<8> cannot be made of one with its parent's type",
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
    found = told(texts())
    wrongly = {name: verdict for name, verdict in found.items() if verdict.passed != passes}
    assert not {n: str(v) for n, v in wrongly.items() if n not in known}
    assert not known.keys() - wrongly.keys(), "told rightly: to be taken off the table"
    assert {verdict.status for verdict in found.values()}.isdisjoint({"row_unfit", "not_judged"})
