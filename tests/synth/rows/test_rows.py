"""Rows of every idiom and level: the texts are clean, agree with each other and run."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sweeps import part_of

from extract import extract_module
from generators.program.serialise import from_json
from synth.cli.show import regenerated_difference
from synth.codegen.translator import Translator
from synth.dataset.settings import Versions, make_settings
from synth.gates.contract import args_of
from synth.gates.evaluate import Evaluation
from synth.gates.variants import prepare
from synth.rows.maker import Accepted, PairMaker, Row
from validate.host.runner import HostRunner
from validate.oracle.reference import run_reference
from validate.row.inputs import draw_inputs
from validate.row.schema import check_row

CALLS = re.compile(r"wp\.(sin|exp|sqrt|dot|atomic_\w+|floor)\(")
CUDA_TEXTS = ("cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward")


def _part(rows: list[Row], one_in: int) -> list[Row]:
    return part_of(rows, one_in, lambda row: row["idiom"], lambda row: row["category"])


def test_every_row_fits_the_schema(all_rows: list[Row]) -> None:
    assert [problem for row in all_rows for problem in check_row(row)] == []


def test_a_row_made_alone_equals_the_row_made_in_a_batch(
    all_accepted: list[Accepted], all_rows: list[Row]
) -> None:
    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    for accepted, row in list(zip(all_accepted, all_rows, strict=True))[::7]:
        assert maker.rows([accepted]) == [row]


def test_the_memo_gives_stock_text_for_every_idiom(all_rows: list[Row]) -> None:
    stock = Translator(backward=True, memoise=False)
    texts = stock.translate_batch([(row["python"], row["kernel_name"]) for row in all_rows])
    for text, row in zip(texts, all_rows, strict=True):
        module = extract_module(text, strip_kernel_hash=False)
        assert module.kernels[0].forward == row["cuda_forward"]
        assert module.kernels[0].backward == row["cuda_backward"]
        assert module.helpers == row["cuda_helpers"]


def test_the_cuda_holds_nothing_of_the_question_or_the_machine(all_rows: list[Row]) -> None:
    for row in all_rows:
        lines = {line.strip() for line in row["python"].splitlines() if len(line.strip()) > 12}
        for name in CUDA_TEXTS:
            text = row[name]
            assert not re.search(r"<L \d+>|\.py\b|// ?/|_[0-9a-f]{8}\b", text), row["kernel_name"]
            comments = {c.strip() for c in re.findall(r"//(.*)", text)}
            assert not comments & lines, row["kernel_name"]


def test_the_line_map_leads_from_the_python_to_its_cuda(all_rows: list[Row]) -> None:
    calls = 0
    for row in all_rows:
        python, cuda = row["python"].splitlines(), row["cuda_forward"].splitlines()
        pairs = list(zip(row["line_map_python"], row["line_map_cuda"], strict=True))
        assert pairs
        ends = [at for _, at in pairs[1:]] + [len(cuda) + 1]
        for (source, target), end in zip(pairs, ends, strict=True):
            if python[source - 1].endswith(("(", "[")):
                continue  # what stands in the brackets has lines of its own
            for builtin in re.findall(
                r"wp\.(sin|exp|sqrt|dot|atomic_\w+|floor)\(", python[source - 1]
            ):
                block = "\n".join(cuda[target - 1 : end - 1])
                assert f"wp::{builtin}(" in block, (row["kernel_name"], python[source - 1], block)
                calls += 1
    assert calls > 20


def test_the_reference_agrees_with_the_evaluation(
    all_accepted: list[Accepted], all_rows: list[Row]
) -> None:
    """Two independent readings of the program tree: lanes in NumPy, and the printed reference."""
    for accepted, row in zip(all_accepted, all_rows, strict=True):
        program = accepted.program
        sizes = {s.symbol: s.value for s in program.sizes}
        evaluation = prepare(program, sizes)
        evaluation.run()
        args = args_of(program)
        inputs = draw_inputs(args, sizes, program.input_seed)
        dim = tuple(len(np.unique(axis)) for axis in _grid(evaluation))
        outputs = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        for name, want in outputs.items():
            got = evaluation.memories[name].base_values()
            _compare(want, got, f"{row['category']}/{row['idiom']} {name}")


def _grid(evaluation: Evaluation) -> list[np.ndarray]:
    frame = evaluation._frames[0]
    names = evaluation.program.kernel.threads
    return [evaluation.lanes.base(frame.variables[name]) for name in names]


def _compare(want: np.ndarray, got: object, where: str) -> None:
    if isinstance(got, dict):
        for name, part in got.items():
            _compare(want[name], part, f"{where}.{name}")
        return
    assert isinstance(got, np.ndarray)
    flat = np.moveaxis(got, -1, 0).reshape(want.shape)
    if want.dtype.kind == "f":
        np.testing.assert_allclose(want, flat, rtol=1e-9, atol=1e-9, err_msg=where)
    else:
        np.testing.assert_array_equal(want, flat, err_msg=where)


def test_every_idiom_runs_and_agrees(all_rows: list[Row]) -> None:
    """A part of them; `make test-all` runs every one."""
    rows = _part(all_rows, 4)
    with HostRunner() as runner:
        results = runner.run(rows)
    bad = [
        (row["category"], row["idiom"], row["level"], result.status, result.reason)
        for row, result in zip(rows, results, strict=True)
        if result.status != "agrees"
    ]
    assert bad == []
    wanted = [3 + len(row["edge_inputs"]) for row in rows]
    assert [len(result.shapes) for result in results] == wanted


def test_the_program_column_makes_the_row_again(all_rows: list[Row]) -> None:
    for row in _part(all_rows, 9):
        # these rows were drawn by idiom, so their provenance leads elsewhere
        elsewhere = {**row, "provenance": {**row["provenance"], "pairsmith": "0.0"}}
        assert regenerated_difference(elsewhere) == ""
        assert from_json(row["program"]).idiom == row["idiom"]


@pytest.mark.parametrize("name", CUDA_TEXTS)
def test_every_row_has_a_text(all_rows: list[Row], name: str) -> None:
    assert all(row[name] or name == "cuda_helpers" for row in all_rows)
