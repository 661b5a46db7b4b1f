"""What is said of a wrong text: in digits that tell, what a fault does, as people write it."""

from __future__ import annotations

import re

import pytest

from synth.views.diagnosis import diagnosis, explained
from synth.views.evidence import evidence
from synth.views.tidy import tidied
from validate.mutants.warp.draw import Mutant
from validate.statuses import ScoreStatus


def test_evidence_has_digits_that_tell_two_numbers_apart() -> None:
    args = [{"name": "y", "role": "out", "init": "", "kind": "array"}]
    row = {"args": args, "plain_args": [], "kernel_name": "k"}
    example = {"sizes": {}, "index": [2], "output": "y", "field": ""}
    for got, want in ((0.18590212345678, 0.18590212345679), (1.0000001, 1.0), (2.5, 3.5)):
        numbers = {"got": got, "want": want}
        told = evidence(row, ScoreStatus.WRONG_VALUE, "", "", example | numbers)
        first, second = re.findall(r"(?:is|be) (-?[\d.e+-]+?)[;.](?:\s|$)", told)
        assert first != second, told
    assert "is 2.5; it should be 3.5" in told


_START = "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"


@pytest.mark.parametrize(
    ("fault", "wrong", "right", "told"),
    [
        ("branch_removed", "", "    if (i >= n) {\n        return;\n    }\n", "leave there go on"),
        ("branch_removed", "", "    if (i == j) {\n        continue;\n    }\n", "are done as well"),
        (
            "loop_bound_moved",
            "    for (int k = i + 1; k < n; ++k) {\n",
            "    for (int k = i; k < n; ++k) {\n",
            "begins one late",
        ),
        (
            "loop_bound_moved",
            "    for (int k = n; k > -1; --k) {\n",
            "    for (int k = n - 1; k > -1; --k) {\n",
            "a turn before its first",
        ),
        (
            "loop_bound_moved",
            "    for (int k = i; k < n - 1; ++k) {\n",
            "    for (int k = i; k < n; ++k) {\n",
            "a turn too many or too few",
        ),
        ("term_dropped", "    y = x[i];\n", "    y = x[s * d + i];\n", "that of another element"),
        (
            "term_dropped",
            "    const int k = blockIdx.y * blockDim.y;\n",
            "    const int k = blockIdx.y * blockDim.y + threadIdx.y;\n",
            "all threads of a block take the same elements",
        ),
        (
            "term_dropped",
            "    for (int k = blockIdx.y + threadIdx.y; k < n; k += blockDim.y) {\n",
            "    for (int k = blockIdx.y * blockDim.y + threadIdx.y; k < n; k += blockDim.y) {\n",
            "start one element apart",
        ),
        (
            "term_dropped",
            "    const int q = zero;\n    y[i] = q;\n",
            "    const int q = (int)v + zero;\n    y[i] = q;\n",
            "is missing",
        ),
        (
            "loop_bound_moved",
            "    for (int k = t; k < n; ++k) {\n    for (int k = t + 1; k < n; ++k) {\n",
            "    for (int k = t; k < n; ++k) {\n    for (int k = t; k < n; ++k) {\n",
            "begins one late",
        ),
        ("term_dropped", "    y = a;\n", "    y = a + b;\n", "is missing"),
    ],
)
def test_faults_are_told_as_what_they_do(fault: str, wrong: str, right: str, told: str) -> None:
    ours, theirs = _START + wrong + "    z[i] = 1;\n", _START + right + "    z[i] = 1;\n"
    assert told in explained(diagnosis(ours, theirs), fault, ours, theirs)


@pytest.mark.parametrize(
    ("made", "tidy"),
    [
        ("x[k] = (*(&x[k])) | (1u << k);", "x[k] |= 1u << k;"),
        ("for (int k = 0 + 1; k < n; ++k) {", "for (int k = 1; k < n; ++k) {"),
        (
            "for (int k = (b * d + t) + 1; k < n; ++k) {",
            "for (int k = b * d + t + 1; k < n; ++k) {",
        ),
    ],
)
def test_wrong_texts_are_as_people_write_them(made: str, tidy: str) -> None:
    assert tidied(Mutant("any", 1, "", "", "", f"    {made}")) == f"    {tidy}"


def test_nothing_is_left_of_a_barrier_that_is_gone() -> None:
    text = "    x[t] = 1;\n    ;\n    y = x[0];"
    assert tidied(Mutant("barrier_removed", 2, "", "", "", text)) == "    x[t] = 1;\n    y = x[0];"
