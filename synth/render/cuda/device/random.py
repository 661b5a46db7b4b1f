"""Device functions that draw random numbers and the atomics that CUDA has no function for."""

from __future__ import annotations

from generators.program.dtypes import FLOAT32, Scalar, Type
from generators.program.samplers import SAMPLERS
from synth.render.cuda.device.functions import HEAD, Library, device, passed

_UINT = "unsigned int"


@device("rand_pcg")
def _pcg(lib: Library) -> str:
    return (
        f"{HEAD} {_UINT} {lib.spelled('rand_pcg')}({_UINT} state)\n{{\n"
        f"    const {_UINT} mixed = state * 747796405u + 2891336453u;\n"
        f"    const {_UINT} word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;\n"
        "    return (word >> 22u) ^ word;\n}\n"
    )


@device("rand_init")
def _init(lib: Library, *_types: Type) -> str:
    pcg = lib.function("rand_pcg")
    return (
        f"{HEAD} {_UINT} {lib.spelled('rand_init')}(int seed, int offset)\n{{\n"
        f"    return {pcg}(({_UINT})seed + {pcg}(({_UINT})offset));\n}}\n"
    )


_TWO_PI = "6.28318531f"
_ANGLE = f"const float angle = {_TWO_PI} * RANDF(state);"
_POLAR = "const float polar = acosf(1.0f - {height}RANDF(state));"
_RADIUS = "const float radius = cbrtf(RANDF(state));"


def _ball(height: str, solid: bool) -> list[str]:
    size = "radius * " if solid else ""
    return [
        _POLAR.format(height=height),
        _ANGLE,
        *([_RADIUS] if solid else []),
        f"const float across = {size}sinf(polar);",
        f"return make_float3(across * cosf(angle), across * sinf(angle), {size}cosf(polar));",
    ]


_BODIES: dict[str, list[str]] = {
    "randn": [
        "const float radius = sqrtf(-2.0f * logf(RANDF(state) + 5.96e-8f));",
        f"return radius * cosf({_TWO_PI} * RANDF(state));",
    ],
    "sample_triangle": [
        "const float root = sqrtf(RANDF(state));",
        "return make_float2(1.0f - root, root * RANDF(state));",
    ],
    "sample_unit_ring": [_ANGLE, "return make_float2(cosf(angle), sinf(angle));"],
    "sample_unit_disk": [
        "const float radius = sqrtf(RANDF(state));",
        _ANGLE,
        "return make_float2(radius * cosf(angle), radius * sinf(angle));",
    ],
    "sample_unit_square": [
        "const float x = RANDF(state) - 0.5f;",
        "const float y = RANDF(state) - 0.5f;",
        "return make_float2(x, y);",
    ],
    "sample_unit_cube": [
        "const float x = RANDF(state) - 0.5f;",
        "const float y = RANDF(state) - 0.5f;",
        "const float z = RANDF(state) - 0.5f;",
        "return make_float3(x, y, z);",
    ],
    "sample_unit_sphere": _ball("2.0f * ", True),
    "sample_unit_sphere_surface": _ball("2.0f * ", False),
    "sample_unit_hemisphere": _ball("", True),
    "sample_unit_hemisphere_surface": _ball("", False),
}

_RANGED = {
    "randf": "(high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low",
    "randi": f"(int)(state % ({_UINT})(high - low)) + low",
    "randu": "state % (high - low) + low",
}
_WHOLE = {"randf": "(state >> 8) * (1.0f / 16777216.0f)", "randu": "state"}


def _sampler(name: str) -> None:
    @device(name)
    def make(lib: Library, *types: Type) -> str:
        result = SAMPLERS[name][1]
        params = [f"{_UINT}& state"]
        params += [passed(lib, t, n) for t, n in zip(types, ("low", "high"), strict=False)]
        if name in _BODIES:
            randf = lib.function("randf")
            lines = [line.replace("RANDF", randf) for line in _BODIES[name]]
        else:
            value = (_RANGED if types else _WHOLE)[name]
            lines = [f"state = {lib.function('rand_pcg')}(state);", f"return {value};"]
        body = "".join(f"    {line}\n" for line in lines)
        head = f"{HEAD} {lib.type(result)} {lib.spelled(name)}({', '.join(params)})"
        return f"{head}\n{{\n{body}}}\n"


for _name in SAMPLERS:
    _sampler(_name)


def _extreme(lib: Library, op: str, s: Scalar) -> str:
    """Bits of floats of one sign are ordered as integers are."""
    same, other = ("Min", "Max") if op == "min" else ("Max", "Min")
    if s == FLOAT32:
        kind, zero, signed, unsigned = "float", "0.0f", "int", "unsigned int"
        as_signed, as_unsigned = "__float_as_int(value + 0.0f)", "__float_as_uint(value)"
    else:
        kind, zero, signed, unsigned = "double", "0.0", "long long", "unsigned long long"
        as_signed = "__double_as_longlong(value + 0.0)"
        as_unsigned = f"({unsigned})__double_as_longlong(value)"
    return (
        f"{HEAD} void {lib.spelled(f'atomic_{op}')}({kind}* address, {kind} value)\n{{\n"
        f"    if (value >= {zero}) {{\n"
        f"        atomic{same}(({signed}*)address, {as_signed});\n"
        "    } else {\n"
        f"        atomic{other}(({unsigned}*)address, {as_unsigned});\n"
        "    }\n}\n"
    )


@device("atomic_min")
def _atomic_min(lib: Library, s: Scalar) -> str:
    return _extreme(lib, "min", s)


@device("atomic_max")
def _atomic_max(lib: Library, s: Scalar) -> str:
    return _extreme(lib, "max", s)
