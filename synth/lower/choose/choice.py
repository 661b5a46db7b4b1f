"""The schedule that is taken, and why: said, found by tuning, measured elsewhere, or modelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.lower.choose.devices import DEFAULT_DEVICE
from synth.lower.choose.request import Request, distance, read_request
from synth.lower.choose.table import Found, table
from synth.lower.op import OpSpec
from synth.lower.spec import Spec, read_spec

MOST_DOUBLINGS = 0.5
"""How far, in doublings of a size, what was found for a shape is taken for another."""


Finder = Callable[[Request, str], Sequence[Found]]
"""What is known of a request on a device, such as an index gives it."""


@dataclass(frozen=True)
class Choice:
    """A spec with its whole schedule. `by` is "said", "found", "table", "model" or "default";
    `why` says it in a sentence. `sizes` are those it was chosen for."""

    spec: Spec | OpSpec
    by: str
    why: str
    sizes: Mapping[str, int] | None

    def as_dict(self) -> dict[str, Any]:
        """The choice as JSON has it."""
        return {"by": self.by, "why": self.why, "sizes": self.sizes and dict(self.sizes)}


@dataclass(frozen=True)
class Candidate:
    """A legal spec of a request, and what the cost model says that it takes."""

    spec: OpSpec
    predicted_us: float

    @property
    def schedule(self) -> dict[str, Any]:
        """Its schedule."""
        return dict(self.spec.schedule)


def candidates(request: Request, device: str = DEFAULT_DEVICE) -> list[Candidate]:
    """All legal schedules of a request that its family tries, the cheapest by the model first, or
    the op's own default where no model knows it; without a family that default alone."""
    if isinstance(request.first, Spec):
        return []
    found: dict[str, Candidate] = {}
    own = dict(request.first.schedule)
    for schedule in [own, *(request.family.schedules(request.dtype) if request.family else [])]:
        spec = request.under(schedule)
        if isinstance(spec, OpSpec) and spec.key() not in found:
            found[spec.key()] = Candidate(spec, request.cost_us(spec, device))
    return sorted(found.values(), key=lambda one: one.predicted_us)


def choose(
    source: str | Mapping[str, Any] | Request,
    device: str = DEFAULT_DEVICE,
    finder: Finder | None = None,
) -> Choice:
    """The spec of a request with its whole schedule: the same for the same request, device and
    findings, and legal always. Raises SettingsError."""
    request = source if isinstance(source, Request) else read_request(source)
    if isinstance(request.first, Spec):
        by = "said" if request.said else "default"
        return Choice(request.first, by, "a plain schedule, its defaults filled in", request.sizes)
    if set(request.said) == set(dict(request.first.schedule)):
        return Choice(request.first, "said", "the spec has the whole schedule", request.sizes)
    for by, what, known in (
        ("found", "tuned here", finder(request, device) if finder else ()),
        ("table", "measured by the authors", table(request)),
    ):
        if (found := _nearest(request, known)) is not None:
            spec = read_spec({**request.given, "schedule": dict(found.schedule)})
            return Choice(spec, by, _why_found(request, found, what), request.chosen_for)
    return _modelled(request, device)


def _nearest(request: Request, known: Sequence[Found]) -> Found | None:
    near = [
        (distance(request.chosen_for, one.sizes), one.time_us, number)
        for number, one in enumerate(known)
        if request.agrees(one.schedule) and request.under(one.schedule) is not None
    ]
    least = min(near, default=None)
    return known[least[2]] if least is not None and least[0] <= MOST_DOUBLINGS else None


def _why_found(request: Request, found: Found, what: str) -> str:
    same = dict(found.sizes) == request.chosen_for
    at = "these sizes" if same else _shown(found.sizes)
    best = f"the best of {found.measured}" if found.measured > 1 else "the only one"
    why = f"{best} {what} on {found.device} at {at}: {found.time_us:.1f} us"
    return why + _without_shape(request)


def _modelled(request: Request, device: str) -> Choice:
    listed = candidates(request, device)
    if not listed or not request.costed:
        why = f"the op's own default: no cost model is written for {request.op}"
        return Choice(request.first, "default", why, request.sizes)
    best = listed[0]
    kept = f", {', '.join(sorted(request.said))} as said" if request.said else ""
    why = (
        f"the cheapest of {len(listed)} by the cost model for {device} at "
        f"{_shown(request.chosen_for)}: {best.predicted_us:.1f} us{kept}"
    )
    return Choice(best.spec, "model", why + _without_shape(request), request.chosen_for)


def _without_shape(request: Request) -> str:
    return "" if request.sizes is not None else "; the spec has no shape"


def _shown(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sizes.items())
