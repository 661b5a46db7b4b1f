"""What an op of `pairsmith lower` is: a spec, a text, a launch, and what the text must compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.errors import SettingsError

MOST_WORK = 1 << 22
"""Most steps of a run on the host: more take a minute."""

COMMON_FIELDS = ("op", "dtype", "schedule", "shape")
"""Fields of every op's spec; `shape` is a hint for the choice of a schedule, and no part of it."""

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Lowered:
    """A self-contained CUDA C++ text, and how it is launched.

    `args`, `launch` and `scratch` are as `plain_args`, `plain_launch` and `plain_scratch` of a row
    (`notes/formats/row.md`): parameters in order, each an array (`size` null) or a whole number;
    formulas of the op's sizes. `archs`: those that alone can have it, as sm_90a; none: all.
    """

    kernel_name: str
    text: str
    args: list[dict[str, str | None]]
    launch: Any
    scratch: list[dict[str, str]]
    archs: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Operand:
    """An array of an op: its dtype as a row has it, and its shape as formulas of size symbols.

    Elements are uniform from `low` to `high`, whole numbers of int8 in its range, and of bfloat16,
    whose bits are a uint16, whole numbers from -4 to 4, so that sums are exact. `out`: it is made,
    as the last of an op always is.
    """

    name: str
    dtype: str
    shape: tuple[str, ...]
    bfloat16: bool = False
    low: int = -1
    high: int = 1
    out: bool = False


@dataclass(frozen=True)
class Op:
    """One op. `sizes` are its symbols, in the order in which --shape takes them.

    `fields` and `schedule` are defaults by name; what is allowed is `read`'s to say: it makes of
    both the plan that all else is given. `reference` is plain Python over float64; `tolerance`
    gives rtol and atol of the output at sizes, `work` the steps of a run on the
    host, 0 where there is nothing to compute. `trials` are
    specs, without their op, that the audit tries. `archs` are those that a plan alone can be made
    for; none: all.
    """

    name: str
    sizes: tuple[str, ...]
    dtypes: tuple[str, ...]
    fields: Mapping[str, Any]
    schedule: Callable[[str], Mapping[str, Any]]
    read: Callable[[str, Mapping[str, Any], Mapping[str, Any]], Any]
    shared_bytes: Callable[[Any], int]
    lower: Callable[[Any], Lowered]
    operands: Callable[[Any], list[Operand]]
    reference: Callable[[Any], str]
    tolerance: Callable[[Any, Sizes], tuple[float, float]]
    shapes: Callable[[Any], list[tuple[int, ...]]]
    work: Callable[[Any, Sizes], int]
    trials: Callable[[], Iterable[dict[str, Any]]] = tuple
    archs: Callable[[Any], tuple[str, ...]] = lambda plan: ()


@dataclass(frozen=True)
class OpSpec:
    """One thing to lower; `key()` names it. Made by `read_op`, which checks it."""

    kind: Op
    dtype: str
    fields: tuple[tuple[str, Any], ...]
    schedule: tuple[tuple[str, Any], ...]
    plan: Any

    @property
    def op(self) -> str:
        """The op's name."""
        return self.kind.name

    @property
    def sizes(self) -> tuple[str, ...]:
        """Size symbols, in the order of a shape."""
        return self.kind.sizes

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block."""
        return self.kind.shared_bytes(self.plan)

    @property
    def archs(self) -> tuple[str, ...]:
        """Architectures that alone can have its text; none: all."""
        return self.kind.archs(self.plan)

    def as_dict(self) -> dict[str, Any]:
        """The spec as JSON has it, with every field."""
        return {
            "op": self.op,
            "dtype": self.dtype,
            **dict(self.fields),
            "schedule": dict(self.schedule),
        }

    def canonical(self) -> str:
        """JSON of the spec with all fields, sorted, without white space."""
        return json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))

    def key(self) -> str:
        """sha256 of `canonical()`, as hexadecimal digits."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def fits_host(self, shape: Sequence[int]) -> bool:
        """Whether a shape is small enough for a run on the host."""
        sizes = dict(zip(self.sizes, shape, strict=True))
        return min(shape) >= 1 and 0 < self.kind.work(self.plan, sizes) <= MOST_WORK


def read_op(op: Op, given: Mapping[str, Any]) -> OpSpec:
    """The spec of JSON's object, with defaults filled in. Raises SettingsError in one line."""
    dtype = given.get("dtype", op.dtypes[0])
    if dtype not in op.dtypes:
        raise refused("dtype", dtype, ", ".join(op.dtypes))
    known = (*COMMON_FIELDS, *op.fields)
    fields = {**op.fields, **_known(given, known, "", COMMON_FIELDS)}
    schedule = given.get("schedule", {})
    defaults = op.schedule(dtype)
    if not isinstance(schedule, Mapping):
        raise refused("schedule", schedule, f"an object with {', '.join(defaults)}")
    schedule = {**defaults, **_known(schedule, tuple(defaults), "schedule.", ())}
    known_values = {**op.fields, **defaults}
    for name, value in [*fields.items(), *schedule.items()]:
        default = known_values[name]
        if type(value) is not type(default) and (type(value), type(default)) != (int, float):
            where = name if name in fields else f"schedule.{name}"
            what = "true and false" if isinstance(default, bool) else f"such as {default!r}"
            raise refused(where, value, what)
    fields = {n: float(v) if type(op.fields[n]) is float else v for n, v in fields.items()}
    plan = op.read(dtype, fields, schedule)
    return OpSpec(op, dtype, tuple(fields.items()), tuple(schedule.items()), plan)


def _known(
    given: Mapping[str, Any], known: Sequence[str], prefix: str, without: Sequence[str]
) -> dict[str, Any]:
    for name in given:
        if name not in known:
            shown = name if str(name).isidentifier() else json.dumps(name, default=str)
            listed = ", ".join(known)
            raise SettingsError(f"{prefix}{shown[:40]}: unknown field; allowed are {listed}")
    return {name: value for name, value in given.items() if name not in without}


def refused(field: str, value: Any, allowed: str) -> SettingsError:
    """What a field cannot be, in one line."""
    shown = json.dumps(value, default=str)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return SettingsError(f"{field}: {shown} is not allowed; allowed are {allowed}")


def one_of(field: str, value: Any, allowed: Sequence[Any]) -> Any:
    """The value. Raises SettingsError when it is none of those allowed."""
    if value not in allowed:
        raise refused(field, value, ", ".join(map(str, allowed)))
    return value


def whole(field: str, value: int, least: int, most: int) -> int:
    """The value. Raises SettingsError when it is not between two numbers."""
    if not least <= value <= most:
        raise refused(field, value, f"whole numbers from {least} to {most}")
    return value
