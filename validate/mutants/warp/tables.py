"""What stands in for what in a mutant: builtins by their names in Warp's CUDA, types, signs."""

from __future__ import annotations

OPERATORS = {
    "add": "sub",
    "sub": "add",
    "mul": "div",
    "div": "mul",
    "mod": "floordiv",
    "floordiv": "mod",
    "bit_and": "bit_or",
    "bit_or": "bit_and",
    "bit_xor": "bit_or",
    "lshift": "rshift",
    "rshift": "lshift",
    "cw_mul": "cw_div",
    "cw_div": "cw_mul",
    "atomic_add": "atomic_sub",
    "atomic_sub": "atomic_add",
    "atomic_and": "atomic_or",
    "atomic_or": "atomic_and",
    "atomic_xor": "atomic_or",
}
MATHS = {
    "sin": "cos",
    "cos": "sin",
    "tan": "tanh",
    "asin": "acos",
    "acos": "asin",
    "atan": "tanh",
    "sinh": "cosh",
    "cosh": "sinh",
    "tanh": "atan",
    "exp": "cosh",
    "log": "log2",
    "log2": "log10",
    "log10": "log",
    "sqrt": "cbrt",
    "cbrt": "sqrt",
    "floor": "ceil",
    "ceil": "floor",
    "rint": "floor",
    "round": "floor",
    "trunc": "ceil",
    "erf": "erfc",
    "erfc": "erf",
}
"""Functions of one number by the names that C and Warp share, and what is called instead."""
FUNCTIONS = {
    **MATHS,
    "frac": "floor",
    "sign": "abs",
    "abs": "neg",
    "neg": "abs",
    "invert": "neg",
    "degrees": "radians",
    "radians": "degrees",
    "length": "length_sq",
    "length_sq": "length",
    "inverse": "transpose",
    "determinant": "trace",
    "trace": "determinant",
    "quat_rotate": "quat_rotate_inv",
    "quat_rotate_inv": "quat_rotate",
    "transform_point": "transform_vector",
    "transform_vector": "transform_point",
}
EXTREMES = {"min": "max", "max": "min", "atomic_min": "atomic_max", "atomic_max": "atomic_min"}
COMMUTING = {
    *("add", "mul", "dot", "ddot", "spatial_dot", "cw_mul"),
    *("bit_and", "bit_or", "bit_xor", "min", "max"),
}
ORDERED = {"mat", "quat", "transform"}
INDEXED = {"address", "extract"}
STORING = {"array_store", "assign_inplace", "add_inplace", "sub_inplace"}
NARROWER = {
    "float64": "float32",
    "float32": "float16",
    "int64": "int32",
    "int32": "int16",
    "int16": "int8",
    "uint64": "uint32",
    "uint32": "uint16",
    "uint16": "uint8",
}
MACROS = {"float": "float32", "int": "int32"}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
WITH_TIE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
