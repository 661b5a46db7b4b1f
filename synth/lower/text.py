"""The CUDA C++ of matmul, relu and fused matmul and relu under a schedule, and its launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from synth.lower.matmul import kernel_body
from synth.lower.op import Lowered, OpSpec
from synth.lower.spec import Schedule, Spec
from synth.lower.tiles import LANES, Words, device_functions


def lower(spec: Spec | OpSpec) -> Lowered:
    """The text of a spec. Of those without stages:

    matmul and matmul_relu: c[m, n] = a[m, k] b[k, n] (b[n, k] with `transpose_b`), row-major,
    of the spec's dtype, for any m, n and k from 1. relu: y = max(x, 0) over m * n elements.
    A NaN becomes 0 under relu, as `fmaxf` has it.
    """
    if isinstance(spec, OpSpec):
        return replace(spec.kind.lower(spec.plan), archs=list(spec.archs))
    words = Words(spec)
    lines = _relu(words) if spec.op == "relu" else _matmul(words)
    args = _args(words)
    return Lowered(spec.op, "\n".join([*lines, ""]), args, _launch(spec), [])


def per_block(spec: Spec) -> int:
    """Elements that a block of relu handles."""
    return spec.schedule.threads * _vectors(spec.schedule) * spec.schedule.vectorize


def _vectors(schedule: Schedule) -> int:
    elements = schedule.tile_m * schedule.tile_n // schedule.threads
    return -(-elements // schedule.vectorize)


def _launch(spec: Spec) -> dict[str, Any]:
    s = spec.schedule
    grid = [f"(n + {s.tile_n - 1}) / {s.tile_n}", f"(m + {s.tile_m - 1}) / {s.tile_m}"]
    if spec.op == "relu":
        grid = [f"(m * n + {per_block(spec) - 1}) / {per_block(spec)}"]
    return {"grid": grid, "block": [s.threads], "shared_bytes": 0}


def _args(words: Words) -> list[dict[str, str | None]]:
    real = words.real
    if words.spec.op == "relu":
        listed = [("x", f"const {real}*", None), ("y", f"{real}*", None), ("count", "int", "m*n")]
    else:
        listed = [("a", f"const {real}*", None), ("b", f"const {real}*", None)]
        listed += [("c", f"{real}*", None), *((name, "int", name) for name in "mnk")]
    return [{"name": name, "type": kind, "size": size} for name, kind, size in listed]


def _signature(words: Words) -> list[str]:
    head = f'extern "C" __global__ void __launch_bounds__(THREADS) {words.spec.op}('
    shown = [
        f"{arg['type']} __restrict__ {arg['name']}"
        if arg["size"] is None
        else f"{arg['type']} {arg['name']}"
        for arg in _args(words)
    ]
    return [head, *(f"    {part}," for part in shown[:-1]), f"    {shown[-1]})"]


def _heading(words: Words, what: Sequence[str]) -> list[str]:
    launch = _launch(words.spec)
    grid, block = ", ".join(launch["grid"]), launch["block"][0]
    return [*(f"// {line}" for line in what), f"// Grid: {grid}. Block: {block}.", ""]


def _constants(values: Sequence[tuple[str, str]]) -> list[str]:
    return [*(f"constexpr int {name} = {value};" for name, value in values), ""]


def _relu(words: Words) -> list[str]:
    s, width = words.schedule, words.schedule.vectorize
    count = _vectors(s)
    heading = _heading(words, ["y = max(x, 0) over count elements, the m * n of a matrix."])
    values = [("THREADS", str(s.threads)), ("VECTOR", str(width)), ("VECTORS", str(count))]
    if width == 1:
        values = [("THREADS", str(s.threads)), ("ELEMENTS", str(count))]
    of_block = "THREADS * ELEMENTS" if width == 1 else "THREADS * VECTORS * VECTOR"
    own = "threadIdx.x" if width == 1 else "threadIdx.x * VECTOR"
    steps, step = ("ELEMENTS", "THREADS") if width == 1 else ("VECTORS", "(THREADS * VECTOR)")
    lines = [
        "    const size_t end = count;",
        f"    const size_t of_block = static_cast<size_t>(blockIdx.x) * ({of_block});",
        f"    const size_t first = of_block + {own};",
        *_vector_test(words),
        f"    {words.unroll}",
        f"    for (int step = 0; step < {steps}; ++step) {{",
        f"        const size_t i = first + step * {step};",
        *_relu_step(words),
        "    }",
    ]
    return [*heading, *_constants(values), *_signature(words), "{", *lines, "}"]


def _vector_test(words: Words) -> list[str]:
    width = words.schedule.vectorize
    if width == 1:
        return []
    return [
        "    const size_t places = reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y);",
        f"    const bool aligned = places % sizeof({words.vector(width)}) == 0;",
    ]


def _relu_step(words: Words) -> list[str]:
    width = words.schedule.vectorize
    if width == 1:
        return ["        if (i < end) {", f"            y[i] = {words.relu('x[i]')};", "        }"]
    kind = words.vector(width)
    results = [words.relu(f"values.{lane}") for lane in LANES[:width]]
    if width == 4:
        made = [
            "            const float4 result = make_float4(",
            f"                {results[0]}, {results[1]},",
            f"                {results[2]}, {results[3]});",
        ]
    else:
        made = [f"            const {kind} result = {words.made(results)};"]
    return [
        "        if (aligned && i + VECTOR <= end) {",
        f"            const {kind} values = *reinterpret_cast<const {kind}*>(x + i);",
        *made,
        f"            *reinterpret_cast<{kind}*>(y + i) = result;",
        "        } else {",
        "            for (size_t j = i; j < i + VECTOR && j < end; ++j) {",
        f"                y[j] = {words.relu('x[j]')};",
        "            }",
        "        }",
    ]


def _matmul(words: Words) -> list[str]:
    s, spec = words.schedule, words.spec
    product = f"a[m, k] b[{'n, k' if spec.transpose_b else 'k, n'}]"
    product += " transposed" if spec.transpose_b else ""
    product = f"max({product}, 0)" if spec.op == "matmul_relu" else product
    heading = _heading(words, [f"c[m, n] = {product}, row-major."])
    values = [(name.upper(), str(getattr(s, name))) for name in ("tile_m", "tile_n", "tile_k")]
    values += [("THREAD_M", str(s.thread_m)), ("THREAD_N", str(s.thread_n))]
    values += [("THREADS_M", "TILE_M / THREAD_M"), ("THREADS_N", "TILE_N / THREAD_N")]
    values += [("THREADS", "THREADS_M * THREADS_N")]
    if s.vectorize > 1:
        values.append(("VECTOR", str(s.vectorize)))
    body = kernel_body(words)
    functions = device_functions(words)
    return [*heading, *_constants(values), *functions, *_signature(words), "{", *body, "}"]
