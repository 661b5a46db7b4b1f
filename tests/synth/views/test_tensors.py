"""Views in PyTorch: problems as a harness takes them, and which of them are left out."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from datasets import load_dataset

from generators.program.serialise import from_json
from synth.cli.main import main
from synth.dataset.stored import stored_rows
from synth.dataset.views_index import stored_views
from synth.errors import SettingsError
from synth.reasons import ViewReason
from synth.render.array.module import render_torch
from synth.render.array.values import NoForm
from synth.render.host.kernelbench import Problem
from synth.render.host.launcher import NoHostSide
from synth.render.host.random_inputs import NoDraw, drawn
from synth.views.make import make_views
from synth.views.plain import LeftOut
from synth.views.tensors import autograd
from validate.oracle.problem import (
    MOST_ELEMENTS,
    ProblemFailed,
    check_cost,
    check_problem,
    load_problem,
    shrunk,
)
from validate.oracle.rounding import in_turn
from validate.oracle.tensors import torch_version

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
WITH_TORCH = pytest.mark.skipif(torch_version() is None, reason="PyTorch is not installed")

Row = dict[str, Any]


def _problems() -> dict[str, tuple[Row, Problem, str]]:
    found = {}
    for _, row in stored_rows(SAMPLES):
        try:
            problem = Problem(row, render_torch(from_json(row["program"])))
            found[row["id"]] = (row, problem, problem.problem())
        except (NoForm, NoHostSide, NoDraw):
            continue
    return found


PROBLEMS = _problems()


def names_in(text: str) -> set[str]:
    """Names that a module defines."""
    tree = ast.parse(text).body
    defined = {n.name for n in tree if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    targets = [t for n in tree if isinstance(n, ast.Assign) for t in n.targets]
    return defined | {t.id for t in targets if isinstance(t, ast.Name)}


def test_there_are_problems_among_the_samples() -> None:
    assert len(PROBLEMS) >= 5


@pytest.mark.parametrize("key", PROBLEMS)
def test_a_solution_gives_its_operator_all_that_it_takes(key: str) -> None:
    """Sizes that its backward kernel alone asks for, too."""
    _, problem, _ = PROBLEMS[key]
    nodes = list(ast.walk(ast.parse(problem.solution())))
    entry = f"{problem.name}_cuda"
    (made,) = (n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == entry)
    calls = [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == entry]
    assert [len(call.args) for call in calls] == [len(made.args.args)]


@pytest.mark.parametrize("key", PROBLEMS)
def test_a_problem_and_its_solution_share_no_name(key: str) -> None:
    """The harness runs both in one namespace: what the solution named the same would take the
    reference's place, and be compared with itself."""
    row, problem, asked = PROBLEMS[key]
    answer = problem.solution()
    assert {"Model", "get_inputs", "get_init_inputs"} <= names_in(asked)
    assert "ModelNew" in names_in(answer)
    assert not names_in(asked) & names_in(answer)
    assert row["kernel_name"] in names_in(asked)


@pytest.mark.parametrize("key", PROBLEMS)
def test_sizes_are_those_that_the_row_is_for(key: str) -> None:
    row, problem, asked = PROBLEMS[key]
    space = {
        n.targets[0].id: n.value.value
        for n in ast.parse(asked).body  # type: ignore[attr-defined]
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)
    }
    for span in row["regime"]:
        value = space[problem.variables[span["symbol"]]]
        assert 0.9 * span["low"] <= value <= 1.1 * span["high"]


def test_rows_that_the_harness_cannot_compare_have_no_problem() -> None:
    row, _, _ = next(iter(PROBLEMS.values()))
    text = render_torch(from_json(row["program"]))
    doubled = [dict(a, dtype="float64") if a["dtype"] == "float32" else a for a in row["args"]]
    if doubled != row["args"]:
        with pytest.raises(NoHostSide, match="32 bits"):
            Problem({**row, "args": doubled}, text)
    out = next(a for a in row["args"] if a["role"] != "in")
    plain = next(p for p in row["plain_args"] if p["name"])
    two = {**row, "args": [*row["args"], {**out, "name": "other"}]}
    two["plain_args"] = [*row["plain_args"], {**plain, "name": "other", "size": None}]
    with pytest.raises(NoHostSide, match="several outputs"):
        Problem(two, text)


