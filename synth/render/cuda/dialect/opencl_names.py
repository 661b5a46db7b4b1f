"""Names that OpenCL C has for itself: keywords, and functions that it has without any header."""

from __future__ import annotations

_SCALARS = ("char", "short", "int", "long", "float", "double", "half", "uchar", "ushort", "uint")
_VECTORS = tuple(
    f"{kind}{count}" for kind in (*_SCALARS, "ulong") for count in ("2", "3", "4", "8", "16")
)
_SPACES = ("global", "local", "constant", "private", "generic")

_ASKED = (
    *("get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size"),
    *("barrier", "clamp", "popcount", "min", "max", "vload_half", "vstore_half", "as_int"),
    *("as_uint", "as_long", "as_ulong", "as_float", "as_double"),
)
"""Functions that a text may call beside those of the mathematics."""

RESERVED = frozenset(
    {
        *_VECTORS,
        *_SPACES,
        *_ASKED,
        *("kernel", "restrict", "uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t"),
        *("intptr_t", "uintptr_t", "event_t", "sampler_t", "read_only", "write_only"),
        *("read_write", "uniform", "pipe", "complex", "imaginary", "quad", "vec_step", "queue_t"),
        *("image1d_t", "image2d_t", "image3d_t", "clk_event_t", "reserve_id_t", "ndrange_t"),
        *("INFINITY", "NAN", "HUGE_VAL", "HUGE_VALF", "MAXFLOAT", "M_PI", "M_E", "NULL"),
    }
)
"""Names that nothing of a program may have."""

_MATHEMATICS = """acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil
copysign cos cosh cospi erf erfc exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp
hypot ilogb ldexp lgamma lgamma_r log log2 log10 log1p logb mad maxmag minmag modf nan nextafter pow
pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma
trunc"""
_OTHERS = """abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat mad24 mul24 max min mul_hi
rotate sub_sat upsample popcount degrees mix radians step smoothstep sign cross dot distance length
normalize fast_distance fast_length fast_normalize isequal isnotequal isgreater isgreaterequal
isless islessequal islessgreater isfinite isinf isnan isnormal isordered isunordered signbit any all
bitselect select shuffle shuffle2 prefetch barrier mem_fence printf"""

BUILTINS = frozenset(_MATHEMATICS.split()) | frozenset(_OTHERS.split()) | frozenset(_ASKED)
"""Functions of the language: a text's own have other names, since these take many types."""
