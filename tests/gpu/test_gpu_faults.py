"""Faults planted in texts: each is noticed, named, and harms no other row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from gpu_tools import guarded_row, run, statuses

from validate.gpu.device import Device

pytestmark = pytest.mark.gpu

Row = dict[str, Any]
_WILD = "*reinterpret_cast<volatile int*>(16) = 1;"
_GUARDED = re.compile(r"const int (\w+) = blockIdx\.x \* blockDim\.x \+ threadIdx\.x;")
LARGE = 10_000_000
WRONG = 7_654_321


def planted(row: Row, column: str, statement: str) -> Row:
    """The row with a statement that its first thread runs before all else."""
    text = row[column]
    start = text.index("{", text.index('extern "C" __global__ void')) + 1
    first = f"\nif (blockIdx.x == 0 && threadIdx.x == 0) {{ {statement} }}\n"
    return {**row, column: text[:start] + first + text[start:], "id": f"{row['id']}-{column}"}


def pointer(row: Row, role: str, column: str) -> str:
    """The memory of the first array of a role, as a text of that column reaches it."""
    name = next(a["name"] for a in row["args"] if a["kind"] == "array" and a["role"] == role)
    base = f"var_{name}.data" if column == "cuda_forward" else name
    return f"((volatile char*){base})"


@pytest.fixture(scope="module")
def row(dataset: Path) -> Row:
    return guarded_row(dataset)


@pytest.mark.parametrize("column", ["cuda_forward", "cuda_plain"])
def test_a_write_past_an_array_is_noticed(
    devices: list[Device], row: Row, include: Path, column: str
) -> None:
    wrong = planted(row, column, f"{pointer(row, 'out', column)}[-3] = 1;")
    (verdict,) = run([wrong], devices, include).values()
    text = column.removeprefix("cuda_")
    assert statuses(verdict)[text] == "wrote_out_of_bounds"
    if text == "plain":
        assert statuses(verdict)["forward"] == "passed"


@pytest.mark.parametrize("column", ["cuda_forward", "cuda_plain"])
def test_an_input_that_is_overwritten_is_noticed(
    devices: list[Device], row: Row, include: Path, column: str
) -> None:
    # Undone by no one, and in a byte that the kernel's own result hardly shows.
    wrong = planted(row, column, f"{pointer(row, 'in', column)}[0] ^= 1;")
    (verdict,) = run([wrong], devices, include).values()
    assert statuses(verdict)[column.removeprefix("cuda_")] == "input_changed"


@pytest.mark.parametrize("status", ["launch_error", "timeout"])
@pytest.mark.parametrize("column", ["cuda_forward", "cuda_plain"])
def test_a_broken_context_costs_its_row_alone(
    devices: list[Device],
    rows: list[Row],
    row: Row,
    include: Path,
    column: str,
    status: str,
) -> None:
    few = rows[:5]
    memory = pointer(row, "in", column)
    endless = f"while ({memory}[0] == {memory}[0]) {{ }}"
    wrong = planted(row, column, endless if status == "timeout" else _WILD)
    verdicts = run(
        [*few[:3], wrong, *few[3:]], devices, include, timeout_s=8.0, large_elements=4096
    )
    guilty = verdicts.pop(wrong["id"])
    text = column.removeprefix("cuda_")
    assert guilty.alone
    assert statuses(guilty)[text] == status
    if text == "plain":
        assert statuses(guilty)["forward"] == "passed"
    else:
        assert statuses(guilty)["plain"] == "passed"
    assert len(verdicts) == len(few)
    assert all(v.passed and not v.alone for v in verdicts.values())


def test_a_text_that_knows_the_size_of_its_block_is_noticed(
    devices: list[Device], row: Row, include: Path
) -> None:
    block = row["plain_launch"][0]["block"][0]
    fixed = row["cuda_plain"].replace("blockDim.x", str(block))
    # Only a text that asks for the size of its block is run in smaller ones.
    assert fixed != row["cuda_plain"]
    wrong = planted({**row, "cuda_plain": fixed}, "cuda_plain", "if (blockDim.x == 0) { return; }")
    (verdict,) = run([wrong], devices, include, large_elements=0).values()
    (plain,) = (result for result in verdict.results if result.text == "plain")
    assert plain.status == "wrong_value"
    assert "in small blocks" in plain.reason


def test_one_wrong_element_of_ten_million_is_noticed(
    devices: list[Device], row: Row, include: Path
) -> None:
    found = _GUARDED.search(row["cuda_plain"])
    assert found is not None
    out = next(a["name"] for a in row["args"] if a["role"] == "out")
    body, brace, _ = row["cuda_plain"].rpartition("}")
    extra = f"    if ({found[1]} == {WRONG}) {{ {out}[{found[1]}] += 1.0f; }}\n"
    wrong = {**row, "cuda_plain": body + extra + brace + "\n", "id": "one-of-ten-million"}
    verdicts = run([row, wrong], devices, include, large_elements=LARGE)
    assert verdicts[row["id"]].passed
    guilty = verdicts[wrong["id"]]
    assert statuses(guilty)["forward"] == "passed"
    (plain,) = (result for result in guilty.results if result.text == "plain")
    assert plain.status == "wrong_value"
    assert f"[{WRONG}]" in plain.reason
    assert "(1 of" in plain.reason


@pytest.mark.parametrize("text", ["forward", "plain"])
def test_too_many_threads_are_a_launch_error(
    devices: list[Device], row: Row, include: Path, text: str
) -> None:
    if text == "forward":
        wrong = {**row, "launch": {**row["launch"], "block_dim": 2048}}
    else:
        (launch,) = row["plain_launch"]
        wrong = {**row, "plain_launch": [{**launch, "block": [2048]}]}
    (verdict,) = run([wrong], devices, include).values()
    assert statuses(verdict)[text] == "launch_error"
    assert not verdict.alone


@pytest.mark.parametrize("column", ["cuda_forward", "cuda_plain"])
def test_a_text_that_does_not_compile_is_named(
    devices: list[Device], row: Row, include: Path, column: str
) -> None:
    (verdict,) = run([planted(row, column, "no_such_name = 1;")], devices, include).values()
    (result,) = (r for r in verdict.results if r.text == column.removeprefix("cuda_"))
    assert result.status == "compile_error"
    assert "no_such_name" in result.reason


def test_parameters_of_another_size_are_not_launched(
    devices: list[Device], row: Row, include: Path
) -> None:
    wrong = {**row, "args": [*row["args"], row["args"][0] | {"name": "one_more"}]}
    (verdict,) = run([wrong], devices, include).values()
    assert statuses(verdict)["forward"] == "wrong_shape"


def test_a_wrong_value_is_noticed(devices: list[Device], row: Row, include: Path) -> None:
    out = next(a["name"] for a in row["args"] if a["role"] == "out")
    body, brace, _ = row["cuda_plain"].rpartition("}")
    wrong = {**row, "cuda_plain": f"{body}    {out}[0] = 3.0e5f;\n{brace}\n"}
    (verdict,) = run([wrong], devices, include).values()
    assert statuses(verdict)["plain"] == "wrong_value"
    assert statuses(verdict)["forward"] == "passed"