@pytest.mark.parametrize(
    ("arg", "text"),
    [
        ({"init": "uniform", "low": "0", "high": "1"}, "torch.rand((n,))"),
        ({"init": "uniform", "low": "-2.0", "high": "2.0"}, "4.0 * torch.rand((n,)) - 2.0"),
        ({"init": "uniform", "low": "0.5", "high": "1.5"}, "torch.rand((n,)) + 0.5"),
        (
            {"dtype": "int32", "init": "uniform", "low": "1", "high": "6"},
            "torch.randint(1, 7, (n,), dtype=torch.int32)",
        ),
        (
            {"dtype": "int32", "init": "index_of:m"},
            "torch.randint(0, m, (n,), dtype=torch.int32)",
        ),
        ({"dtype": "int64", "init": "permutation"}, "torch.randperm(n, dtype=torch.int64)"),
        (
            {"init": "sorted", "low": "0", "high": "2"},
            "torch.sort(2.0 * torch.rand((n,)), dim=-1).values",
        ),
        ({"init": "reduction_identity", "low": "0", "high": "0"}, "torch.zeros((n,))"),
        (
            {"init": "reduction_identity", "low": "inf", "high": "inf"},
            'torch.full((n,), float("inf"))',
        ),
        (
            {"dtype": "bool", "init": "uniform"},
            "torch.randint(0, 2, (n,), dtype=torch.bool)",
        ),
    ],
)
def test_inputs_are_drawn_as_people_write_it(arg: Row, text: str) -> None:
    whole = {"name": "x", "dtype": "float32", "shape": ["n"], "low": None, "high": None, **arg}
    assert drawn(whole, "(n,)", str) == text


def test_directions_are_normalised() -> None:
    arg = {"name": "x", "dtype": "vec3[float32]", "shape": ["n"], "init": "unit"}
    wanted = "torch.nn.functional.normalize(torch.randn((n, 3)), dim=-1)"
    assert drawn(arg, "(n, 3)", str) == wanted
    with pytest.raises(NoDraw):
        drawn({**arg, "dtype": "transform[float32]"}, "(n, 7)", str)


@pytest.mark.parametrize("name", ["torch", "kernelbench"])
def test_without_pytorch_one_line_says_what_to_install(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    out = shutil.copytree(SAMPLES, tmp_path / "data")
    done = CliRunner().invoke(main, ["training-views", str(out), "--view", name, "--quiet"])
    assert done.exit_code == 2
    assert "pip install" in done.output
    assert done.output.count("\n") == 1
    assert not (out / "views").exists()


def _problem(body: str, draw: str = "torch.rand(n)", n: int = 4096) -> str:
    return (
        "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n"
        f"    def forward(self, x):\n        {body}\n\n\nn = {n}\n\n\n"
        f"def get_inputs():\n    return [{draw}]\n\n\ndef get_init_inputs():\n    return []\n"
    )


LEAST = {"n": (1, 1)}


@WITH_TORCH
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return x * 0.00001", "zeros"),
        ("return 3.0 + x * 0.00001", "mean"),
        ("return torch.where(x < 0.00001, x, 2.0)", "mean|median"),
        ("return x.clone()", "input"),
        ("y = 2.0 * x\n        return y + 1e-6", "freed"),
        ("return torch.log(x - 1.0)", "finite"),
        ("return (x,)", "tensor"),
        ("return 1.0 / (torch.sin(1000.0 * x) - 0.99)", "rounding"),
        ("return x @ torch.ones(3)", "RuntimeError"),
    ],
)
def test_problems_that_the_harness_cannot_judge_by_are_told(body: str, why: str) -> None:
    with pytest.raises(ProblemFailed, match=why):
        check_problem(_problem(body), {"n": 4096}, LEAST, (1,))


@WITH_TORCH
def test_rounding_of_a_sum_is_judged_at_the_size_in_use() -> None:
    """What rounding does to a sum of some millions says what it would do to hundreds of them."""
    body = "return (torch.sin(6.28319 * x) * x).sum(0, keepdim=True)"
    few, many = {"n": 1 << 20}, {"n": 1 << 32}
    check_problem(_problem(body), few, LEAST, (1,))
    with pytest.raises(ProblemFailed, match="rounding"):
        check_problem(_problem(body), many, LEAST, (1,))


@WITH_TORCH
def test_values_that_rounding_decides_on_are_told_though_no_draw_meets_one() -> None:
    """Another device's sine decides otherwise once in some ten million draws; what is exact, as a
    comparison of an input, is decided alike everywhere."""
    sizes = {"n": 1 << 20}
    jump = "return torch.where(torch.sin(3.0 * x) > 0.5, x, -x)"
    with pytest.raises(ProblemFailed, match="decides"):
        check_problem(_problem(jump), sizes, LEAST, (1,))
    exact = "return torch.where(4.0 * x > 1.0, torch.sin(x), -torch.sin(x))"
    check_problem(_problem(exact), sizes, LEAST, (1,))


@WITH_TORCH
def test_small_jumps_and_quotients_by_what_is_nearly_zero_are_told() -> None:
    sizes = {"n": 1 << 20}
    small = "return torch.where(torch.sin(3.0 * x) > 0.5, x, x + 0.01)"
    few = "y = torch.sin(3.0 * x) - 0.5\n        return torch.sin(x) + 1e-9 / (y.abs() + 3e-6)"
    for body in (small, few):
        with pytest.raises(ProblemFailed, match="decides"):
            check_problem(_problem(body), sizes, LEAST, (1,))


