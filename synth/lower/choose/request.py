"""What is asked for: an op, its fields, what of a schedule is said, and the sizes it is for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd, log2
from typing import Any

from synth.errors import SettingsError
from synth.lower.choose.devices import figures_of
from synth.lower.choose.families import Family, family_of
from synth.lower.op import OpSpec, refused
from synth.lower.spec import Spec, canonical_json, parsed, read_spec
from validate.row.archs import DEFAULT_ARCH

MOST_SIZE = 1 << 24
# Where a size is a multiple of as many elements, every row of it starts aligned.
_ALIGNED = 16


@dataclass(frozen=True)
class Request:
    """An op with what is said of its schedule.

    `sizes` is the spec's shape, by symbol; None where it has none. `first` is the spec under the
    op's own defaults, or as it is said where that is a plain one. `archs`: what its text must be
    made for.
    """

    given: Mapping[str, Any]
    said: Mapping[str, Any]
    first: Spec | OpSpec
    sizes: Mapping[str, int] | None
    family: Family | None = field(compare=False)
    archs: tuple[str, ...] = (DEFAULT_ARCH,)

    @property
    def op(self) -> str:
        """The op's name."""
        return self.first.op

    @property
    def dtype(self) -> str:
        """Its type."""
        return self.first.dtype

    @cached_property
    def problem(self) -> Mapping[str, Any]:
        """The spec without its schedule: what all schedules have in common."""
        return {name: value for name, value in self.first.as_dict().items() if name != "schedule"}

    @cached_property
    def key(self) -> str:
        """sha256 of `problem`."""
        return hashlib.sha256(canonical_json(self.problem).encode()).hexdigest()

    @property
    def chosen_for(self) -> dict[str, int]:
        """The sizes that a schedule is chosen for: those of the shape, else of the family."""
        if self.sizes is not None:
            return dict(self.sizes)
        nominal = self.family.nominal if self.family else 1024
        return {name: 1 if name == "batch" else nominal for name in self.first.sizes}

    @property
    def costed(self) -> bool:
        """Whether a cost model knows the op: its family's, over the sizes that it has."""
        return self.family is not None and set(self.family.sizes) <= set(self.first.sizes)

    def cost_us(self, spec: OpSpec, device: str) -> float:
        """What the model says of one of its specs; 0 where none knows the op."""
        if self.family is None or not self.costed:
            return 0.0
        return self.family.cost_us(spec.plan, self.chosen_for, figures_of(device))

    def under(self, schedule: Mapping[str, Any]) -> Spec | OpSpec | None:
        """The spec under a schedule, what is said of it kept; None where that cannot be."""
        try:
            spec = read_spec({**self.given, "schedule": {**schedule, **self.said}})
        except SettingsError:
            return None
        return spec if suits(spec, self.archs) else None

    def agrees(self, schedule: Mapping[str, Any]) -> bool:
        """Whether a schedule is one that is asked for."""
        return all(name in schedule and schedule[name] == v for name, v in self.said.items())


def suits(spec: Spec | OpSpec, archs: Sequence[str]) -> bool:
    """Whether a spec's text can be made for all of these architectures."""
    return not spec.archs or set(archs) <= set(spec.archs)


def read_request(source: str | Mapping[str, Any], archs: Sequence[str] = ()) -> Request:
    """What a spec asks for; its `shape` is an object by size symbols, or a list in their order.
    `archs`: what its text must be made for, none: whatever is said of its schedule can be, else
    the default.

    Raises SettingsError, one line that names the field and what is allowed.
    """
    given = dict(parsed(source) if isinstance(source, str) else source)
    shape = given.pop("shape", None)
    said = given.get("schedule", {})
    first = _first(given)
    sizes = None if shape is None else _sizes(shape, first.sizes)
    if isinstance(first, Spec):
        return Request(given, said, first, sizes, None)
    wanted = tuple(archs) or first.archs or (DEFAULT_ARCH,)
    if not suits(first, wanted):
        line = f"--arch: {', '.join(wanted)} cannot have {first.op} under this schedule"
        raise SettingsError(f"{line}; allowed are {', '.join(first.archs)}")
    return Request(given, dict(said), first, sizes, family_of(first.plan), wanted)


def _first(given: Mapping[str, Any]) -> Spec | OpSpec:
    """The spec as it is said; what says parts of a schedule may be legal under others alone."""
    try:
        return read_spec(given)
    except SettingsError:
        said = given.get("schedule")
        if not isinstance(said, Mapping) or not said:
            raise
        whole = read_spec({name: value for name, value in given.items() if name != "schedule"})
        if not isinstance(whole, OpSpec) or set(said) - set(dict(whole.schedule)):
            raise
        family = family_of(whole.plan)
        for schedule in family.schedules(whole.dtype) if family else []:
            try:
                return read_spec({**given, "schedule": {**schedule, **said}})
            except SettingsError:
                continue
        raise


def _sizes(shape: Any, symbols: Sequence[str]) -> dict[str, int]:
    if isinstance(shape, list) and len(shape) <= len(symbols):
        shape = dict(zip(symbols, shape, strict=False))
    if isinstance(shape, Mapping) and "batch" in symbols:
        shape = {**shape, "batch": shape.get("batch", 1)}
    if not isinstance(shape, Mapping) or set(shape) != set(symbols):
        raise refused("shape", shape, f"an object or a list of {', '.join(symbols)}")
    for name, value in shape.items():
        if type(value) is not int or not 1 <= value <= MOST_SIZE:
            raise refused(f"shape.{name}", value, f"whole numbers from 1 to {MOST_SIZE}")
    return {name: shape[name] for name in symbols}


def shape_class(sizes: Mapping[str, int]) -> str:
    """Shapes that are scheduled alike: each size's nearest power of two, and whether rows start
    aligned."""
    parts = [f"{name}{1 << round(log2(value))}" for name, value in sizes.items()]
    return "-".join([*parts, *(["ragged"] if ragged(sizes) else [])])


def ragged(sizes: Mapping[str, int]) -> bool:
    """Whether some row may start where no vector of 16 bytes may."""
    return any(gcd(value, _ALIGNED) != _ALIGNED for name, value in sizes.items() if name != "batch")


def distance(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Doublings between two shapes, the largest of all sizes; infinite where only one is ragged."""
    if set(one) != set(other) or ragged(one) != ragged(other):
        return float("inf")
    return max(abs(log2(value / other[name])) for name, value in one.items())


def neighbours(request: Request, schedule: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Legal schedules that differ from one in one field, or in a field and what it must go with."""
    values = _values(request, schedule)
    for name, options in values.items():
        for value in options:
            if value == schedule[name] or name in request.said:
                continue
            changed = {**schedule, name: value}
            if request.under(changed) is not None:
                yield changed


def _values(request: Request, schedule: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What each field has among the schedules that are tried, and half and twice of a number."""
    tried = request.family.schedules(request.dtype) if request.family else []
    found: dict[str, list[Any]] = {}
    for name, own in schedule.items():
        listed = list(dict.fromkeys(one[name] for one in tried if name in one))
        if type(own) is int:
            listed = sorted({*listed, own // 2, own * 2} - {0 if own else -1})
        found[name] = listed
    return found
