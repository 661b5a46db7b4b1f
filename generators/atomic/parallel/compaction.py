"""Stream compaction by a scan of flags, and what is counted of the kept."""

from __future__ import annotations

from dataclasses import dataclass

from generators.atomic.parallel.parts import COUNTS, UINT32, guarded, named
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var

_MOST = 40
"""Scans end here at most."""


@dataclass(frozen=True)
class _Stream:
    """What a stream holds: the values that are packed, and by what the kept are counted."""

    noun: str
    values: str
    types: tuple[Type, ...]
    packed: str
    ids: str
    group: str
    """The array that says to which group each belongs; none for the digits of keys."""
    counts: str
    weight: tuple[str, str] | None = None
    """What may be summed in place of a count, and the names of the sums."""


_VEC2, _VEC3 = Vec(2, FLOAT32), Vec(3, FLOAT32)
_STREAMS = (
    _Stream(
        "particles",
        "positions pos",
        (_VEC2, _VEC3),
        "alive_positions packed_positions",
        "particle_ids",
        "emitter_ids emitter_of",
        "alive_per_emitter emitter_counts",
    ),
    _Stream(
        "particles",
        "positions pos",
        (_VEC2, _VEC3),
        "kept_positions packed_positions",
        "particle_ids",
        "species species_ids",
        "species_counts kept_per_species",
        ("mass masses", "species_mass mass_per_species"),
    ),
    _Stream(
        "rays",
        "directions ray_dirs",
        (_VEC3,),
        "active_directions packed_rays",
        "pixel_ids pixels",
        "material_ids hit_materials",
        "rays_per_material material_counts",
    ),
    _Stream(
        "tokens",
        "tokens token_ids",
        (INT32,),
        "kept_tokens packed_tokens",
        "token_positions",
        "expert_ids experts",
        "tokens_per_expert expert_load",
    ),
    _Stream(
        "keys", "keys codes", (UINT32,), "kept_keys packed_keys", "row_ids", "", "digit_counts"
    ),
)


@idiom(depth=2)
def scan_compaction(k: KernelBuilder, level: int) -> Title:
    """Stream compaction: kept entries go where a scan of their flags says, and are counted."""
    shape = k.draw.shape
    inclusive = shape.chance(0.5)
    stream = shape.choice(_STREAMS)
    k.size("n", 56, 72)
    k.size("capacity", _MOST + 1, _MOST + 6, minimum=_MOST + 1)
    (i,) = k.thread("n", names=(k.name("i idx"),))
    dims = "n" if inclusive else "n+1"
    scan = k.array("scan offsets flag_scan", INT32, dims, init="sorted", low=0, high=_MOST)
    type_ = shape.choice(stream.types)
    low, high = (0, 4000) if isinstance(type_, Scalar) else (-9, 90)
    values = k.array(stream.values, type_, "n", low=low, high=high)
    out = k.accumulator(stream.packed, type_, "capacity", 0 if type_ == UINT32 else -1)
    extra = shape.choice(("none", "index", "ids"))
    kept = None
    if extra != "none":
        kept = k.accumulator("kept_ids source_ids", INT32, "capacity", -1)
    ids = k.array(stream.ids, INT32, "n", low=0, high=9999) if extra == "ids" else None
    t = _Kept(k, stream)
    test, slot, where, place = (_inclusive if inclusive else _exclusive)(k, scan, i)
    with guarded(k, test, False):
        slot = named(k, "at target", slot, 1.0)
        value = named(k, "key code", values[i], 0.7) if not stream.group else values[i]
        k.store(out, slot, value)
        if kept is not None:
            k.store(kept, slot, i if ids is None else ids[i])
        t.count(i, value)
    text = f"Stream compaction of {stream.noun} by the {'in' if inclusive else 'ex'}clusive scan "
    text += f"of their flags: where {where}, store {values.name}[i] in {out.name}[{place}]"
    if kept is not None:
        text += f" and {'i' if ids is None else f'{ids.name}[i]'} in {kept.name}[{place}]"
    return Title(k.name("compact_by_scan scatter_kept stream_compact"), f"{text}. {t.said()}.")


def _inclusive(k: KernelBuilder, scan: Var, i: Var) -> tuple[Expr, Expr, str, str]:
    """An entry is kept where the scan has grown."""
    before = k.let("before previous", k.lift(0, INT32))
    with k.if_(i > 0):
        k.assign(before, scan[i - 1])
    here = named(k, "here upto", scan[i], 1.0)
    name = scan.name
    where = f"{name}[i] is larger than {name}[i - 1] (0 before the first)"
    return here > before, here - 1, where, f"{name}[i] - 1"


def _exclusive(k: KernelBuilder, scan: Var, i: Var) -> tuple[Expr, Expr, str, str]:
    """An entry is kept where the scan grows behind it."""
    slot = named(k, "place slot", scan[i], 1.0)
    after = named(k, "after next_place", scan[i + 1], 0.4)
    name = scan.name
    if k.draw.shape.chance(0.6):
        return after > slot, slot, f"{name}[i + 1] is larger than {name}[i]", f"{name}[i]"
    return fn("ne", after, slot), slot, f"{name}[i + 1] differs from {name}[i]", f"{name}[i]"


class _Kept:
    """What counts the kept entries: by group, by weight, or by the next digit of a radix sort."""

    def __init__(self, k: KernelBuilder, stream: _Stream) -> None:
        shape = k.draw.shape
        self.k, self.noun = k, stream.noun
        self.weights: Var | None = None
        self.shift: Var | None = None
        counts, kind = stream.counts, shape.weighted(COUNTS)
        if not stream.group:
            self.shift = k.scalar("shift digit_shift", INT32, 0, 7)
            self.counts = k.accumulator(counts, kind, "16")
            return
        k.size("groups", 3, 5)
        self.groups = k.array(stream.group, INT32, "n", init="index_of:groups")
        if stream.weight is not None and shape.chance(0.5):
            each, counts = stream.weight
            self.weights, kind = k.array(each, FLOAT32, "n", low=0.5, high=2.0), FLOAT32
        self.counts = k.accumulator(counts, kind, "groups")

    def count(self, i: Var, key: Expr) -> None:
        k = self.k
        if self.shift is not None:
            digit = (key >> cast(self.shift, UINT32)) & k.lift(15, UINT32)
            k.atomic("add", self.counts, k.let("digit", cast(digit, INT32)), 1)
            return
        group = named(k, "g group", self.groups[i], 0.5)
        k.atomic("add", self.counts, group, 1 if self.weights is None else self.weights[i])

    def said(self) -> str:
        name = self.counts.name
        if self.shift is not None:
            text = f"Count the kept by their digit (key >> {self.shift.name}) & 15 in {name}"
            return f"{text}, for the next pass of a radix sort"
        if self.weights is not None:
            return f"Sum {self.weights.name} of the kept by {self.groups.name} in {name}"
        return f"Count the kept {self.noun} by {self.groups.name} in {name}"
