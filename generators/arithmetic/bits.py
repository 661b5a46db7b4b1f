"""Bits of unsigned words mixed as integer hashes mix them."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Var

Step = Callable[[KernelBuilder, Var, Scalar], str]


def _xor_shift_right(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    shift = k.draw.value.integer(2, type_.bits - 3)
    k.assign(h, h ^ (h >> shift))
    return f"h ^= h >> {shift}"


def _xor_shift_left(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    shift = k.draw.value.integer(2, type_.bits - 3)
    k.assign(h, h ^ (h << shift))
    return f"h ^= h << {shift}"


def _multiply_odd(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    factor = k.draw.value.integer(2 ** (type_.bits - 2), 2 ** (type_.bits - 1)) | 1
    k.augment(h, "mul", factor)
    return f"h *= {factor}"


def _rotate(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    left = k.draw.value.integer(3, type_.bits - 4)
    k.assign(h, (h << left) | (h >> (type_.bits - left)))
    return f"rotate h left by {left}"


def _add_constant(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    increment = k.draw.value.integer(1000, 2 ** (type_.bits - 1))
    k.augment(h, "add", increment)
    return f"h += {increment}"


MIX_STEPS: dict[str, Step] = {
    "xor_shift_right": _xor_shift_right,
    "xor_shift_left": _xor_shift_left,
    "multiply_odd": _multiply_odd,
    "rotate": _rotate,
    "add_constant": _add_constant,
}


@idiom
def bit_mixing(k: KernelBuilder, level: int) -> Title:
    """Rounds of shifts, exclusive ors and multiplications, as integer hashes have them."""
    shape = k.draw.shape
    type_ = shape.weighted({Scalar("uint32"): 4, Scalar("uint64"): 2, Scalar("uint16"): 1})
    n, top = k.size("n", 48, 96), 2**type_.bits - 1
    keys = k.array("keys ids codes words", type_, n, low=0, high=top)
    out = k.out("hashes mixed digest out", type_, n)
    (i,) = k.thread(n)
    h = k.let("h state word", keys[i])
    steps = []
    if level >= 2 and shape.chance(0.6):
        salt = k.scalar("salt seed key", type_, 0, top)
        k.assign(h, h ^ salt)
        steps.append(f"h ^= {salt.name}")
    last = ""
    for _ in range(shape.integer(1, 1 + level // 2)):
        for step in shape.sample([s for s in MIX_STEPS if s != last], shape.integer(2, 3)):
            steps.append(MIX_STEPS[step](k, h, type_))
            last = step
    if level >= 4:
        steps.append(_spin(k, h, type_))
    if level >= 3 and shape.chance(0.5):
        mask = 2 ** k.draw.value.integer(4, 10) - 1
        k.assign(h, h & mask)
        steps.append(f"h &= {mask}")
    k.store(out, i, h)
    name = k.name(f"mix_bits scramble_{keys.name} hash_{keys.name} avalanche")
    return Title(name, f"Scramble each {type_} word h of {keys.name}: {'; '.join(steps)}.")


def _spin(k: KernelBuilder, h: Var, type_: Scalar) -> str:
    spins, shift = k.draw.value.integer(2, 4), k.draw.value.integer(2, 5)
    with k.for_("r turn", spins) as turn:
        k.assign(h, (h ^ (h >> shift)) + cast(turn, type_))
    return f"for each r from 0 to {spins - 1}, h = (h ^ (h >> {shift})) + r"
