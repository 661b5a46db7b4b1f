"""What stands in for what in a mutant of plain CUDA: signs, functions, types."""

from __future__ import annotations

from validate.mutants.warp.tables import MATHS

PRECEDENCE = {
    sign: level
    for level, signs in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"), 1
    )
    for sign in signs.split()
}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
NO_OPERAND = {",", ";", "?", ":", "return", "else", "=", "do", "const"}
WORDS = {"if", "for", "while", "do", "else", "return", "const", "break", "continue", "struct"}

SCALARS = {
    *("bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int"),
    *("unsigned int", "long long", "unsigned long long", "float", "double", "__half"),
}
CASTS = sorted(SCALARS - {"__half"}, key=len, reverse=True)
NARROWER = {
    "double": "float",
    "long long": "int",
    "int": "short",
    "short": "signed char",
    "unsigned long long": "unsigned int",
    "unsigned int": "unsigned short",
    "unsigned short": "unsigned char",
}

SWAPPED = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "/",
    "&": "|",
    "|": "&",
    "^": "|",
    "<<": ">>",
    ">>": "<<",
    "&&": "||",
    "||": "&&",
}
OPPOSITE = {"<": ">", ">": "<", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
WITH_TIE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NOT_COMMUTING = {"-", "/", "%", "<<", ">>"}
COMPARISONS = set(OPPOSITE)

_NEIGHBOURS = {
    **MATHS,
    "exp2": "exp",
    "log1p": "log",
    "expm1": "exp",
    "rsqrt": "sqrt",
    "erfinv": "erf",
    "erfcinv": "erfc",
}
FUNCTIONS = {
    **_NEIGHBOURS,
    **{f"{name}f": f"{other}f" for name, other in _NEIGHBOURS.items()},
    "__saturatef": "fabsf",
    "__popc": "__clz",
    "__clz": "__popc",
    "quat_rotate": "quat_rotate_inv",
    "quat_rotate_inv": "quat_rotate",
    "length": "length_sq",
}
"""Functions and what is called in their place, where it is there."""
FAST = {
    f"{name}f": f"__{name}f"
    for name in ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow")
}
"""Functions of float and their fast forms (CUDA C++ Programming Guide, "Intrinsic Functions")."""
LEFT_OUT = {"fabs", "fabsf", "abs"}
FLOAT_FUNCTIONS = {
    *_NEIGHBOURS,
    *(f"{name}f" for name in _NEIGHBOURS),
    *("fabs", "fabsf", "fmin", "fminf", "fmax", "fmaxf", "pow", "powf", "fma", "fmaf", "fmod"),
    *("fmodf", "atan2", "atan2f", "copysign", "copysignf", "__saturatef", "__int_as_float"),
}
EXTREMES = {
    "min": "max",
    "max": "min",
    "fmin": "fmax",
    "fmax": "fmin",
    "fminf": "fmaxf",
    "fmaxf": "fminf",
    "atomicMin": "atomicMax",
    "atomicMax": "atomicMin",
    "warp_min": "warp_max",
    "warp_max": "warp_min",
}
ORDERED_ARGUMENTS = {
    *("atan2", "atan2f", "pow", "powf", "fmod", "fmodf", "copysign", "copysignf", "cross"),
}
ATOMICS = {
    "atomicAdd": "{old} + ({value})",
    "atomicSub": "{old} - ({value})",
    "atomicMin": "{old} < ({value}) ? {old} : ({value})",
    "atomicMax": "{old} > ({value}) ? {old} : ({value})",
    "atomicAnd": "{old} & ({value})",
    "atomicOr": "{old} | ({value})",
    "atomicXor": "{old} ^ ({value})",
    "atomicExch": "{value}",
}
"""What each leaves behind."""
ATOMICS_SWAPPED = {"atomicAnd": "atomicOr", "atomicOr": "atomicAnd", "atomicXor": "atomicOr"}
BITS_OF_FLOATS = {"__int_as_float", "__longlong_as_double", "__uint_as_float"}
