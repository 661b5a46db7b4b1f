"""Hashes of 32-bit keys, as sketches take them."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.parallel.parts import UINT32
from generators.build import BodyBuilder, KernelBuilder
from generators.kit.naming import routine
from generators.program.expr import Expr

Hash = Callable[..., Expr]
_Mixer = Callable[[BodyBuilder, Expr, Expr], Expr]


def _fnv(b: BodyBuilder, key: Expr, seed: Expr) -> Expr:
    """FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) over the four bytes of a key."""
    h = b.let("h x", seed ^ b.lift(2166136261, UINT32))
    prime, low = b.lift(16777619, UINT32), b.lift(0xFF, UINT32)
    b.assign(h, (h ^ (key & low)) * prime)
    for shift in (8, 16):
        b.assign(h, (h ^ ((key >> b.lift(shift, UINT32)) & low)) * prime)
    return (h ^ (key >> b.lift(24, UINT32))) * prime


_MIXERS = {
    "MurmurHash3's finaliser": ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 0)),
    "xxHash's avalanche": ((15, 2246822519), (13, 3266489917), (16, 0)),
    "lowbias32": ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 0)),
}
"""Shifts of ``h ^= h >> s``, and the factor after each (0: none): A. Appleby's MurmurHash3, Y.
Collet's xxHash, C. Wellons' lowbias32."""


def _mixer(steps: tuple[tuple[int, int], ...]) -> _Mixer:
    def mix(b: BodyBuilder, key: Expr, seed: Expr) -> Expr:
        h = b.let("h x", key ^ seed)
        for shift, factor in steps[:-1]:
            b.assign(h, (h ^ (h >> b.lift(shift, UINT32))) * b.lift(factor, UINT32))
        return h ^ (h >> b.lift(steps[-1][0], UINT32))

    return mix


def _told(named: str) -> str:
    steps = _MIXERS[named]
    factors = ", ".join(hex(f) for _, f in steps[:-1])
    return (
        f"{named} of key ^ seed (shifts {', '.join(str(s) for s, _ in steps)}; factors {factors})"
    )


_HASHES: dict[str, _Mixer] = {_told(named): _mixer(steps) for named, steps in _MIXERS.items()}
_HASHES["32-bit FNV-1a of the key's four bytes, the lowest first, from 2166136261 ^ seed on"] = _fnv


def hashed(k: KernelBuilder, share: float = 0.7) -> tuple[Hash, str]:
    """A hash of a key and a seed, by a helper with that chance; and what it is in words."""
    said = k.draw.shape.choice(sorted(_HASHES))
    params = {"key": UINT32, "seed": UINT32}
    return routine(k, share, "hash_key mix_bits hash_u32", params, _HASHES[said]), said
