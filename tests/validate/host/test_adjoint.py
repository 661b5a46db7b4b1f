"""The adjoint check: equal to Warp's own tape, right about right and wrong adjoints."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from drawn_programs import accepted_draw
from hand_rows import Row, arg, make_row, output, sizes

from synth.dataset.settings import Versions, make_settings
from synth.rows.maker import PairMaker
from validate.host import clang
from validate.host.adjoint import draw_cotangents, run_backward
from validate.host.launch import HostLauncher, launch, load_entry
from validate.host.memory import Arena, arrays_of
from validate.host.runner import HostRunner
from validate.oracle.derivative import Loss, direction_for
from validate.row.adjoint import has_adjoint
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.statuses import AdjointStatus
from validate.text.headers import warp_include_dir
from validate.text.warp_host import translation_unit

DRAWN = [
    ("arithmetic", "stencil", 2),
    ("math", "softmax_statistic", 3),
    ("math", "distribution", 4),
    ("vector", "particle_step", 3),
    ("vector", "rigid_motion", 4),
    ("matrix", "array_product", 3),
    ("matrix", "small_solve", 4),
    ("control_flow", "escape_time", 3),
    ("atomic", "reduction", 3),
    ("atomic", "scatter", 4),
]


@pytest.fixture(scope="module")
def drawn() -> list[Row]:
    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    accepted = [accepted_draw(*which, seed=seed) for which in DRAWN for seed in (1, 2)]
    return [row for row in maker.rows(accepted) if has_adjoint(row)]


@pytest.fixture(scope="module")
def runner() -> Iterator[HostRunner]:
    with HostRunner() as host:
        yield host


def _kernel_of(row: Row, folder: Path) -> Any:
    path = folder / f"tape_{row['id']}.py"
    path.write_text(row["python"])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module, getattr(module, row["kernel_name"])


def _warp_dtype(module: Any, text: str, array: Any) -> Any:
    if hasattr(module, text):
        return getattr(module, text)
    scalar = wp.dtype_from_numpy(array.dtype)
    kind = text.split("[")[0]
    if kind == text:
        return scalar
    if kind.startswith("vec"):
        return wp.types.vector(int(kind[3:]), scalar)
    if kind.startswith("mat"):
        rows, columns = kind[3:].split("x")
        return wp.types.matrix((int(rows), int(columns)), scalar)
    made = wp.types.quaternion if kind == "quat" else wp.types.transformation
    return made(scalar)


def _tape_gradients(row: Row, folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Gradients of the float inputs from Warp's CPU device, with the check's own cotangents."""
    module, kernel = _kernel_of(row, folder)
    shapes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], shapes, row["input_seed"])
    cotangents = draw_cotangents(row, inputs)
    values = {}
    for entry in row["args"]:
        value = inputs[entry["name"]]
        dtype = _warp_dtype(module, entry["dtype"], value)
        if entry["kind"] != "array":
            values[entry["name"]] = dtype(*value.ravel()) if value.ndim else dtype(value.item())
            continue
        values[entry["name"]] = wp.array(
            value, dtype=dtype, device="cpu", requires_grad=value.dtype.kind == "f"
        )
    tape = wp.Tape()
    with tape:
        dim = evaluate_all(row["launch"]["dim"], shapes)
        wp.launch(kernel, dim=dim, inputs=list(values.values()), device="cpu")
    for name, cotangent in cotangents.items():
        values[name].grad.assign(cotangent)
    tape.backward()
    return {
        entry["name"]: values[entry["name"]].grad.numpy()
        for entry in row["args"]
        if entry["kind"] == "array" and entry["role"] == "in" and values[entry["name"]].grad
    }


