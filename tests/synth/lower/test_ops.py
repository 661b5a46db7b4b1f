"""Ops of a file each: what is made of them compiles and agrees, and what is left out is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sweeps import part_of

from scripts.audit.lower_specs import compiled, disagreeing, faulty, legal_specs, noticed
from synth.errors import SettingsError
from synth.lower.check import row_of
from synth.lower.op import OpSpec
from synth.lower.ops import ops
from synth.lower.spec import read_spec
from synth.lower.text import lower
from validate.host.runner import HostRunner
from validate.nvrtc.compiler import CompileRunner
from validate.text.helpers.tensor import HELPERS, without_helpers
from validate.text.plain import fault

_SIMT = {"tile_m": 32, "tile_n": 64, "warp_m": 32, "warp_n": 32, "thread_m": 4, "thread_n": 8}
_MMA = {"tile_m": 32, "tile_n": 64, "warp_m": 32, "warp_n": 32, "tile_k": 32}
_WINOGRAD = {"core": "simt", **_SIMT, "algorithm": "winograd"}
_WGMMA = {
    **{"core": "wgmma", "copy": "async", "stages": 3},
    **{"tile_n": 64, "tile_k": 64, "warp_m": 16, "warp_n": 64},
}
SAMPLE: tuple[dict[str, Any], ...] = (
    {"op": "matmul", "bias": True, "residual": True, "schedule": {"core": "simt", **_SIMT}},
    {
        "op": "matmul",
        "transpose_a": True,
        "schedule": {"core": "simt", **_SIMT, "copy": "async", "stages": 3, "persistent": 2},
    },
    {"op": "matmul", "activation": "gelu", "schedule": {"core": "simt", **_SIMT, "split_k": 2}},
    {
        "op": "matmul_relu",
        "dtype": "float16",
        "transpose_b": True,
        "batch": 2,
        "schedule": {"core": "mma", **_MMA},
    },
    {"op": "matmul", "dtype": "bfloat16", "bias": True, "schedule": {"core": "mma", **_MMA}},
    {"op": "matmul", "dtype": "tf32", "schedule": {"core": "mma", **_MMA}},
    {
        "op": "matmul",
        "dtype": "int8",
        "transpose_b": True,
        "schedule": {"core": "mma", **_MMA, "tile_k": 64},
    },
    {"op": "softmax", "dtype": "float16", "schedule": {"threads": 64, "held": 2}},
    {"op": "layer_norm", "schedule": {"threads": 32, "rows": 2, "held": 1}},
    {"op": "rms_norm", "dtype": "float64", "schedule": {"threads": 64, "held": 1}},
    {"op": "reduce_max", "schedule": {"threads": 64}},
    {"op": "transpose", "dtype": "float16"},
    {
        "op": "attention",
        "head_dim": 32,
        "causal": True,
        "schedule": {"tile_m": 32, "tile_n": 16, "warp_m": 16, "thread_n": 2},
    },
    {
        "op": "attention",
        "dtype": "float16",
        "head_dim": 32,
        "schedule": {"tile_m": 32, "tile_n": 32, "warp_m": 16},
    },
    {"op": "conv2d", "bias": True, "groups": 2, "schedule": {"core": "simt", **_SIMT}},
    {
        "op": "conv2d_relu",
        "stride": 2,
        "schedule": {"core": "simt", **_SIMT, "copy": "async", "stages": 3, "persistent": 2},
    },
    {
        "op": "conv2d",
        "dtype": "float16",
        "kernel_h": 1,
        "kernel_w": 1,
        "padding": 0,
        "schedule": {"core": "mma", **_MMA},
    },
    {"op": "histogram", "bins": 10, "schedule": {"threads": 64, "copies": 2, "blocks": 3}},
    {
        "op": "scan",
        "exclusive": True,
        "schedule": {"threads": 64, "items": 2, "blocks": 2},
    },
    {"op": "scan", "dtype": "int32", "schedule": {"threads": 64, "items": 1, "blocks": 3}},
    {"op": "relu_backward", "schedule": {"threads": 64, "items": 2}},
    {
        "op": "matmul_backward",
        "bias": True,
        "schedule": {"core": "simt", **_SIMT, "split_k": 2},
    },
    {"op": "matmul_backward", "dtype": "float16", "schedule": {"core": "mma", **_MMA}},
    {
        "op": "conv2d_backward",
        "bias": True,
        "schedule": {"core": "simt", **_SIMT, "split_k": 2},
    },
    {
        "op": "conv2d_backward",
        "stride": 2,
        "groups": 2,
        "schedule": {"core": "simt", **_SIMT, "copy": "async", "stages": 3},
    },
    {
        "op": "matmul",
        "dtype": "bfloat16",
        "bias": True,
        "schedule": {**_WGMMA, "tile_m": 64, "tile_n": 128, "split_k": 2},
    },
    {
        "op": "matmul_relu",
        "dtype": "float16",
        "transpose_a": True,
        "transpose_b": True,
        "batch": 2,
        "schedule": {**_WGMMA, "tile_m": 128, "tile_n": 64, "warp_m": 32, "persistent": 2},
    },
    {"op": "matmul_backward", "dtype": "float16", "schedule": {**_WGMMA, "tile_m": 64}},
    {
        "op": "conv2d_relu",
        "bias": True,
        "padding": 2,
        "groups": 2,
        "schedule": {**_WINOGRAD, "copy": "async", "stages": 3, "persistent": 2},
    },
)


@pytest.fixture(scope="module")
def host() -> Iterator[HostRunner]:
    with HostRunner(timeout_s=120) as runner:
        yield runner


def test_every_op_is_found_by_its_name() -> None:
    assert {spec["op"] for spec in SAMPLE} <= set(ops())
    assert all(name == op.name for name, op in ops().items())
    for name in ops():
        assert read_spec({"op": name}).key() != read_spec({"op": "relu"}).key()


def test_the_sample_compiles_for_three_architectures() -> None:
    specs = [read_spec(said) for said in SAMPLE]
    assert compiled(specs) == []
    own = [spec for spec in specs if spec.archs]
    assert len(own) == 3
    with CompileRunner(archs=["sm_90", "sm_90a"]) as compiler:
        (result,) = compiler.compile_plain([row_of(own[0], lower(own[0]), (1, 1, 1, 1))])
    # To NVRTC inline assembly is text: the PTX is made for both, and is none of sm_90.
    assert result.archs == ["sm_90", "sm_90a"]


def test_the_sample_agrees_at_every_shape(host: HostRunner) -> None:
    chosen = part_of(SAMPLE, 2, repr, lambda said: said["op"])
    runs, wrong = disagreeing(host, [read_spec(said) for said in chosen])
    assert runs == 5 * len(chosen)
    assert wrong == []


@pytest.mark.parametrize(
    "number",
    part_of([1, 4, 7, 11, 13, 14, 17, 18, 25, 28], 2, str, lambda number: SAMPLE[number]["op"]),
)
def test_what_is_left_out_is_noticed(host: HostRunner, number: int) -> None:
    spec = read_spec(SAMPLE[number])
    texts = dict(faulty(lower(spec).text))
    assert len(texts) >= 4
    assert set(texts) == set(noticed(host, spec, texts))


@pytest.mark.parametrize(
    "said",
    [
        {"op": "softmax", "schedule": {"threads": 32, "rows": 1, "held": 1}},
        {"op": "histogram", "bins": 256, "schedule": {"threads": 256, "copies": 4, "blocks": 8}},
        {
            "op": "matmul",
            "schedule": {
                **{"core": "simt", "copy": "registers", "stages": 2, "split_k": 3, "blocks": 0},
                **{"tile_m": 32, "tile_n": 32, "tile_k": 8, "warp_m": 32, "warp_n": 16},
                **{"thread_m": 4, "thread_n": 4},
            },
        },
    ],
)
def test_nothing_of_a_text_can_be_left_out(host: HostRunner, said: dict[str, Any]) -> None:
    """Rows of a warp each, blocks that end with the bins, parts of k that come back to a stage."""
    spec = read_spec(said)
    texts = dict(faulty(lower(spec).text))
    assert set(texts) == set(noticed(host, spec, texts))


@pytest.mark.parametrize(
    ("number", "old", "new"),
    [
        (12, "key < n && key <= row", "key < n"),
        (20, "first + GROUP <= n", "first <= n"),
        (21, "parts[warp][lane] = sum;\n    __syncthreads();", "parts[warp][lane] = sum;"),
        (23, "y >= 0 &&\n", "true &&\n"),
        (24, "y / STRIDE < shape.out_height", "true"),
        (24, "y % STRIDE == 0", "true"),
        (24, "grad_x += group * m * shape.height * shape.width;", ""),
    ],
)
def test_what_other_ops_leave_out_is_noticed(
    host: HostRunner, number: int, old: str, new: str
) -> None:
    spec = read_spec(SAMPLE[number])
    lowered = lower(spec)
    assert old in lowered.text
    said = noticed(host, spec, {old: lowered.text.replace(old, new)})
    assert said[old] in ("wrong_value", "data_race", "read_out_of_bounds", "wrote_out_of_bounds")


def test_a_changed_helper_is_refused() -> None:
    text = lower(read_spec(SAMPLE[4])).text
    assert fault(text) == ""
    assert "asm" not in without_helpers(text)
    assert without_helpers(text).count("\n") == text.count("\n")
    assert "asm" in fault(text.replace("cp.async.cg", "cp.async.ca"))
    around_asm = [helper for name, helper in HELPERS.items() if name != "ptx_matrix_at"]
    assert all(fault(helper.replace("volatile(", "volatile (")) for helper in around_asm)


def test_specs_of_the_audit_are_many_and_differ() -> None:
    said, illegal = legal_specs()
    assert len(said) >= 400
    assert illegal < 20
    assert len({lower(read_spec(one)).text for one in said.values()}) >= 0.9 * len(said)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"schedule": {"core": "mma"}}, "mma does not take float32"),
        ({"schedule": {"core": "simt", "stages": 4}}, "copy: registers is allowed with 2 stages"),
        ({"schedule": {"core": "simt", "warp_m": 48}}, "no whole warps"),
        ({"schedule": {"core": "simt", "thread_m": 16, "warp_m": 64, "blocks": 4}}, "registers"),
        ({"dtype": "int8"}, "with transpose_b alone"),
        ({"dtype": "float16", "schedule": {"core": "mma", "tile_k": 128, "stages": 5}}, "shared"),
        ({"batch": 2, "schedule": {"core": "simt", "split_k": 2}}, "not with batch"),
        ({"dtype": "bfloat16", "activation": "gelu"}, "gelu is not allowed of bfloat16"),
        ({"dtype": "float16", "schedule": {**_WGMMA, "tile_m": 96}}, "whole warpgroups"),
        ({"dtype": "float16", "schedule": {**_WGMMA, "warp_n": 32}}, "warp_n of 64, 128, 256"),
        ({"dtype": "float16", "schedule": {**_WGMMA, "tile_m": 128, "warp_m": 48}}, "whole warps"),
        ({"dtype": "float16", "schedule": {**_WGMMA, "tile_m": 64, "stages": 2}}, "3 to 5 stages"),
        ({"dtype": "float16", "schedule": {**_WGMMA, "tile_m": 64, "tile_k": 32}}, "of 64"),
        ({"dtype": "int8", "schedule": {**_WGMMA, "tile_m": 64}}, "wgmma does not take int8"),
        ({"activation": "tanh"}, "none, relu, gelu"),
        ({"bias": 1}, "true and false"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(said: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_spec({"op": "matmul", **said})
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"op": "attention", "head_dim": 48}, "head_dim: 48 is not allowed; allowed are 32, 64"),
        ({"op": "attention", "schedule": {"tile_n": 24}}, "4, 8, 16 or 32 threads"),
        ({"op": "attention", "dtype": "float16", "schedule": {"warp_m": 64}}, "warp_m of 16 or 32"),
        ({"op": "attention", "head_dim": 128, "schedule": {"tile_m": 256}}, "shared memory"),
        ({"op": "attention", "schedule": {"tile_n": 64, "thread_n": 2}}, "whole vectors of 4"),
        ({"op": "attention", "dtype": "float64"}, "float32, float16"),
        ({"op": "conv2d", "padding": 3}, "padding: 3 is not allowed; allowed are whole numbers"),
        ({"op": "conv2d", "stride": 0}, "stride: 0 is not allowed"),
        ({"op": "conv2d", "schedule": {"split_k": 2}}, "split_k: not of this op"),
        ({"op": "conv2d_relu", "activation": "tanh"}, "none, relu, gelu"),
        ({"op": "conv2d_backward", "groups": 2, "schedule": {"split_k": 2}}, "not of this op"),
        ({"op": "matmul_backward", "dtype": "int8"}, "float32, float64, float16"),
        ({"op": "matmul_backward", "batch": 2}, "batch: unknown field"),
        ({"op": "relu_backward", "schedule": {"items": 3}}, "items: 3 is not allowed"),
        ({"op": "histogram", "bins": 20000}, "bytes of shared memory"),
        ({"op": "histogram", "bins": 0}, "bins: 0 is not allowed"),
        ({"op": "histogram", "schedule": {"threads": 64}}, "4 for 2 warps"),
        ({"op": "scan", "dtype": "float16"}, "float32, int32"),
        ({"op": "scan", "schedule": {"items": 3}}, "schedule.items: 3 is not allowed"),
        ({"op": "conv2d", "dtype": "float16", "schedule": {"core": "wgmma"}}, "not of this op"),
        ({"op": "conv2d", "dtype": "int8"}, "float32, float64, float16"),
    ],
)
def test_what_other_ops_cannot_be_is_said_in_one_line(said: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_spec(said)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_image_smaller_than_a_filter_has_no_output() -> None:
    spec = read_spec({"op": "conv2d", "padding": 0})
    assert isinstance(spec, OpSpec)
    assert not spec.fits_host((1, 1, 1, 2, 5))
    assert spec.fits_host((1, 1, 1, 3, 5))


def test_a_spec_reads_what_it_prints() -> None:
    for said in SAMPLE:
        spec = read_spec(said)
        assert isinstance(spec, OpSpec)
        assert read_spec(spec.canonical()) == spec
