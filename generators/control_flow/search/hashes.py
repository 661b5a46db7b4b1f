"""Hash tables in arrays: lookups by probing."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import same
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT32 = Scalar("uint32")


def _hashed(k: KernelBuilder, key: Expr, slots: Expr) -> tuple[Expr, str]:
    """The first slot of a key; in words."""
    shape = k.draw.shape
    factor = k.draw.value.choice((2654435761, 2246822519, 3266489917))
    whole: Expr = cast(key, UINT32) * k.lift(factor, UINT32)
    said = f"key * {factor} in uint32"
    if shape.chance(0.5):
        bits = k.draw.value.choice((13, 15, 16))
        mixed = k.let("h code", whole)
        whole = fn("bit_xor", mixed, mixed >> k.lift(bits, UINT32))
        said = f"h ^ (h >> {bits}) for h = {said}"
    code = whole % cast(slots, UINT32)
    return cast(code, INT32), f"({said}) modulo the number of slots"


_STEPS = {
    "linear": "one further each time",
    "quadratic": "1, 2, 3 and so on further",
    "double": "1 + key % (slots - 1) further each time",
}
_NUMBERS = {
    "quadratic": " (the number of slots is a power of two, so that this reaches all)",
    "double": " (the number of slots is prime, so that this reaches all)",
}


@idiom
def probe_lookup(k: KernelBuilder, level: int) -> Title:
    """Lookups in an open-addressing table by linear or quadratic probing or double hashing (Knuth,
    The Art of Computer Programming 3, 6.4)."""
    shape = k.draw.shape
    k.size("queries", 90, 110)
    way = shape.choice(tuple(_STEPS))
    slots = 31 if way == "double" else 32
    k.size("table_slots", slots, slots, minimum=8)
    (i,) = k.thread("queries", names=(k.name("i q"),))
    keys = k.array("table_keys slot_keys", INT32, "table_slots", low=-1, high=9)
    type_ = shape.choice((INT32, FLOAT32))
    span = (0, 900) if type_ == INT32 else (-1.0, 1.0)
    values = k.array("table_values slot_values", type_, "table_slots", low=span[0], high=span[1])
    wanted = k.array("query_keys lookups", INT32, "queries", low=0, high=11)
    missing: float = -1 if type_ == INT32 else 0.0
    counted = level > 1 and shape.chance(0.2 + 0.1 * level)
    found, probes, said = _walk(k, way, (keys, values), wanted[i], missing, counted)
    out = k.out("results found_values", type_, "queries")
    k.store(out, (i,), found)
    text = f"Look each of {wanted.name} up in a hash table with open addressing ({keys.name}, "
    text += f"{values.name}) of keys that are not negative: begin at slot {said}, "
    text += f"go {_STEPS[way]} with wrap-around{_NUMBERS.get(way, '')}, and end at the key, at a "
    text += "free slot (a negative key) or after as many probes as there are slots. "
    text += f"{out.name} gets the key's value, {missing} if it is not there"
    if probes is not None:
        tries = k.out("probe_counts num_probes", INT32, "queries")
        k.store(tries, (i,), probes)
        text += f", {tries.name} how many slots were looked at"
    return Title(k.name("probe_lookup hash_lookup", f"{way}_probing"), f"{text}.")


def _walk(
    k: KernelBuilder,
    way: str,
    table: tuple[Var, Var],
    wanted: Expr,
    missing: float,
    counted: bool,
) -> tuple[Var, Var | None, str]:
    """The value that is found, how many slots were looked at if that is counted, and how the first
    slot follows from the key."""
    keys, values = table
    key = k.let("key x", wanted)
    slots = k.size_param("num_slots capacity", "table_slots")
    first, said = _hashed(k, key, slots)
    slot = k.let("slot pos", first)
    found = k.let("found result", k.lift(missing, values[slot].type))
    probes = k.let("probes tries", k.lift(0, INT32)) if counted else None
    stride = k.let("stride jump", 1 + key % (slots - 1)) if way == "double" else None
    with k.for_("p step", slots) as p:
        there = k.let("there stored", keys[slot])
        if probes is not None:
            k.augment(probes, "add", 1)
        _probed(k, there, key, found, values[slot])
        k.assign(slot, _next(way, slot, p, stride) % slots)
    return found, probes, said


def _probed(k: KernelBuilder, there: Expr, key: Expr, found: Var, value: Expr) -> None:
    """End at the key, with its value, or at a free slot."""
    if k.draw.shape.chance(0.4):
        with k.if_(there < 0):
            k.break_()
        with k.if_(same(there, key)):
            k.assign(found, value)
            k.break_()
        return
    with k.if_(same(there, key)):
        k.assign(found, value)
        k.break_()
    with k.if_(there < 0):
        k.break_()


def _next(way: str, slot: Expr, p: Expr, stride: Var | None) -> Expr:
    """The slot after one, before the remainder."""
    if way == "quadratic":
        return slot + p + 1
    return slot + 1 if stride is None else slot + stride
