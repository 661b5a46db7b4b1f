"""Hashes of 32-bit keys, as sketches take them."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.parallel.parts import UINT32
from generators.build import BodyBuilder, KernelBuilder
from generators.kit.naming import routine
from generators.program.expr import Expr

Hash = Callable[..., Expr]


def _murmur(b: BodyBuilder, key: Expr, seed: Expr) -> Expr:
    """The finaliser of MurmurHash3 (A. Appleby, public domain)."""
    h = b.let("h x", key ^ seed)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        b.assign(h, (h ^ (h >> b.lift(shift, UINT32))) * b.lift(factor, UINT32))
    return h ^ (h >> b.lift(16, UINT32))


def _fnv(b: BodyBuilder, key: Expr, seed: Expr) -> Expr:
    """FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) over two halves of a key."""
    h = b.let("h x", seed ^ b.lift(2166136261, UINT32))
    for part in (key & b.lift(0xFFFF, UINT32), key >> b.lift(16, UINT32)):
        b.assign(h, (h ^ part) * b.lift(16777619, UINT32))
    return h ^ (h >> b.lift(15, UINT32))


def _golden(b: BodyBuilder, key: Expr, seed: Expr) -> Expr:
    """Multiplicative hashing (D. E. Knuth, The Art of Computer Programming 3, 6.4)."""
    h = b.let("h x", (key + seed) * b.lift(2654435769, UINT32))
    return h ^ (h >> b.lift(16, UINT32))


_HASHES = {
    "MurmurHash3's finaliser of key ^ seed (shifts 16, 13, 16; factors 0x85ebca6b, 0xc2b2ae35)": (
        _murmur
    ),
    "FNV-1a of the low and the high 16 bits, from 2166136261 ^ seed on, then x ^ (x >> 15)": _fnv,
    "x ^ (x >> 16) of x = 2654435769 * (key + seed)": _golden,
}


def hashed(k: KernelBuilder, share: float = 0.7) -> tuple[Hash, str]:
    """A hash of a key and a seed, by a helper with that chance; and what it is in words."""
    said = k.draw.shape.choice(sorted(_HASHES))
    params = {"key": UINT32, "seed": UINT32}
    return routine(k, share, "hash_key mix_bits hash_u32", params, _HASHES[said]), said