@WITH_TORCH
def test_a_sum_is_taken_to_round_as_terms_that_are_added_in_turn() -> None:
    """Beside a loop that adds float32 numbers one after the other, for sums and for means."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(5)
    terms = torch.rand(64, 4096) - torch.linspace(0.0, 0.5, 64)[:, None]
    total = torch.zeros(64)
    for k in range(4096):
        total = total + terms[:, k]
    off = (total.double() - terms.double().sum(1)).square().mean().sqrt()
    for name, whole in (("sum", 4096), ("mean", 1)):
        squares = (terms.double() ** 2).sum(1) * whole / 4096
        told = in_turn(terms.double().sum(1) * whole / 4096, squares, 4096, name)
        ratio = float(told.square().mean().sqrt() / off) * 4096 / whole
        assert 0.3 < ratio < 3.0


@WITH_TORCH
def test_products_of_whole_numbers_are_told_since_no_gpu_has_them() -> None:
    draw = "torch.randint(0, 9, (n, 4), dtype=torch.int32)"
    body = "y = x.to(torch.int32)\n        return (y @ y.T)[:, :3] + 0"
    with pytest.raises(ProblemFailed, match="whole numbers"):
        check_problem(_problem(body, draw, n=64), {"n": 64}, LEAST, (1,))


@WITH_TORCH
def test_a_fair_problem_passes_and_its_cost_is_counted() -> None:
    fair = _problem("return torch.exp(-x) * torch.sin(3.0 * x)")
    check_problem(fair, {"n": 4096}, LEAST, (1, 2))
    check_cost(fair)
    with pytest.raises(ProblemFailed, match="calls"):
        check_cost(_problem("for k in range(5000):\n            x = x * 0.5\n        return x"))
    with pytest.raises(ProblemFailed, match="large"):
        check_cost(_problem("return x[:, None] - x", n=100_000))
    # What values decide on has no shape ahead of a run: it is not counted.
    check_cost(_problem("return x[torch.nonzero(x > 0.5).squeeze(1)]"))


@WITH_TORCH
def test_sizes_are_halved_until_inputs_are_small() -> None:
    space = load_problem(_problem("return x", "torch.rand(n, w)") + "w = 8\n")
    found = shrunk(space, {"n": 1 << 20, "w": 8}, {"n": (4, 4), "w": (1, 1)}, MOST_ELEMENTS)
    assert found == {"n": MOST_ELEMENTS // 8, "w": 8}


@WITH_TORCH
def test_a_gradient_that_autograd_does_not_give_is_not_asked_for() -> None:
    row = next(
        r for r, _, _ in PROBLEMS.values() if r["backward_args"] and r["category"] == "arithmetic"
    )
    assert "autograd.Function" in autograd(row).answer
    name = row["backward_reference"].split("(")[0].split()[-1]
    doubled = row["backward_reference"] + (
        f"\n_right = {name}\n\n\ndef {name}(dim, *given):\n    _right(dim, *given)\n"
        "    given[-1][...] *= 2.0\n"
    )
    with pytest.raises(LeftOut) as left:
        autograd({**row, "backward_reference": doubled})
    assert left.value.reason == ViewReason.AUTOGRAD_DIFFERS


@WITH_TORCH
def test_views_of_the_samples_load_and_say_with_what_they_ran(tmp_path: Path) -> None:
    out = Path(shutil.copytree(SAMPLES, tmp_path / "data"))
    made = make_views(out, ["torch", "autograd", "kernelbench"])
    assert made.settings["torch"] == torch_version()
    rows = len(list(stored_rows(SAMPLES)))
    assert made.views["torch"].rows > 0.35 * rows
    left_out = made.views["torch"].left_out
    assert set(left_out) <= {ViewReason.NO_TENSORS, ViewReason.NO_HOST_SIDE}
    assert made.views["torch"].rows + sum(left_out.values()) == rows
    assert made.views["autograd"].rows > 0.2 * rows
    asked = load_dataset(str(out), "autograd", cache_dir=str(tmp_path / "cache"))["train"]
    for row in asked:
        question, answer = (message["content"] for message in row["messages"])
        assert "torch.nn.Module" in question
        assert "torch.autograd.Function" in answer
    found = load_dataset(str(out), "kernelbench", cache_dir=str(tmp_path / "cache"))
    for split in found:
        for row in found[split]:
            assert row["problem"] in row["messages"][0]["content"]
            assert row["solution"] in row["messages"][1]["content"]
    assert stored_views(out) == made


def test_an_unknown_view_is_told_all_there_are(tmp_path: Path) -> None:
    out = Path(shutil.copytree(SAMPLES, tmp_path / "data"))
    with pytest.raises(SettingsError, match="kernelbench"):
        make_views(out, ["pytorch"])
