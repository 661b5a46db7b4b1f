"""Codes of standards give the values that their tables print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from generators.arithmetic.whole import companding, galois
from generators.build import KernelBuilder, cast
from generators.build.draw import Draw
from generators.control_flow.codecs import texture_formats as textures
from generators.program.dtypes import INT32
from generators.program.expr import Expr
from generators.program.ir import Program
from synth.render.reference import module as reference

G711 = {
    "mu": {0: -32124, 1: -31100, 126: -8, 127: 0, 128: 32124, 143: 16764, 254: 8, 255: 0},
    "a": {42: -32256, 85: -8, 170: 32256, 213: 8, 128: 5504, 0: -5504, 84: -24, 213 - 128: -8},
}
"""Samples of codes, as tables of G.711 in 16 bits have them."""


def computed(build: Callable[..., Expr], *columns: Sequence[int]) -> list[int]:
    """What ``build(kernel, *numbers)`` gives for each row of numbers."""
    k = KernelBuilder(Draw(0, "arithmetic", 0, 0))
    k.size("n", len(columns[0]), len(columns[0]))
    (i,) = k.thread("n", names=("i",))
    arrays = [k.array(f"column{c}", INT32, "n") for c in range(len(columns))]
    values = [k.let(f"value{c}", array[i]) for c, array in enumerate(arrays)]
    value = build(k, *values)
    k.store(k.out("found", INT32, "n"), i, value)
    space: dict[str, Any] = {}
    exec(reference.render(k.program("known", 1, "known", "Known values in found.")), space)
    found = np.zeros(len(columns[0]), np.int64)
    space["known"]((len(found),), *map(list, columns), found)
    return [int(x) for x in found]


@pytest.mark.parametrize("name", sorted(G711))
def test_codes_of_g711_mean_its_samples(name: str) -> None:
    codes = list(G711[name])
    assert computed(companding.LAWS[name].decoded, codes) == list(G711[name].values())


@pytest.mark.parametrize("search", companding._SEARCHES)
@pytest.mark.parametrize("name", sorted(G711))
def test_samples_of_g711_have_their_codes_again(name: str, search: Any) -> None:
    law = companding.LAWS[name]
    samples = computed(law.decoded, range(256))
    again = computed(lambda b, x: law.encoded(b, x, search, False), samples)
    # Mu-law has two codes of 0.
    assert [c for c in range(256) if again[c] != c] == ([127] if name == "mu" else [])


@pytest.mark.parametrize("branches", [True, False])
def test_products_of_bytes(branches: bool) -> None:
    """FIPS 197 has 0x57 * 0x83 = 0xc1 and 0x57 * 0x13 = 0xfe; 2 generates the field of RAID-6."""

    def times(polynomial: int) -> Callable[..., Expr]:
        return lambda b, x, y: galois._by_bits(b, x, y, polynomial, branches)

    assert computed(times(283), [0x57, 0x57, 0], [0x83, 0x13, 9]) == [0xC1, 0xFE, 0]
    powers = [1]
    for _ in range(254):
        powers += computed(times(285), powers[-1:], [2])
    assert sorted(powers) == list(range(1, 256))
    assert powers[8] == 0x1D


def gf_times(a: int, b: int) -> int:
    product = 0
    for bit in range(8):
        product ^= (a << bit) * (b >> bit & 1)
    for bit in range(14, 7, -1):
        product ^= (285 << bit - 8) * (product >> bit & 1)
    return product


def value_at(root: int, symbols: Sequence[int]) -> int:
    value = 0
    for symbol in symbols:
        value = gf_times(value, root) ^ symbol
    return value


def test_an_encoded_codeword_has_the_roots_of_the_code() -> None:
    """Of draws that multiply without tables: what they append makes all four syndromes zero."""
    checked = 0
    for index in range(9):
        k = KernelBuilder(Draw(0, "arithmetic", index, 0))
        galois._remainder(k, 4)
        program = k.program("known", 1, "known", "Known values.")
        if all(p.shape[:1] in _CODE_SHAPES for p in program.kernel.params):
            _has_the_roots(program)
            checked += 1
    assert checked > 2


_CODE_SHAPES = {(), ("codewords",), ("message_len",), ("checks",)}


def _has_the_roots(program: Program) -> None:
    roots, generator = [1, 2, 4, 8], [1]
    for root in roots:
        above = [0, *(gf_times(x, root) for x in generator)]
        generator = [a ^ b for a, b in zip([*generator, 0], above, strict=True)]
    messages = np.random.default_rng(1).integers(0, 256, (3, 10))
    found = np.zeros((3, 4), np.int64)
    by_shape = {
        ("codewords", "checks"): found,
        ("codewords", "message_len"): messages,
        ("message_len", "codewords"): messages.T,
        ("checks",): np.array(generator[1:]),
    }
    numbers = {"size:message_len": 10, "size:checks": 4}
    space: dict[str, Any] = {}
    exec(reference.render(program), space)
    space["known"](
        (3,), *(by_shape.get(p.shape, numbers.get(p.init)) for p in program.kernel.params)
    )
    for message, checks in zip(messages, found, strict=True):
        word = [int(x) for x in (*message, *checks)]
        assert [value_at(root, word) for root in roots] == [0, 0, 0, 0]


def test_texels_of_blocks() -> None:
    """A block from red to blue has two colours between; in the other order one, and none."""

    def texel(b: KernelBuilder, c0: Expr, c1: Expr, choice: Expr) -> Expr:
        parts = [cast(x, textures.UINT64) << n for n, x in ((0, c0), (16, c1), (32, choice))]
        form = textures.FORMATS["bc1"]
        rgba = form.texel(b, [parts[0] | parts[1] | parts[2]], b.lift(0, INT32))
        return cast(rgba & 0xFFFFFF, INT32)

    red, blue = 0xF800, 0x001F
    found = computed(texel, [red] * 4 + [blue] * 4, [blue] * 4 + [red] * 4, [0, 1, 2, 3] * 2)
    assert found == [0x0000FF, 0xFF0000, 0x5500AA, 0xAA0055, 0xFF0000, 0x0000FF, 0x7F007F, 0]


def test_levels_of_blocks() -> None:
    """BC4 has six levels between its ends, or four and both extremes."""

    def texel(b: KernelBuilder, first: Expr, second: Expr, choice: Expr) -> Expr:
        word = cast(first | (second << 8) | (choice << 16), textures.UINT64)
        return textures.FORMATS["bc4"].texel(b, [word], b.lift(0, INT32))

    choices = list(range(8))
    assert computed(texel, [210] * 8, [70] * 8, choices) == [210, 70, 190, 170, 150, 130, 110, 90]
    assert computed(texel, [50] * 8, [100] * 8, choices) == [50, 100, 60, 70, 80, 90, 0, 255]
