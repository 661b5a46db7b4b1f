"""Hand-written rows for the tests of `validate`."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from textwrap import dedent
from typing import Any

from extract import extract_module
from synth.codegen.translator import Translator
from validate.row.columns import GRADIENT_COLUMNS

Row = dict[str, Any]


def arg(
    name: str,
    dtype: str,
    *,
    role: str = "in",
    shape: tuple[str, ...] = ("n",),
    kind: str = "array",
    init: str = "uniform",
    low: str | None = "-1.0",
    high: str | None = "1.0",
    fields: tuple[Row, ...] = (),
    rtol: float | None = None,
    atol: float | None = None,
) -> Row:
    return {
        "name": name, "kind": kind, "dtype": dtype, "role": role,
        "shape": list(shape) if kind == "array" else [], "init": init,
        "low": low, "high": high, "fields": list(fields), "rtol": rtol, "atol": atol,
    }  # fmt: skip


def output(name: str, dtype: str, *, rtol: float = 1e-5, atol: float = 1e-5, **rest: Any) -> Row:
    exact = dtype.startswith(("int", "uint", "bool"))
    bounds = {"low": None, "high": None} | rest
    return arg(
        name, dtype, **({"role": "out", "rtol": None if exact else rtol} | bounds),
        atol=None if exact else atol,
    )  # fmt: skip


def scalar(name: str, dtype: str, **rest: Any) -> Row:
    return arg(name, dtype, kind="scalar", **rest)


def size_of(name: str, expression: str) -> Row:
    return scalar(name, "int32", init=f"size:{expression}", low=None, high=None)


def field(name: str, dtype: str, init: str = "uniform") -> Row:
    return {"name": name, "dtype": dtype, "init": init, "low": "0.0", "high": "1.0"}


def sizes(**values: int) -> list[Row]:
    return [{"symbol": s, "value": v, "min": 1, "multiple_of": 1} for s, v in values.items()]


@lru_cache(maxsize=1)
def translator() -> Translator:
    return Translator(backward=True)


def make_row(
    name: str,
    python: str,
    reference: str,
    args: list[Row],
    row_sizes: list[Row],
    dim: list[str],
    **more: Any,
) -> Row:
    """A complete row: the texts come from Warp, the rest from the caller."""
    source = "import warp as wp\n\n\n" + dedent(python).strip() + "\n"
    module = extract_module(translator().translate(source, name))
    (kernel,) = module.kernels
    return {
        "schema_version": 5,
        "id": hashlib.sha256(f"{source}\0{name}".encode()).hexdigest()[:16],
        "structure": "0123456789abcdef", "category": "arithmetic", "idiom": "by_hand", "level": 1,
        "kernel_name": name, "description": "A kernel written by hand for a test.",
        "python": source,
        "reference": dedent(reference).strip() + "\n",
        "program": None,
        "cuda_prologue": module.prologue, "cuda_helpers": module.helpers,
        "cuda_forward": kernel.forward, "cuda_backward": kernel.backward,
        "cuda_plain": None, "plain_args": None, "plain_scratch": None, "plain_launch": None,
        "schedule": None, **dict.fromkeys(GRADIENT_COLUMNS),
        "array_python": None, "array_reason": "off",
        "line_map_python": [line for line, _ in kernel.line_map],
        "line_map_cuda": [line for _, line in kernel.line_map],
        "args": args, "sizes": row_sizes, "regime": None, "launch": {"dim": dim, "block_dim": 256},
        "input_seed": 12345, "edge_inputs": [], "ops": ["add"],
        "checks": {
            "compile_archs": None, "run_forward": None, "run_plain": None, "run_array": None,
            "adjoint": None, "gradient": None, "shapes": None, "max_ulp": None, "registers": None,
            "spill_bytes": None,
            "shared_bytes": None,
        },
        "provenance": {
            "seed": 0, "index": 0, "attempt": 0, "pairsmith": "0.1.0", "warp": "1.19.0",
            "nvrtc": None, "module": None, "line": None, "self_contained": None,
        },
    } | more  # fmt: skip


def soft_clamp() -> Row:
    return make_row(
        "scale_heights",
        """
        @wp.func
        def soft_clamp(x: wp.float32, limit: wp.float32):
            if x > limit:
                return limit
            return x / (1.0 + wp.abs(x))


        @wp.kernel
        def scale_heights(
            heights: wp.array(dtype=wp.float32),
            scale: wp.float32,
            result: wp.array(dtype=wp.float32),
        ):
            i = wp.tid()
            result[i] = soft_clamp(heights[i] * scale, 0.5) + 1.0
        """,
        """
        def scale_heights(dim, heights, scale, result):
            for i in range(dim[0]):
                x = heights[i] * scale
                result[i] = (0.5 if x > 0.5 else x / (1.0 + abs(x))) + 1.0
        """,
        [arg("heights", "float32"), scalar("scale", "float32"), output("result", "float32")],
        sizes(n=64),
        ["n"],
    )


def grid_2d() -> Row:
    return make_row(
        "blur_rows",
        """
        @wp.kernel
        def blur_rows(
            image: wp.array2d(dtype=wp.float64),
            columns: wp.int32,
            out: wp.array2d(dtype=wp.float64),
        ):
            i, j = wp.tid()
            right = wp.min(j + 1, columns - 1)
            out[i, j] = wp.float64(0.5) * (image[i, j] + image[i, right])
        """,
        """
        def blur_rows(dim, image, columns, out):
            for i in range(dim[0]):
                for j in range(dim[1]):
                    out[i, j] = 0.5 * (image[i, j] + image[i, min(j + 1, columns - 1)])
        """,
        [
            arg("image", "float64", shape=("m", "k")),
            size_of("columns", "k"),
            output("out", "float64", shape=("m", "k"), rtol=1e-12, atol=1e-12),
        ],
        sizes(m=4, k=8),
        ["m", "k"],
    )


def grid_3d() -> Row:
    return make_row(
        "mix_half",
        """
        @wp.kernel
        def mix_half(
            a: wp.array3d(dtype=wp.float16),
            weight: wp.float16,
            shift: wp.vec3h,
            out: wp.array3d(dtype=wp.float16),
        ):
            i, j, k = wp.tid()
            out[i, j, k] = a[i, j, k] * weight + shift[1]
        """,
        """
        def mix_half(dim, a, weight, shift, out):
            for i in range(dim[0]):
                for j in range(dim[1]):
                    for k in range(dim[2]):
                        out[i, j, k] = a[i, j, k] * weight + shift[1]
        """,
        [
            arg("a", "float16", shape=("n", "m", "k")),
            scalar("weight", "float16"),
            scalar("shift", "vec3[float16]"),
            output("out", "float16", shape=("n", "m", "k"), rtol=5e-3, atol=5e-3),
        ],
        sizes(n=2, m=3, k=4),
        ["n", "m", "k"],
    )


def integers() -> Row:
    return make_row(
        "pack_flags",
        """
        @wp.kernel
        def pack_flags(
            keys: wp.array(dtype=wp.uint64),
            small: wp.array(dtype=wp.int8),
            enabled: wp.bool,
            odd: wp.array(dtype=wp.bool),
            packed: wp.array(dtype=wp.uint64),
            order: wp.array(dtype=wp.int64),
        ):
            i = wp.tid()
            key = keys[i] ^ wp.uint64(255)
            odd[i] = enabled == (small[i] > wp.int8(0))
            packed[i] = key >> wp.uint64(3)
            order[i] = wp.int64(small[i]) - wp.int64(5)
        """,
        """
        def pack_flags(dim, keys, small, enabled, odd, packed, order):
            for i in range(dim[0]):
                odd[i] = enabled == (small[i] > 0)
                packed[i] = (keys[i] ^ 255) >> 3
                order[i] = small[i] - 5
        """,
        [
            arg("keys", "uint64", low="0", high=str(2**64 - 1)),
            arg("small", "int8", low="-128", high="127"),
            scalar("enabled", "bool", low=None, high=None),
            output("odd", "bool"),
            output("packed", "uint64"),
            output("order", "int64"),
        ],
        sizes(n=16),
        ["n"],
    )


def composites() -> Row:
    return make_row(
        "move_frames",
        """
        @wp.kernel
        def move_frames(
            points: wp.array(dtype=wp.vec3),
            turns: wp.array(dtype=wp.quat),
            frame: wp.transform,
            shear: wp.mat22,
            offset: wp.vec2,
            bias: wp.quat,
            moved: wp.array(dtype=wp.vec3),
            sheared: wp.array(dtype=wp.mat22),
            blended: wp.array(dtype=wp.quat),
        ):
            i = wp.tid()
            p = wp.quat_rotate(turns[i], points[i])
            moved[i] = p + wp.transform_get_translation(frame)
            sheared[i] = shear * (p[0] + offset[1])
            blended[i] = turns[i] + bias
        """,
        """
        import numpy as np


        def move_frames(
            dim, points, turns, frame, shear, offset, bias, moved, sheared, blended
        ):
            for i in range(dim[0]):
                axis, w, v = turns[i][:3], turns[i][3], points[i]
                p = v * (2.0 * w * w - 1.0) + np.cross(axis, v) * w * 2.0
                p = p + axis * np.dot(axis, v) * 2.0
                moved[i] = p + frame[:3]
                sheared[i] = shear * (p[0] + offset[1])
                blended[i] = turns[i] + bias
        """,
        [
            arg("points", "vec3[float32]"),
            arg("turns", "quat[float32]", init="unit", low=None, high=None),
            scalar("frame", "transform[float32]", init="unit"),
            scalar("shear", "mat2x2[float32]", init="well_conditioned"),
            scalar("offset", "vec2[float32]"),
            scalar("bias", "quat[float32]"),
            output("moved", "vec3[float32]"),
            output("sheared", "mat2x2[float32]"),
            output("blended", "quat[float32]"),
        ],
        sizes(n=8),
        ["n"],
    )


PARTICLE = (
    field("position", "vec3[float32]"),
    field("fixed", "bool"),
    field("mass", "float64"),
)


def structs() -> Row:
    return make_row(
        "push_particles",
        """
        @wp.struct
        class Particle:
            position: wp.vec3
            fixed: wp.bool
            mass: wp.float64


        @wp.kernel
        def push_particles(
            particles: wp.array(dtype=Particle),
            push: Particle,
            moved: wp.array(dtype=Particle),
        ):
            i = wp.tid()
            p = particles[i]
            if not p.fixed:
                p.position = p.position + push.position
            p.mass = p.mass * push.mass
            moved[i] = p
        """,
        """
        class Particle:
            def __init__(self, position, fixed, mass):
                self.position = position
                self.fixed = fixed
                self.mass = mass


        def push_particles(dim, particles, push, moved):
            for i in range(dim[0]):
                p = particles[i]
                position = p.position if p.fixed else p.position + push.position
                moved[i] = Particle(position, p.fixed, p.mass * push.mass)
        """,
        [
            arg("particles", "Particle", fields=PARTICLE),
            arg("push", "Particle", kind="struct", fields=PARTICLE),
            output("moved", "Particle", fields=PARTICLE),
        ],
        sizes(n=8),
        ["n"],
    )


def atomics() -> Row:
    return make_row(
        "count_bins",
        """
        @wp.kernel
        def count_bins(
            bins: wp.array(dtype=wp.int32),
            weights: wp.array(dtype=wp.float32),
            counts: wp.array(dtype=wp.int32),
            largest: wp.array(dtype=wp.float32),
        ):
            i = wp.tid()
            wp.atomic_add(counts, bins[i], 1)
            wp.atomic_max(largest, 0, weights[i])
        """,
        """
        def count_bins(dim, bins, weights, counts, largest):
            for i in range(dim[0]):
                counts[bins[i]] += 1
                largest[0] = max(largest[0], weights[i])
        """,
        [
            arg("bins", "int32", init="index_of:b", low=None, high=None),
            arg("weights", "float32"),
            output("counts", "int32", role="inout", shape=("b",), init="reduction_identity",
                   low="0", high="0"),
            output("largest", "float32", role="inout", shape=("1",), init="reduction_identity",
                   low="-inf", high="-inf"),
        ],
        sizes(n=64, b=5),
        ["n"],
    )  # fmt: skip


MAKERS = (soft_clamp, grid_2d, grid_3d, integers, composites, structs, atomics)


@lru_cache(maxsize=1)
def all_rows() -> tuple[Row, ...]:
    return tuple(make() for make in MAKERS)
