"""What every op answers at the edges of its types; see scripts/measure/edges/table.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from generators.program.dtypes import Scalar, parse_type
from generators.program.ops import ATOMICS, OPS
from generators.program.samplers import SAMPLERS

pytest.importorskip("warp")

from scripts.measure.edges.op_programs import OneOp, op_program
from scripts.measure.edges.table import (
    EXPLAINED,
    Difference,
    Entry,
    answer,
    differences,
    domains,
    table,
    table_of,
    unexplained,
)
from synth.render.cuda import kernel as cuda_kernel
from synth.render.ranges.table import Edges

# The types that most programs compute with; the script runs all.
POOL = [
    *(Scalar(name) for name in ("bool", "int32", "float32")),
    *map(parse_type, ("vec3[float32]", "mat3x3[float32]", "quat[float32]")),
    *map(parse_type, ("transform[float32]", "vec6[float32]")),
]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    found = table(POOL)
    answer(found)
    return found


@pytest.fixture(scope="module")
def found(entries: list[Entry]) -> list[Difference]:
    return list(differences(entries))


def test_every_op_has_an_entry(entries: list[Entry]) -> None:
    atomics = {f"atomic_{name}" for name in ATOMICS}
    assert {e.one.op for e in entries} == {*OPS, *atomics, *SAMPLERS, "cast"}
    assert min(e.cases for e in entries) > 1


def test_warp_plain_cuda_and_reference_answer_the_same(found: list[Difference]) -> None:
    """But for cases that the gates refuse and that mean nothing, or that a type cannot hold."""
    assert [str(d) for d in unexplained(found)] == []


def test_every_explanation_explains_something(
    entries: list[Entry], found: list[Difference]
) -> None:
    used = {name for d in found if d.other == "plain" for name in domains(d.entry)}
    used |= {name for d in found if d.verdict == "domain_error" for name in domains(d.entry)}
    assert EXPLAINED.keys() <= used


@dataclass
class _Unguarded(Edges):
    """As if no argument ever came to an edge."""

    def guards(self, node: Any) -> bool:
        return False

    def beyond_one(self, node: Any) -> tuple[bool, bool]:
        return False, False


EDGED = [
    ("normalize", "vec3[float32]"),
    ("normalize", "quat[float32]"),
    ("inverse", "mat3x3[float32]"),
    ("asin", "float32"),
    ("acos", "float32"),
]


def test_a_text_without_its_guard_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_kernel, "edges_of", lambda _program: _Unguarded())
    choices = [(name, (parse_type(t),)) for name, t in EDGED]
    cases = table_of([OneOp(n, t, op_program(n, t, k)) for k, (n, t) in enumerate(choices)])
    answer(cases)
    noticed = unexplained(d for d in differences(cases) if d.other == "plain")
    assert {(d.entry.one.op, d.entry.one.types) for d in noticed} == set(choices)