def _host_gradients(row: Row, folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    clang.start()
    obj, handle = folder / f"{row['id']}.o", f"adjoint_{row['id']}"
    clang.build(translation_unit([row]), obj, warp_include_dir(), folder)
    clang.load(obj, handle)
    forward, backward = (load_entry(handle, way, 0) for way in ("forward", "backward"))
    shapes = own_sizes(row["sizes"])
    dim = evaluate_all(row["launch"]["dim"], shapes)
    inputs = draw_inputs(row["args"], shapes, row["input_seed"])
    arena = Arena(arrays_of(row["args"], inputs))
    launch(forward, dim, arena.parameters(row["args"], inputs))
    after = {**inputs, **{name: arena.array(name) for name in arena.values}}
    gradients, trouble = run_backward(
        row, dim, after, draw_cotangents(row, inputs), HostLauncher(backward)
    )
    assert not trouble
    clang.unload(handle)
    return gradients


def test_the_backward_text_gives_the_gradients_of_warps_tape(
    drawn: list[Row], tmp_path: Path
) -> None:
    compared = 0
    for row in drawn:
        if any(entry["fields"] for entry in row["args"]):
            continue
        ours = _host_gradients(row, tmp_path)
        for name, gradient in _tape_gradients(row, tmp_path).items():
            np.testing.assert_allclose(
                ours[name], gradient, rtol=2e-4, atol=1e-5, err_msg=f"{row['python']}{name}"
            )
            compared += gradient.size
    assert compared > 3000


def test_statuses_of_drawn_rows(drawn: list[Row], runner: HostRunner) -> None:
    results = runner.run(drawn)
    assert {result.status for result in results} == {"agrees"}
    assert {"agrees", "warp_differs"} <= {result.adjoint for result in results}
    assert {result.adjoint for result in results} <= {*AdjointStatus}
    assert all(r.adjoint_tolerance_used < 0.2 for r in results if r.adjoint == "agrees")
    assert results == runner.run(drawn)


def _spoilt(row: Row, old: str, new: str) -> Row:
    assert old in row["cuda_backward"], old
    return {**row, "cuda_backward": row["cuda_backward"].replace(old, new, 1)}


@pytest.fixture(scope="module")
def scaled() -> Row:
    """out[i] = a[i] * b[i] + sin(a[i])."""
    python = """import warp as wp


@wp.kernel
def blend(a: wp.array(dtype=float), b: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[i] * b[i] + wp.sin(a[i])
"""
    reference = """import math


def blend(dim, a, b, out):
    for i in range(dim[0]):
        out[i] = a[i] * b[i] + math.sin(a[i])
"""
    args = [
        arg("a", "float32", low="-2", high="2"),
        arg("b", "float32", low="-2", high="2"),
        output("out", "float32"),
    ]
    return make_row("blend", python, reference, args, sizes(n=64), ["n"])


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("wp::adj_mul(", "wp::adj_max(", "warp_differs"),
        ("wp::adj_sin(", "wp::adj_cos(", "warp_differs"),
        ("wp::adj_address(var_b,", "// ", "warp_differs"),
        ("wp::adj_array_store(", "// ", "warp_differs"),
        (", adj_b, adj_0,", ", adj_b, 0 * adj_0,", "agrees"),
        ("wp::adj_address(var_b, var_0", "wp::adj_address(var_b, var_0 / 2", "warp_differs"),
        ("wp::adj_address(var_b, var_0", "wp::adj_address(var_b, var_0 + 64", "warp_differs"),
        ("// reverse", "for (;;) { if (dim.size == 0) break; goto here; here:; }", "warp_differs"),
        ("// reverse", "__builtin_trap();", "warp_differs"),
        ("// reverse", "wp::array_store(var_out, var_0, 1.0f);", "warp_differs"),
    ],
)
def test_an_edited_backward_kernel_is_told(
    scaled: Row, runner: HostRunner, old: str, new: str, status: str
) -> None:
    (result,) = runner.run([_spoilt(scaled, old, new)])
    assert (result.status, result.adjoint) == ("agrees", status), result


def test_a_clock_says_nothing_of_an_adjoint(scaled: Row) -> None:
    slow = _spoilt(scaled, "// reverse", "for (;;) { }")
    with HostRunner(timeout_s=1.0) as hasty:
        (result,) = hasty.run([slow])
    assert (result.status, result.adjoint) == ("timeout", "off")


def test_zeros_that_rounding_moves_leave_the_direction_as_it_is(scaled: Row) -> None:
    """Where most slopes are zero: on one machine exactly, on another up to rounding."""
    inputs = draw_inputs(scaled["args"], {"n": 64}, scaled["input_seed"])
    loss = Loss(scaled, (64,), inputs, draw_cotangents(scaled, inputs))
    place = np.arange(64)
    exact = np.where(place % 4, 0.0, 1.0 + place / 64)
    moved = exact + 1e-8 * np.sin(place)
    found = [direction_for(loss, scaled["args"][0], s, 0, noise=1e-4) for s in (exact, moved)]
    np.testing.assert_allclose(*found, rtol=1e-6)
    assert np.abs(found[0]).max() > 0.4


def test_one_wrong_element_is_enough(scaled: Row, runner: HostRunner) -> None:
    """One thread of 64 whose gradient is 10 % too large."""
    line = next(
        line for line in scaled["cuda_backward"].splitlines() if "wp::adj_array_store" in line
    )
    value = line.rstrip(");").rsplit(", ", 1)[1]
    bad = _spoilt(scaled, line, f"{line}\n if (_idx == 5) {value} *= 1.1f;")
    (result,) = runner.run([bad])
    assert result.adjoint == "warp_differs"
    assert "the adjoint gives" in result.adjoint_reason
