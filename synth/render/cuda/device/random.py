"""Device functions that draw random numbers."""

from __future__ import annotations

from generators.program.dtypes import FLOAT32, Scalar, Type, Vec
from generators.program.samplers import SAMPLERS
from synth.render.cuda.device.functions import Library, built, device, passed, real
from synth.render.cuda.device.parts import by_reference
from synth.render.cuda.dialect.current import spoken

_UINT = Scalar("uint32")


@device("rand_pcg")
def _pcg(lib: Library) -> str:
    uint = lib.type(_UINT)
    return (
        f"{spoken().function}{uint} {lib.spelled('rand_pcg')}({uint} state)\n{{\n"
        f"    const {uint} mixed = state * 747796405u + 2891336453u;\n"
        f"    const {uint} word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;\n"
        "    return (word >> 22u) ^ word;\n}\n"
    )


@device("rand_init")
def _init(lib: Library, *types: Type) -> str:
    pcg, uint = lib.function("rand_pcg"), lib.type(_UINT)
    return (
        f"{spoken().function}{uint} {lib.spelled('rand_init', *types)}(int seed, int offset)\n{{\n"
        f"    return {pcg}(({uint})seed + {pcg}(({uint})offset));\n}}\n"
    )


_TWO_PI = "6.28318531f"
_NUMBERS = ("randf", "randi", "randu")
"""Samplers that draw one number."""
_FLAT = (
    *("randn", "sample_triangle", "sample_unit_ring", "sample_unit_disk"),
    *("sample_unit_square", "sample_unit_cube"),
)
_ROUND = tuple(
    f"sample_unit_{shape}{part}" for shape in ("sphere", "hemisphere") for part in ("", "_surface")
)


def _float(name: str) -> str:
    return real(FLOAT32, name)


def _vector(lib: Library, *values: str) -> str:
    return f"return {built(lib, Vec(len(values), FLOAT32), values)};"


def _body(lib: Library, name: str, drawn: str) -> list[str]:
    """The lines of a sampler; ``drawn`` is the call that draws a number from 0 to 1."""
    angle = f"const float angle = {_TWO_PI} * {drawn};"
    sine, cosine = f"{_float('sin')}(angle)", f"{_float('cos')}(angle)"
    if name == "randn":
        root = f"{_float('sqrt')}(-2.0f * {_float('log')}({drawn} + 5.96e-8f))"
        return [
            f"const float radius = {root};",
            f"return radius * {_float('cos')}({_TWO_PI} * {drawn});",
        ]
    if name == "sample_triangle":
        root = f"const float root = {_float('sqrt')}({drawn});"
        return [root, _vector(lib, "1.0f - root", f"root * {drawn}")]
    if name == "sample_unit_ring":
        return [angle, _vector(lib, cosine, sine)]
    if name == "sample_unit_disk":
        radius = f"const float radius = {_float('sqrt')}({drawn});"
        return [radius, angle, _vector(lib, f"radius * {cosine}", f"radius * {sine}")]
    if name in ("sample_unit_square", "sample_unit_cube"):
        sides = "xy" if name == "sample_unit_square" else "xyz"
        return [*(f"const float {c} = {drawn} - 0.5f;" for c in sides), _vector(lib, *sides)]
    assert name in _ROUND, name
    height = "2.0f * " if "hemisphere" not in name else ""
    solid = not name.endswith("_surface")
    size = "radius * " if solid else ""
    return [
        f"const float polar = {_float('acos')}(1.0f - {height}{drawn});",
        angle,
        *([f"const float radius = {_float('cbrt')}({drawn});"] if solid else []),
        f"const float across = {size}{_float('sin')}(polar);",
        _vector(lib, f"across * {cosine}", f"across * {sine}", f"{size}{_float('cos')}(polar)"),
    ]


def _value(name: str, ranged: bool, state: str, uint: str) -> str:
    """What a sampler that draws one number makes of the state."""
    part = f"({state} >> 8) * (1.0f / 16777216.0f)"
    if name == "randf":
        return f"(high - low) * ({part}) + low" if ranged else part
    if name == "randi":
        return f"(int)({state} % ({uint})(high - low)) + low"
    return f"{state} % (high - low) + low" if ranged else state


def _sampler(name: str) -> None:
    @device(name)
    def make(lib: Library, *types: Type) -> str:
        result, uint = SAMPLERS[name][1], lib.type(_UINT)
        target, state = by_reference(uint, "state")
        params = [target]
        params += [passed(lib, t, n) for t, n in zip(types, ("low", "high"), strict=False)]
        if name in _NUMBERS:
            lines = [f"{state} = {lib.function('rand_pcg')}({state});"]
            lines.append(f"return {_value(name, bool(types), state, uint)};")
        else:
            lines = _body(lib, name, f"{lib.function('randf')}(state)")
        body = "".join(f"    {line}\n" for line in lines)
        spelled = lib.spelled(name, *types)
        head = f"{spoken().function}{lib.type(result)} {spelled}({', '.join(params)})"
        return f"{head}\n{{\n{body}}}\n"


for _name in SAMPLERS:
    _sampler(_name)
