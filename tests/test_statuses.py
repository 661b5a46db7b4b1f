"""Statuses and reject reasons: all in one enumeration, none of them bare in the code, and the page
that lists them."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from scripts.author.write_statuses import PAGE, SECTIONS, page
from synth.dataset.manifest import read_manifest
from synth.reasons import (
    PLAIN,
    GateReason,
    RuleReason,
    ViewReason,
    failed_checks,
    reject_sentence,
    reject_sentences,
)
from synth.rows.runners import Shown
from synth.rows.verify import _ran
from validate.score.judge import SAYS
from validate.statuses import (
    AdjointStatus,
    CompileStatus,
    GpuStatus,
    ProcessEnd,
    RunStatus,
    ScoreStatus,
    Worded,
)

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("generators", "synth", "validate")
HOMES = {"validate/statuses.py", "synth/reasons.py"}
STATUSES = (RunStatus, CompileStatus, AdjointStatus, GpuStatus, ScoreStatus)
ALL = tuple(Worded.__subclasses__())
MEMBERS = [member for words in ALL for member in words]


@lru_cache(maxsize=1)
def _sources() -> dict[str, ast.Module]:
    """Every source but the enumerations' own, by its path below the root."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    found = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in paths}
    return {path: tree for path, tree in found.items() if path not in HOMES}


def _constants(tree: ast.AST) -> Iterator[ast.Constant]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant))


def bare_rejects(tree: ast.AST) -> list[int]:
    """Lines that raise Reject for anything but a member of an enumeration."""
    names = {words.__name__ for words in ALL}
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Reject"
        if not isinstance(node.args[0], ast.Attribute)
        or getattr(node.args[0].value, "id", "") not in names
    ]


def unknown_statuses(tree: ast.AST) -> list[int]:
    """Lines that compare a `status` with a word that no status has."""
    words = {str(status) for statuses in (*STATUSES, ProcessEnd) for status in statuses} | {"ran"}
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and getattr(node.left, "attr", "") == "status"
        for constant in chain.from_iterable(map(_constants, node.comparators))
        if isinstance(constant.value, str) and constant.value not in words
    ]


def test_every_reject_takes_a_member() -> None:
    assert not {path: lines for path, tree in _sources().items() if (lines := bare_rejects(tree))}


def test_no_unknown_status_is_asked_for() -> None:
    found = {path: lines for path, tree in _sources().items() if (lines := unknown_statuses(tree))}
    assert not found


def test_what_is_bare_or_unknown_is_noticed() -> None:
    assert bare_rejects(ast.parse('raise Reject("dead_loop")')) == [1]
    assert bare_rejects(ast.parse("raise Reject(reason)")) == [1]
    assert not bare_rejects(ast.parse("raise Reject(GateReason.DEAD_LOOP, name)"))
    assert unknown_statuses(ast.parse('found.status in ("agrees", "agreed")')) == [1]
    assert not unknown_statuses(ast.parse('found.status == "agrees"'))


def test_validate_gives_no_status_as_a_bare_string() -> None:
    words = {str(status) for statuses in (*STATUSES, ProcessEnd) for status in statuses}
    found = {
        f"{path}:{constant.lineno} {constant.value}"
        for path, tree in _sources().items()
        if path.startswith("validate/")
        for constant in _constants(tree)
        if constant.value in words
    }
    assert not found


def test_no_reason_is_a_bare_string() -> None:
    # The cap on structures is a setting as well, under the same word.
    words = {str(r) for r in (*GateReason, *RuleReason, *ViewReason)} - {"structure_cap"}
    found = {
        f"{path}:{constant.lineno} {constant.value}"
        for path, tree in _sources().items()
        if path.startswith("synth/") and not path.startswith("synth/render/")
        for constant in _constants(tree)
        if constant.value in words
    }
    assert not found


def test_every_member_is_used() -> None:
    used = {
        (getattr(node.value, "id", ""), node.attr)
        for tree in _sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }
    unused = {m for m in MEMBERS if (type(m).__name__, m.name) not in used}
    # How a process ended becomes the status of the same word; what a kernel did in the process of
    # a stranger's text, the verdict of the same word.
    become = {words(end.value) for words in (RunStatus, CompileStatus) for end in ProcessEnd}
    become |= {words for words in ScoreStatus if words.value in {*RunStatus}}
    assert unused <= become, unused - become


def test_one_check_hands_on_only_what_the_next_knows() -> None:
    """Each of these words is given as it is to a runner with statuses of its own."""
    assert {*ProcessEnd} <= {*RunStatus} & {*CompileStatus} & {*ScoreStatus}
    not_of_answers = {RunStatus.AGREES, RunStatus.REFERENCE_ERROR, RunStatus.BAD_ROW}
    assert {*RunStatus} - not_of_answers <= {*ScoreStatus}
    assert SAYS - {"ran"} <= {*ScoreStatus}
    seen_on_a_gpu = {RunStatus.WRONG_VALUE, RunStatus.WROTE_OUT_OF_BOUNDS, RunStatus.INPUT_CHANGED}
    assert seen_on_a_gpu <= {*GpuStatus}


@pytest.mark.parametrize("member", MEMBERS, ids=lambda m: f"{type(m).__name__}.{m.name}")
def test_a_member_is_its_word_and_has_a_sentence(member: Worded) -> None:
    word = member.value
    assert type(word) is str
    assert word == member == str(member) == f"{member}" == f"{member:}"
    assert member.name == word.upper()
    assert {word: 1}[member] == 1
    assert json.dumps({member: [member]}, indent=1) == json.dumps({word: [word]}, indent=1)
    assert pa.array([member], pa.string()).to_pylist() == [word]
    assert type(member)(word) is pickle.loads(pickle.dumps(member)) is copy.deepcopy(member)
    assert member.sentence.endswith(".")
    assert not {"\n", "|"} & {*member.sentence}


def test_every_reason_for_a_failed_check_is_known() -> None:
    bad: list[Any] = [status for status in RunStatus if status is not RunStatus.AGREES]
    for status in bad:
        warp = SimpleNamespace(status="agrees", shapes=(), adjoint="agrees")
        both = Shown(warp, SimpleNamespace(status=status, reason=""))  # type: ignore[type-var]
        failure = _ran({"checks": {}}, both)
        assert failure is not None
        assert failure.reason in failed_checks()
        assert failure.reason == f"{PLAIN}{status}"
    assert len({*failed_checks()} & {*GateReason, *RuleReason}) == 0


def test_every_reason_in_the_manifest_of_the_samples_is_known() -> None:
    manifest = read_manifest(ROOT / "data" / "samples")
    assert manifest is not None
    counted = manifest.draws["rejects_by_reason"]
    assert counted
    assert {*counted} <= {*reject_sentences()}


def test_reasons_of_a_harvest_and_of_another_version() -> None:
    assert (
        reject_sentence("compiled: compile_error: no such type") == "NVRTC refuses the CUDA text."
    )
    assert reject_sentence("dead_loop") == "No thread enters a loop."
    assert reject_sentence("of_a_later_version") == ""


def test_the_page_is_what_the_script_writes() -> None:
    assert PAGE.read_text() == page(), "run: python scripts/author/write_statuses.py"
    assert {words for _, _, words in SECTIONS} == {*ALL}
