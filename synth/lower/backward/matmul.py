"""Gradients of c = a b + bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from synth.lower.backward.sums import sum_kernel
from synth.lower.gemm import op as products
from synth.lower.gemm import several
from synth.lower.gemm.plan import STORED, Gemm
from synth.lower.op import Lowered, Operand, Sizes

FIELDS: Mapping[str, Any] = {"bias": False}


@dataclass(frozen=True)
class MatmulBackward:
    """The products of both gradients."""

    of_a: Gemm
    of_b: Gemm
    bias: bool


def read(dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> MatmulBackward:
    """The plan. Raises SettingsError."""
    tiling = products.read_tiling(said, dtype)
    of_a = products.checked(Gemm("matmul_backward_a", *tiling, transpose_b=True))
    of_b = products.checked(Gemm("matmul_backward_b", *tiling, transpose_a=True))
    return MatmulBackward(of_a, of_b, fields["bias"])


def schedule(dtype: str) -> dict[str, Any]:
    """The schedule that is taken where none is asked for."""
    return products.schedule(dtype)


def lowered(p: MatmulBackward) -> Lowered:
    """The text: gradients of a, of b, of bias."""
    real = STORED[p.of_a.dtype]
    arrays = [(name, f"const {real}*") for name in ("grad_c", "a", "b")]
    arrays += [(name, f"{real}*") for name in _outputs(p)]
    of_a = {"a": "grad_c", "b": "b", "c": "grad_a", "m": "=m", "n": "=k", "k": "=n"}
    of_b = {"a": "a", "b": "grad_c", "c": "grad_b", "m": "=k", "n": "=n", "k": "=m"}
    more: tuple[str, list[dict[str, Any]]] = ("", [])
    if p.bias:
        name = "matmul_backward_bias"
        text = sum_kernel(name, "grad_c", "grad_bias", p.of_a.dtype, inner=False)
        launch = {
            "kernel": name,
            "args": ["grad_c", "grad_bias", "=m", "=n", "=1"],
            "grid": ["(n - 1) / 32 + 1"],
            "block": [256],
            "shared_bytes": 0,
        }
        more = (text, [launch])
    return several.lowered(
        "matmul_backward",
        "Gradients of c[m, n] = a[m, k] b[k, n]: grad_c b^T, a^T grad_c"
        + (", and sums of columns." if p.bias else "."),
        [(p.of_a, of_a), (p.of_b, of_b)],
        arrays,
        "mnk",
        more,
    )


def _outputs(p: MatmulBackward) -> list[str]:
    return ["grad_a", "grad_b", *(["grad_bias"] if p.bias else [])]


def operands(p: MatmulBackward) -> list[Operand]:
    """grad_c, a and b; grad_a, grad_b and grad_bias."""
    shapes = {"c": ("m", "n"), "a": ("m", "k"), "b": ("k", "n"), "bias": ("n",)}
    dtype = p.of_a.dtype
    given = [Operand(name, dtype, shapes[name[-1]]) for name in ("grad_c", "a", "b")]
    return given + [
        Operand(name, dtype, shapes[name.removeprefix("grad_")], out=True) for name in _outputs(p)
    ]


def reference(p: MatmulBackward) -> str:
    """Plain Python that computes the gradients in float64."""
    names = ", ".join(one.name for one in operands(p))
    bias = "    grad_bias[:] = np.sum(grad, axis=0)\n" if p.bias else ""
    return (
        f"import numpy as np\n\n\ndef matmul_backward(dim, {names}):\n"
        "    grad = np.array(grad_c, np.float64)\n"
        "    grad_a[:, :] = np.matmul(grad, np.transpose(np.array(b, np.float64)))\n"
        "    grad_b[:, :] = np.matmul(np.transpose(np.array(a, np.float64)), grad)\n"
        f"{bias}"
    )


def tolerance(p: MatmulBackward, sizes: Sizes) -> tuple[float, float]:
    """That of the longer of both sums."""
    return products.tolerance(p.of_a, {"k": max(sizes["m"], sizes["n"])})


def shapes(p: MatmulBackward) -> list[tuple[int, ...]]:
    """Whole tiles; ragged edges; one element; whole vectors in cut tiles."""
    t, group = p.of_a.tiling, p.of_a.group
    deep = (t.stages + 1) * t.tile_k
    return [
        (t.tile_m, deep, t.tile_n),
        (37, 41, 2 * t.tile_k + 3),
        (1, 1, 1),
        (deep + group, t.tile_n + group, t.tile_m + group),
        (5, 7, t.tile_n + 3),
    ]


def work(p: MatmulBackward, sizes: Sizes) -> int:
    """Products in whole tiles."""
    m, n, k = (sizes[name] for name in "mnk")
    of_a = products.work(p.of_a, {"m": m, "n": k, "k": n, "batch": 1})
    return of_a + products.work(p.of_b, {"m": k, "n": n, "k": m, "batch": 1})


def archs(p: MatmulBackward) -> tuple[str, ...]:
    """What alone has the instructions of both products."""
    return products.archs(p.of_a)


def trials() -> Iterator[dict[str, Any]]:
    """Specs for the audit."""
    small = {"tile_m": 32, "tile_n": 64, "warp_m": 32, "warp_n": 32}
    ways: tuple[dict[str, Any], ...] = (
        {"copy": "registers"},
        {"copy": "async", "stages": 3},
        {"copy": "registers", "split_k": 2},
    )
    for way in ways:
        for bias in (False, True):
            schedule = {**small, "thread_m": 4, "thread_n": 8, **way}
            yield {"bias": bias, "schedule": schedule}
            schedule = {**small, "warp_n": 16, "thread_m": 4, "thread_n": 4, **way}
            yield {"bias": bias, "dtype": "float64", "schedule": schedule}
    for bias in (False, True):
        schedule = {**small, "tile_k": 32, "stages": 2, "copy": "async"}
        yield {"bias": bias, "dtype": "float16", "schedule": schedule}
