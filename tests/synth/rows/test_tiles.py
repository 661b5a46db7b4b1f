"""Kernels of tiles: what they mean, that all texts mean it, and that a wrong one is noticed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import pytest

from generators import categories, every_category
from generators.build import BodyBuilder, KernelBuilder
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from generators.build.tiles import (
    applied,
    blocks,
    each,
    filled,
    joined,
    load,
    multiply,
    scanned,
    spread,
    store,
    transposed,
)
from generators.kit.naming import helper
from generators.program import ir
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.program.keys import program_keys
from generators.program.serial import serial
from generators.program.serialise import from_json, to_json
from generators.program.tiles import TileExpr
from generators.program.walk import expressions
from synth.check.device_run import DeviceRunner
from synth.dataset.settings import Versions, make_settings
from synth.gates.contract import sizes_of
from synth.gates.lanes.values import NATIVE, NOISE
from synth.gates.variants import prepare
from synth.gpu.work import work_of
from synth.render.array import module as render_array
from synth.render.cuda.choose import check_schedule, schedule_for, schedules_of
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.render.reference import module as render_reference
from synth.rows.maker import Accepted, PairMaker, Row, accept
from validate.host.launch import launch_bounds
from validate.host.runner import run_plain_rows, run_rows
from validate.nvrtc.compiler import CompileRunner
from validate.row.schema import check_row
from validate.row.sizes import evaluate_all, own_sizes
from validate.row.tiles import is_tiled, places

TILE = every_category()["tile"]
SIDE, DEPTH = 8, 4


@lru_cache(maxsize=64)
def drawn(idiom: str, level: int) -> Accepted:
    """The first draw of an idiom that passes the gates."""
    for index in range(8):
        try:
            return accept(TILE.draw_idiom(idiom, Draw(3, "tile", index, 0), level), index, 0)
        except Reject:
            continue
    raise AssertionError(f"{idiom} at level {level}: no draw of 8 passes")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """A row of each of a few idioms that share elements in different ways."""
    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    idioms = ("axis_sums", "block_scan", "row_totals", "tiled_row_products")
    return maker.rows([drawn(idiom, 3) for idiom in idioms])


def test_tiles_are_made_by_request_alone() -> None:
    assert TILE.by_request
    assert "tile" not in categories()
    assert "tile" not in make_settings().categories
    assert make_settings(categories_asked=("tile", "math")).categories == ("math", "tile")


@pytest.mark.parametrize("idiom", sorted(TILE.idioms))
def test_every_idiom_draws_programs_of_tiles_that_pass_the_gates(idiom: str) -> None:
    for level in LEVELS:
        program = TILE.draw_idiom(idiom, Draw(3, "tile", 0, 0), level)
        assert isinstance(program.kernel, ir.TiledKernel)
        assert from_json(to_json(program)) == program
        assert not any(isinstance(e, TileExpr) for e in expressions(serial(program).kernel.body))
    assert drawn(idiom, 1).tolerances


def kernel_of(build: Callable[[KernelBuilder], None]) -> ir.Program:
    k = KernelBuilder(Draw(1, "tile", 0, 0))
    build(k)
    return k.program("meaning", 1, "meaning", "What is meant.")


def elements(build: Callable[[KernelBuilder, Var], Expr], shape: tuple[int, ...]) -> ir.Program:
    """A block that stores what it makes of a tile of 8 by 4."""

    def whole(k: KernelBuilder) -> None:
        x = k.array("x", FLOAT32, (f"{SIDE}*m", str(DEPTH)), low=-1.0, high=1.0)
        k.size("m", 2, 2)
        (i,) = blocks(k, "m", threads=32)
        tile = k.let("tile", load(x, (i * SIDE, 0), SIDE, DEPTH))
        value = k.let("value", build(k, tile))
        out = k.out("out", FLOAT32, ("m", *map(str, shape)))
        store(k, out, (i, *(0 for _ in shape)), value)

    return kernel_of(whole)


MEANINGS: dict[str, tuple[Callable[[KernelBuilder, Var], Expr], Callable[..., np.ndarray]]] = {
    "transpose": (lambda k, t: transposed(t), np.transpose),
    "sum of all": (lambda k, t: joined("sum", t), lambda t: t.sum(keepdims=True).ravel()),
    "largest of each column": (lambda k, t: joined("max", t, 0), lambda t: t.max(axis=0)),
    "sum of each row": (lambda k, t: joined("sum", t, 1), lambda t: t.sum(axis=1)),
    "less the rows' least": (
        lambda k, t: each("sub", t, spread(k.let("low", joined("min", t, 1)), t, axis=0)),
        lambda t: t - t.min(axis=1, keepdims=True),
    ),
    "over its norm": (
        lambda k, t: each("div", t, spread(each("sqrt", joined("sum", each("mul", t, t))), t)),
        lambda t: t / np.linalg.norm(t),
    ),
}


@pytest.mark.parametrize("name", list(MEANINGS))
def test_the_reference_computes_what_numpy_does(name: str) -> None:
    build, wanted = MEANINGS[name]
    rng = np.random.default_rng(5)
    x = rng.uniform(-1.0, 1.0, (2 * SIDE, DEPTH))
    expected = np.stack([wanted(x[:SIDE]), wanted(x[SIDE:])])
    program = elements(build, expected.shape[1:])
    namespace: dict[str, Callable[..., Any]] = {}
    exec(render_reference.render(program), namespace)
    out = np.full(expected.shape, np.nan)
    namespace["meaning"]((2,), x, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    exec(render_array.render(program), namespace)
    np.testing.assert_allclose(namespace["meaning"](x), expected, rtol=1e-12)


@pytest.mark.parametrize("idiom", sorted(TILE.idioms))
def test_the_gates_see_what_the_serial_meaning_does(idiom: str) -> None:
    program = drawn(idiom, 4).program
    sizes = own_sizes(sizes_of(program))
    at_once, in_turn = prepare(program, sizes), prepare(serial(program), sizes)
    at_once.run()
    in_turn.run()
    at_once.coverage.require_all(program)
    for name, memory in at_once.memories.items():
        other = in_turn.memories[name]
        for variant in (0, NATIVE):
            np.testing.assert_array_equal(memory.variant(variant), other.variant(variant), name)
        noisy = np.abs(memory.variant(NOISE) - memory.variant(0)).max()
        assert noisy <= 8.0 * np.abs(other.variant(NOISE) - other.variant(0)).max()
        assert (noisy > 0.0) == (memory.role != "in")
        np.testing.assert_array_equal(memory.owner, other.owner)
        np.testing.assert_array_equal(memory.reader, other.reader)


def test_branches_of_a_helper_are_those_of_each_element() -> None:
    def bend(b: BodyBuilder, x: Var) -> Expr:
        with b.if_(x > 0.0):
            b.return_(x * x)
        return 0.5 * x

    def bent(k: KernelBuilder, t: Var) -> Expr:
        return applied(k, helper(k, "bend", [("x", FLOAT32)], bend), t)

    program = elements(bent, (SIDE, DEPTH))
    evaluation = prepare(program, {"m": 2})
    evaluation.run()
    evaluation.coverage.require_all(program)
    x = evaluation.memories["x"].base_values()
    found = evaluation.memories["out"].base_values()
    np.testing.assert_allclose(found, np.where(x > 0.0, x * x, 0.5 * x), rtol=1e-12)


def test_a_product_of_tiles_and_a_scan_are_those_of_numpy() -> None:
    def product(k: KernelBuilder) -> None:
        a, b = (k.array(n, FLOAT32, (str(SIDE), str(SIDE)), low=-1.0, high=1.0) for n in "ab")
        k.size("m", 1, 1)
        (_i,) = blocks(k, "m", threads=32)
        acc = k.let("acc", filled(1.0, SIDE, SIDE))
        parts = [k.let(f"t{v.name}", load(v, (0, 0), SIDE, SIDE)) for v in (a, b)]
        multiply(k, acc, *parts)
        store(k, k.out("out", FLOAT32, (str(SIDE), str(SIDE))), (0, 0), acc)
        sums = k.out("sums", FLOAT32, (str(SIDE),))
        store(k, sums, 0, scanned(k.let("row", load(a, (2, 0), SIDE))))

    program = kernel_of(product)
    names = [p.name for p in program.kernel.params]
    rng = np.random.default_rng(6)
    values = {n: rng.uniform(-1.0, 1.0, (SIDE, SIDE)) for n in ("a", "b", "out")}
    values["sums"] = np.zeros(SIDE)
    namespace: dict[str, Callable[..., None]] = {}
    exec(render_reference.render(program), namespace)
    namespace["meaning"]((1,), *(values[n] for n in names))
    np.testing.assert_allclose(values["out"], 1.0 + values["a"] @ values["b"], rtol=1e-12)
    np.testing.assert_allclose(values["sums"], np.cumsum(values["a"][2]), rtol=1e-12)


def test_shapes_of_tiles_are_structure_and_threads_of_a_block_are_not() -> None:
    program = drawn("row_softmax", 1).program
    kernel = program.kernel
    assert isinstance(kernel, ir.TiledKernel)
    other = replace(kernel, block_dim=kernel.block_dim * 2)
    keys, moved = (
        program_keys(program),
        program_keys(ir.Program(**vars(program) | {"kernel": other})),
    )
    assert keys.structure == moved.structure
    assert keys.rename != moved.rename


def test_a_row_says_how_it_is_launched(rows: list[Row]) -> None:
    for row in rows:
        assert check_row(row) == []
        threads = row["launch"]["block_dim"]
        assert row["launch"]["dim"][-1] == str(threads)
        assert f'"block_dim": {threads}' in row["python"]
        assert f"#define WP_TILE_BLOCK_DIM {threads}\n" in row["cuda_prologue"]
        assert is_tiled(row)
        assert places(row, (3, 4, 5)) == (3, 4)
        assert not is_tiled({**row, "launch": {"dim": row["launch"]["dim"][:-1], "block_dim": 64}})
    bounds = launch_bounds((3, 4, 64), 1)
    assert (bounds["shape"].tolist(), bounds["size"], bounds["mult"]) == ([3, 4], 768, 64)


def test_all_texts_agree_with_the_reference_and_compile(rows: list[Row]) -> None:
    found, plain = run_rows(rows, timeout_s=600.0), run_plain_rows(rows, timeout_s=600.0)
    assert [(r.status, r.reason) for r in (*found, *plain) if r.status != "agrees"] == []
    assert [(r.array, r.array_reason) for r in found if r.array != "agrees"] == []
    # Warp has no derivative of scans and of reductions that pick; NVRTC takes all the same.
    adjoints = {row["idiom"]: r.adjoint for row, r in zip(rows, found, strict=True)}
    assert adjoints["block_scan"] == "warp_differs"
    assert adjoints["row_totals"] == "agrees"
    with CompileRunner() as compiler:
        few = rows[::3]
        compiled = [*compiler.compile(few, ["sm_90"]), *compiler.compile_plain(few, ["sm_90"])]
    assert [r.log for r in compiled if r.status != "compiles"] == []


def test_warp_itself_computes_the_same(rows: list[Row]) -> None:
    wrong = {**rows[2], "python": rows[2]["python"].replace("wp.tile_sum(", "wp.tile_max(")}
    with DeviceRunner() as device:
        agrees, differs = device.problems([rows[2], wrong])
    assert agrees == ""
    assert "sums" in differs or "totals" in differs


def test_the_work_of_a_product_is_that_of_all_elements_of_all_blocks(rows: list[Row]) -> None:
    row = rows[3]
    left, right, *_, out = (evaluate_all(a["shape"], own_sizes(row["sizes"])) for a in row["args"])
    products = 2 * left[0] * left[1] * right[0]
    found = work_of(row, own_sizes(row["sizes"]))
    assert out == (left[0], right[0])
    assert products < found.operations < 1.2 * products
    assert found.bytes_moved >= 4 * (prod(left) + prod(right) + prod(out))


def test_texts_that_are_wrong_by_one_thing_are_noticed(rows: list[Row]) -> None:
    totals, products = rows[2], rows[3]
    wrong = totals["cuda_forward"].replace("wp::tile_sum(", "wp::tile_max(")
    unmet = re.sub(r"\n *__syncthreads\(\);", "", products["cuda_plain"], count=1)
    elsewhere = products["cuda_plain"].replace("[e % ", "[(e + 1) % ")
    texts = [{**products, "cuda_plain": text} for text in (unmet, elsewhere)]
    assert totals["cuda_forward"] != wrong
    assert all(row["cuda_plain"] != products["cuda_plain"] for row in texts)
    (result,) = run_rows([{**totals, "cuda_forward": wrong, "cuda_backward": None}])
    assert result.status == "wrong_value", result
    caught = {"race", "wrong_value", "read_out_of_bounds"}
    assert {r.status for r in run_plain_rows(texts)} <= caught


def test_every_schedule_agrees_and_no_other_style_is_taken(rows: list[Row]) -> None:
    accepted = drawn("axis_sums", 3)
    found = schedules_of(accepted.program)
    assert list(found) == ["block_tiles"]
    made = [{**rows[0], **render(accepted.program, s).columns()} for s in found["block_tiles"]]
    assert len(made) > 1
    assert {r.status for r in run_plain_rows(made, timeout_s=600.0)} == {"agrees"}
    with pytest.raises(ValueError, match="no form in the style"):
        schedule_for(accepted.program, "guarded")
    with pytest.raises(ValueError, match="power of two"):
        check_schedule(accepted.program, Schedule("block_tiles", (48,)))
