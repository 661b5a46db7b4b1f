"""Candidates of lowered ops on a GPU: proven, timed, kept, and a wrong text noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from synth.lower.choose.request import read_request
from synth.lower.op import OpSpec
from synth.lower.spec import read_spec
from synth.lower.text import lower
from synth.lower.tune.gpu import CupyBench
from synth.lower.tune.measured import Measured
from synth.lower.tune.tuner import tune
from validate.gpu.device import Device

pytestmark = pytest.mark.gpu

SPECS = (
    '{"op": "matmul", "shape": [512, 512, 512]}',
    '{"op": "matmul", "dtype": "bfloat16", "shape": [256, 512, 512]}',
    '{"op": "matmul", "shape": [100, 37, 51], "bias": true, "residual": true}',
    '{"op": "softmax", "dtype": "float16", "shape": [64, 1000]}',
    '{"op": "transpose", "shape": [300, 500]}',
)


@pytest.fixture(scope="module")
def bench(devices: list[Device]) -> Iterator[CupyBench]:
    with CupyBench(devices[0]) as made:
        yield made


@pytest.mark.parametrize("spec", SPECS)
def test_candidates_are_right_and_have_times(tmp_path: Path, bench: CupyBench, spec: str) -> None:
    bench.restart()
    with Measured(tmp_path) as measured:
        found = tune(read_request(spec), bench, measured, 10.0)
        listed = measured.of()
        again = tune(read_request(spec), bench, measured, 0.0)
    assert found.fresh == len(listed) >= 3
    assert {one.verdict for one in listed} == {"passed"}
    assert found.best is not None
    assert again.best == found.best
    for one in listed:
        assert one.error_share is not None
        assert len(one.times_us) == 15
        assert min(one.times_us) > 0.0
        assert all(used["registers"] > 0 for used in one.resources.values())


def test_parts_of_k_and_large_shared_memory_run(bench: CupyBench) -> None:
    for schedule in ({"split_k": 4}, {"tile_k": 64, "stages": 4}):
        spec = read_spec(
            {"op": "matmul", "dtype": "float16", "schedule": {"core": "mma", **schedule}}
        )
        assert isinstance(spec, OpSpec)
        outcome = bench.measure(spec, lower(spec), {"m": 256, "n": 256, "k": 1024, "batch": 1})
        assert (outcome.verdict, outcome.reason) == ("passed", "")


_WARPGROUPS = (
    ({}, (128, 256, 16, 256), {}),
    ({"transpose_b": True, "bias": True}, (128, 128, 16, 64), {"stages": 3}),
    ({"transpose_a": True}, (64, 128, 16, 128), {"stages": 3, "tile_k": 128}),
    ({"transpose_a": True, "transpose_b": True}, (256, 64, 32, 64), {"persistent": 7}),
    ({"residual": True}, (256, 128, 32, 128), {"split_k": 2}),
)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("fields", "tile", "more"), _WARPGROUPS)
def test_products_of_warpgroups_are_right(
    bench: CupyBench,
    dtype: str,
    fields: dict[str, Any],
    tile: tuple[int, ...],
    more: dict[str, int],
) -> None:
    if bench.arch != "sm_90":
        pytest.skip("no products of warpgroups here")
    sides = dict(zip(("tile_m", "tile_n", "warp_m", "warp_n"), tile, strict=True))
    schedule = {"core": "wgmma", "tile_k": 64, "copy": "async", "stages": 4, **sides, **more}
    spec = read_spec({"op": "matmul", "dtype": dtype, **fields, "schedule": schedule})
    assert isinstance(spec, OpSpec)
    for m, n, k in ((512, 768, 1024), (200, 136, 72), (77, 301, 515), (1, 1, 1)):
        outcome = bench.measure(spec, lower(spec), {"m": m, "n": n, "k": k, "batch": 1})
        assert (outcome.verdict, outcome.reason) == ("passed", ""), (m, n, k)


def test_a_wrong_text_is_noticed(bench: CupyBench) -> None:
    spec = read_spec({"op": "softmax"})
    assert isinstance(spec, OpSpec)
    sound = lower(spec)
    wrong = replace(sound, text=sound.text.replace("/ total", "/ most"))
    assert wrong.text != sound.text
    assert bench.measure(spec, wrong, {"m": 16, "n": 512}).verdict == "wrong_value"
    bad = replace(sound, text=sound.text.replace("int own =", "int own :"))
    assert bench.measure(spec, bad, {"m": 16, "n": 512}).verdict == "compile_error"
