"""What functions of the host headers give: rounding modes, conversions, whole numbers, float16."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact import DTYPES, FORMATS, MODES, Call, computed, narrow_bits, root, rounded

RANDOM = np.random.default_rng(20_261_122)
MASK = 0xFFFFFFFF
Exact = Callable[..., Fraction]

ARITHMETIC: dict[str, tuple[str, int, Exact]] = {
    "__fadd": ("float", 2, lambda a, b: a + b),
    "__fsub": ("float", 2, lambda a, b: a - b),
    "__fmul": ("float", 2, lambda a, b: a * b),
    "__fdiv": ("float", 2, lambda a, b: a / b),
    "__frcp": ("float", 1, lambda a: 1 / a),
    "__fsqrt": ("float", 1, lambda a: root(abs(a))),
    "__fmaf": ("float", 3, lambda a, b, c: a * b + c),
    "__dadd": ("double", 2, lambda a, b: a + b),
    "__dsub": ("double", 2, lambda a, b: a - b),
    "__dmul": ("double", 2, lambda a, b: a * b),
    "__ddiv": ("double", 2, lambda a, b: a / b),
    "__drcp": ("double", 1, lambda a: 1 / a),
    "__dsqrt": ("double", 1, lambda a: root(abs(a))),
    "__fma": ("double", 3, lambda a, b, c: a * b + c),
}
WHOLES = {
    "int": "int",
    "uint": "unsigned int",
    "ll": "long long",
    "ull": "unsigned long long",
}


def spread(kind: str, size: int, roots: bool = False) -> np.ndarray:
    """Numbers of all magnitudes of a floating type, none of them 0."""
    form, dtype = FORMATS[kind], DTYPES[kind]
    powers = RANDOM.integers(form.least, form.top, size)
    powers[::3] = RANDOM.integers(-4, 5, len(powers[::3]))
    mantissas = RANDOM.uniform(1, 2, size)
    mantissas[::5] = np.round(mantissas[::5] * 16) / 16
    found = np.ldexp(mantissas, powers) * RANDOM.choice([-1, 1], size)
    with np.errstate(over="ignore"):
        found = found.astype(dtype)
    found = np.where(np.isfinite(found) & (found != 0), found, dtype(1.5))
    return np.abs(found) if roots else found


def operands(name: str) -> list[np.ndarray]:
    """Columns of numbers for an operation, one an operand."""
    kind, arity, _ = ARITHMETIC[name]
    columns = [spread(kind, 300, roots="sqrt" in name) for _ in range(arity)]
    if arity == 3:
        # Sums that nearly cancel, where what is left of a product decides.
        with np.errstate(over="ignore"):
            columns[2][::4] = -(columns[0][::4] * columns[1][::4])
        columns[2] = np.where(np.isfinite(columns[2]), columns[2], 1)
    return columns


def test_arithmetic_is_rounded_as_its_name_says(tmp_path: Path) -> None:
    calls, columns = [], []
    for name, (kind, arity, _) in ARITHMETIC.items():
        arguments = ", ".join("abc"[:arity])
        calls += [Call(kind, f"{name}_{mode}({arguments})", (kind,) * arity) for mode in MODES]
        columns += [operands(name)] * len(MODES)
    for call, column, got in zip(calls, columns, computed(calls, columns, tmp_path), strict=True):
        name, _, mode = call.expression.partition("(")[0].rpartition("_")
        exact, form = ARITHMETIC[name][2], FORMATS[call.result]
        values = [[Fraction(float(value)) for value in operand] for operand in column]
        want = [rounded(exact(*numbers), mode, form) for numbers in zip(*values, strict=True)]
        assert np.array_equal(got, np.array(want, DTYPES[call.result])), call.expression


def test_zeros_infinities_and_nan_of_directed_sums(tmp_path: Path) -> None:
    pairs = [(0.0, 0.0), (0.0, -0.0), (1.0, -1.0), (math.inf, 1.0), (math.inf, -math.inf)]
    columns = [[a for a, _ in pairs], [b for _, b in pairs]]
    calls = [Call("float", f"__fadd_{mode}(a, b)", ("float", "float")) for mode in ("rd", "ru")]
    down, up = computed(calls, [columns, columns], tmp_path)
    assert [math.copysign(1, x) for x in down[:3]] == [1, -1, -1]
    assert [math.copysign(1, x) for x in up[:3]] == [1, 1, 1]
    assert down[3] == up[3] == math.inf
    assert math.isnan(down[4])


WHOLE: dict[str, Callable[[float], int]] = {
    "rn": round,
    "rz": math.trunc,
    "ru": math.ceil,
    "rd": math.floor,
}


def test_whole_numbers_are_kept_inside_their_type(tmp_path: Path) -> None:
    edges = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 2.0**31, -(2.0**31), 2.0**32, 2.0**63]
    edges += [-(2.0**63), 2.0**64, 1e30, -1e30, math.inf, -math.inf, 123456.7, -98765.4]
    cases = [(s, short, mode) for s in ("float", "double") for short in WHOLES for mode in MODES]
    calls = [Call(WHOLES[short], f"__{s}2{short}_{mode}(a)", (s,)) for s, short, mode in cases]
    results = computed(calls, [[[*edges, math.nan]]] * len(calls), tmp_path)
    for (source, short, mode), got in zip(cases, results, strict=True):
        limits = np.iinfo(DTYPES[WHOLES[short]])
        for edge, found in zip(edges, got, strict=False):
            value = float(DTYPES[source](edge))
            far = (1 << 80) * (-1 if value < 0 else 1)
            want = WHOLE[mode](value) if math.isfinite(value) else far
            case = (source, short, mode, value)
            assert int(found) == min(max(want, int(limits.min)), int(limits.max)), case
        # As PTX has it for NaN: the topmost bit alone where 64 bits are on either side.
        wide = source == "double" or limits.bits == 64
        assert int(got[-1]) & ((1 << limits.bits) - 1) == (1 << (limits.bits - 1) if wide else 0)


def test_whole_numbers_become_the_nearest_or_the_next(tmp_path: Path) -> None:
    calls, columns = [], []
    for target in FORMATS:
        for short, source in WHOLES.items():
            if target == "double" and short in ("int", "uint"):
                continue  # exact: there is one form of it
            limits = np.iinfo(DTYPES[source])
            values = [0, 1, 2049, 65504, 65519, 65520, 16777217, 16777219, int(limits.max)]
            values += [int(limits.max) - 1, (1 << 24) + 1, 257, 258, 259, 1 << 30, (1 << 31) - 65]
            values += [int(limits.min)]
            values += RANDOM.integers(limits.min, limits.max, 200, DTYPES[source]).tolist()
            name = target.removeprefix("__").removeprefix("nv_")
            calls += [Call(target, f"__{short}2{name}_{mode}(a)", (source,)) for mode in MODES]
            columns += [[values]] * len(MODES)
    for call, column, got in zip(calls, columns, computed(calls, columns, tmp_path), strict=True):
        mode, form = call.expression[-5:-3], FORMATS[call.result]
        want: Any = [rounded(Fraction(value), mode, form) for value in column[0]]
        want = narrow_bits(want, call.result) if call.result.startswith("__") else want
        assert np.array_equal(got, np.array(want, DTYPES[call.result])), call.expression


@pytest.mark.parametrize("target", ["__half", "__nv_bfloat16"])
def test_narrow_types_round_floats_and_doubles_once(target: str, tmp_path: Path) -> None:
    name = target.removeprefix("__").removeprefix("nv_")
    values = np.concatenate([spread("float", 300), -spread("float", 100)])
    near = np.ldexp(RANDOM.integers(1024, 4096, 300) + 0.5, RANDOM.integers(-40, 8, 300))
    floats = np.concatenate([values, near, near * (1 + 2.0**-20), [65519.996, 65520, 1e9, -1e9]])
    floats = floats.astype(np.float32)
    calls = [Call(target, f"__float2{name}_{mode}(a)", ("float",)) for mode in MODES]
    for mode, got in zip(MODES, computed(calls, [[floats]] * 4, tmp_path), strict=True):
        want = [rounded(Fraction(float(x)), mode, FORMATS[target]) for x in floats]
        assert np.array_equal(got, narrow_bits(want, target)), mode
    doubles = near * (1 + 2.0**-45)
    (got,) = computed([Call(target, f"__double2{name}(a)", ("double",))], [[doubles]], tmp_path)
    want = [rounded(Fraction(float(x)), "rn", FORMATS[target]) for x in doubles]
    assert np.array_equal(got, narrow_bits(want, target))


NARROW: dict[str, Exact] = {
    "__hadd(a, b)": lambda a, b, c: a + b,
    "a - b": lambda a, b, c: a - b,
    "__hmul(a, b)": lambda a, b, c: a * b,
    "a / b": lambda a, b, c: a / b,
    "__hfma(a, b, c)": lambda a, b, c: a * b + c,
    "hsqrt(__habs(a))": lambda a, b, c: root(abs(a)),
    "__hneg(a)": lambda a, b, c: -a,
    "__hmax(a, b)": lambda a, b, c: max(a, b),
    "__hmul_sat(a, b)": lambda a, b, c: min(max(a * b, Fraction(0)), Fraction(1)),
    "hfloor(a)": lambda a, b, c: Fraction(math.floor(a)),
}


@pytest.mark.parametrize("kind", ["__half", "__nv_bfloat16"])
def test_narrow_arithmetic_rounds_once(kind: str, tmp_path: Path) -> None:
    form = FORMATS[kind]
    columns, exact = [], []
    for _ in range(3):
        mantissas = RANDOM.integers(1 << (form.bits - 1), 1 << form.bits, 500)
        powers = RANDOM.integers(-12 - form.bits, 4 - form.bits, 500)
        values = np.ldexp(mantissas.astype(float), powers) * RANDOM.choice([-1, 1], 500)
        columns.append(narrow_bits(values.tolist(), kind))
        exact.append([Fraction(value) for value in values.tolist()])
    calls = [Call(kind, expression, (kind,) * 3) for expression in NARROW]
    results = computed(calls, [columns] * len(calls), tmp_path)
    for (expression, function), got in zip(NARROW.items(), results, strict=True):
        want = [rounded(function(*values), "rn", form) for values in zip(*exact, strict=True)]
        bits = narrow_bits(want, kind)
        # A zero's sign is left out.
        assert np.array_equal(np.where(bits & 0x7FFF, got, got & 0x7FFF), bits & _kept(bits)), (
            expression
        )


def _kept(bits: np.ndarray) -> np.ndarray:
    return np.where(bits & 0x7FFF, np.uint16(0xFFFF), np.uint16(0x7FFF))


def lanes(word: int, bits: int, signed: bool) -> list[int]:
    """Lanes of a word, from the lowest."""
    found = [word >> at & ((1 << bits) - 1) for at in range(0, 32, bits)]
    return [x - (1 << bits) if signed and x >> (bits - 1) else x for x in found]


def by_lane(bits: int, signed: bool, function: Callable[[int, int], int]) -> Callable[..., int]:
    """A function of words from one of lanes."""

    def joined(a: int, b: int) -> int:
        pairs = zip(lanes(a, bits, signed), lanes(b, bits, signed), strict=True)
        parts = [function(x, y) & ((1 << bits) - 1) for x, y in pairs]
        return sum(part << (at * bits) for at, part in enumerate(parts))

    return joined


def signed(word: int) -> int:
    """A word as a signed number."""
    return word - (1 << 32) if word >> 31 else word


WORDS: dict[str, Callable[[int, int], int]] = {
    "__umulhi(a, b)": lambda a, b: a * b >> 32,
    "__mulhi(a, b)": lambda a, b: signed(a) * signed(b) >> 32,
    "__umul24(a, b)": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "__uhadd(a, b)": lambda a, b: (a + b) >> 1,
    "__urhadd(a, b)": lambda a, b: (a + b + 1) >> 1,
    "__hadd(static_cast<int>(a), static_cast<int>(b))": lambda a, b: signed(a) + signed(b) >> 1,
    "__rhadd(a, b)": lambda a, b: signed(a) + signed(b) + 1 >> 1,
    "__usad(a, b, 7)": lambda a, b: abs(a - b) + 7,
    "__sad(a, b, 7)": lambda a, b: abs(signed(a) - signed(b)) + 7,
    "__brev(a)": lambda a, b: int(f"{a:032b}"[::-1], 2),
    "__popc(a)": lambda a, b: a.bit_count(),
    "__clz(a)": lambda a, b: 32 - a.bit_length(),
    "__ffs(a)": lambda a, b: (a & -a).bit_length(),
    "__byte_perm(a, b, 0x5140)": lambda a, b: int.from_bytes(
        [(b << 32 | a) >> 8 * n & 255 for n in (0, 4, 1, 5)], "little"
    ),
    "__funnelshift_l(a, b, 37)": lambda a, b: (b << 32 | a) << 5 >> 32,
    "__funnelshift_r(a, b, 37)": lambda a, b: (b << 32 | a) >> 5,
    "__funnelshift_lc(a, b, 37)": lambda a, b: a,
    "__funnelshift_rc(a, b, 37)": lambda a, b: b,
    "__dp4a(a, b, 5u)": lambda a, b: (
        sum(map(int.__mul__, lanes(a, 8, False), lanes(b, 8, False))) + 5
    ),
    "__dp4a(int(a), int(b), 5)": lambda a, b: (
        sum(map(int.__mul__, lanes(a, 8, True), lanes(b, 8, True))) + 5
    ),
    "__dp2a_hi(int(a), int(b), 5)": lambda a, b: (
        sum(map(int.__mul__, lanes(a, 16, True), lanes(b, 8, True)[2:])) + 5
    ),
    "__vadd4(a, b)": by_lane(8, False, lambda x, y: x + y),
    "__vaddss2(a, b)": by_lane(16, True, lambda x, y: min(max(x + y, -32768), 32767)),
    "__vsubus4(a, b)": by_lane(8, False, lambda x, y: max(x - y, 0)),
    "__vmaxs2(a, b)": by_lane(16, True, max),
    "__vminu4(a, b)": by_lane(8, False, min),
    "__vabsss4(a)": by_lane(8, True, lambda x, y: min(abs(x), 127)),
    "__vcmpgts4(a, b)": by_lane(8, True, lambda x, y: -1 if x > y else 0),
    "__vsetleu2(a, b)": by_lane(16, False, lambda x, y: int(x <= y)),
    "__vavgu4(a, b)": by_lane(8, False, lambda x, y: (x + y + 1) >> 1),
    "__vsadu4(a, b)": lambda a, b: sum(
        abs(x - y) for x, y in zip(lanes(a, 8, False), lanes(b, 8, False), strict=True)
    ),
    "__fns(a, 3, 2)": lambda a, b: next(
        (
            n
            for n in range(3, 32)
            if a >> n & 1 and (a >> 3 & ((2 << (n - 3)) - 1)).bit_count() == 2
        ),
        MASK,
    ),
    "__fns(a, 20, -2)": lambda a, b: next(
        (
            n
            for n in range(20, -1, -1)
            if a >> n & 1 and (a >> n & ((2 << (20 - n)) - 1)).bit_count() == 2
        ),
        MASK,
    ),
}


def test_words(tmp_path: Path) -> None:
    edges = [0, 1, 0x7FFFFFFF, 0x80000000, MASK, 0x00FF00FF, 0x80808080, 0x7F7F8001]
    drawn = RANDOM.integers(0, 1 << 32, (2, 200), np.uint64).tolist()
    columns = [[*edges, *edges[::-1], *drawn[0]], [*edges, *edges, *drawn[1]]]
    calls = [Call("unsigned int", expression, ("unsigned int",) * 2) for expression in WORDS]
    for (expression, function), got in zip(
        WORDS.items(), computed(calls, [columns] * len(calls), tmp_path), strict=True
    ):
        want = [function(a, b) & MASK for a, b in zip(*columns, strict=True)]
        assert got.tolist() == want, expression


# At 1.25 and 0.4; what Python's math has not was taken from tables of ten digits or more.
DOUBLES: dict[str, float] = {
    "std::sqrt(a)": math.sqrt(1.25),
    "std::pow(a, 2)": 1.5625,
    "pow(3, 2)": 9.0,
    "pow(2.0f, 0.5)": math.sqrt(2),
    "std::abs(-a)": 1.25,
    "rhypot(a, b)": 1 / math.hypot(1.25, 0.4),
    "norm4d(a, b, a, b)": math.sqrt(2 * (1.25**2 + 0.4**2)),
    "nextafter(a, 2.0)": math.nextafter(1.25, 2),
    "logb(10.0 * a)": 3.0,
    "ilogb(10.0 * a)": 3.0,
    "scalbn(a, 3)": 10.0,
    "lround(-2.5)": -3.0,
    "llrint(2.5)": 2.0,
    "erfcinv(b)": 0.5951160814499948,
    "normcdf(1.0)": 0.8413447460685429,
    "cyl_bessel_i0(1.0)": 1.2660658777520084,
    "cyl_bessel_i1(1.0)": 0.5651591039924851,
    "j0(1.0)": 0.7651976865579666,
    "y1(1.0)": -0.7812128213002887,
    "jn(2, 1.0)": 0.11490348493190049,
    "exp10(b)": 10**0.4,
    "sinpi(0.5)": 1.0,
    "fdim(a, b)": 0.85,
    "__hiloint2double(0x3ff00000, 0)": 1.0,
    "__double2hiint(1.0)": float(0x3FF00000),
    "CUDART_LN2": math.log(2),
    "std::numeric_limits<float>::max()": float(np.finfo(np.float32).max),
    "-std::numeric_limits<double>::infinity()": -math.inf,
    "std::is_same<decltype(1 + 1.0f), float>::value": 1.0,
    "INT64_MAX": 2.0**63,
    "DBL_EPSILON": 2.0**-52,
    'NULL == 0 ? printf("%d %f", 3, a) : -1': 2.0,
}


def test_functions_and_constants(tmp_path: Path) -> None:
    calls = [Call("double", expression, ("double", "double")) for expression in DOUBLES]
    results = computed(calls, [[[1.25], [0.4]]] * len(calls), tmp_path)
    got = {expression: float(r[0]) for expression, r in zip(DOUBLES, results, strict=True)}
    assert got == pytest.approx(DOUBLES, rel=1e-14)


def test_clocks_grow(tmp_path: Path) -> None:
    (got,) = computed(
        [Call("long long", "clock64() + clock() * 0", ("int",))], [[range(9)]], tmp_path
    )
    assert all(np.diff(got) > 0)
