"""What each column of a row means, in the words of the card."""

from __future__ import annotations

COLUMNS = {
    "schema_version": "version of this table",
    "id": "first 16 hex digits of sha256(`python` + NUL + `kernel_name`)",
    "structure": "key of the program without names and literals; equal ones are in one split",
    "category": "kind of kernel",
    "idiom": "the named idiom that it was drawn from",
    "level": "difficulty, 1 to 5",
    "kernel_name": "name of the kernel in all texts",
    "description": "what it computes, in a sentence or two",
    "python": "complete NVIDIA Warp module: imports, structs, helper functions, the kernel",
    "reference": "plain Python (`math` and NumPy) of the same, in float64, integers exact",
    "program": "the typed tree that all texts were printed from, as JSON",
    "cuda_prologue": "Warp's macros and includes; the four parts in order are one translation unit",
    "cuda_helpers": "structs and functions of the Warp CUDA",
    "cuda_forward": "the kernel, as Warp's code generator writes it",
    "cuda_backward": "its adjoint; null where it was checked and does not agree",
    "cuda_plain": "CUDA C++ of the same without Warp, as an engineer would write it",
    "plain_args": "its parameters: name, C++ type, and for an `int` the size symbol to pass",
    "plain_launch": "its grid and block by size symbols, and bytes of dynamic shared memory",
    "schedule": "its style as JSON: guarded, grid_stride, vectorized, warp_shuffle, …",
    "line_map_python": "line of `python` for each mapped line of `cuda_forward`",
    "line_map_cuda": "that line of `cuda_forward`",
    "args": "parameters: kind, dtype, role, shape, how values are drawn, tolerances of outputs",
    "sizes": "size symbols with a value, a minimum and a multiple: any shape can be drawn",
    "launch": "launch dim by size symbols, and block dim, of the Warp kernel",
    "input_seed": "inputs are a function of this, `args` and sizes",
    "ops": "operators and builtins that it uses",
    "checks": "what was measured: archs, runs, adjoint, shapes, registers; null: not measured",
    "provenance": "seed, index, attempt, and versions that made it",
}
"""By the names of `validate.row.columns.COLUMNS`, in that order."""


def columns_table() -> str:
    """A row for each column."""
    lines = ["| column | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in COLUMNS.items()]
    return "\n".join(lines)
