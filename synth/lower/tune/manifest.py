"""What is told of each candidate: what it is, what came of it, and why it was chosen or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from synth.errors import SettingsError
from synth.lower.spec import canonical_json
from synth.lower.tune.measured import Measured, Measurement, best_of

Group = list[Measurement]


def groups_of(measured: Measured, **wanted: str) -> list[Group]:
    """Measurements that are compared with each other: of one problem, at the same sizes, on the
    same device."""
    found: dict[tuple[str, str, str], Group] = {}
    for one in measured.of(**wanted):
        place = (one.problem, canonical_json(one.sizes), one.device)
        found.setdefault(place, []).append(one)
    return list(found.values())


def manifests(group: Sequence[Measurement]) -> list[dict[str, Any]]:
    """A manifest for each measurement of a group, the quickest first."""
    best = best_of(group)
    listed = [{**_facts(one), **_verdict(one, group, best)} for one in group]
    return sorted(listed, key=lambda one: (one["time_us"] is None, one["time_us"], one["id"]))


def matching(measured: Measured, key: str) -> list[dict[str, Any]]:
    """Manifests of candidates whose key, whose problem's key or whose own id begins with `key`.

    Raises SettingsError where there is none.
    """
    found = [
        one
        for group in groups_of(measured)
        for one in manifests(group)
        if any(one[name].startswith(key) for name in ("key", "problem", "id"))
    ]
    if not found or not key:
        raise SettingsError(f"nothing was measured of {key!r}; `pairsmith lower list` has the keys")
    return found


def _facts(one: Measurement) -> dict[str, Any]:
    spec = dict(one.spec)
    facts = asdict(one)
    schedule = spec.pop("schedule")
    return {
        "id": facts.pop("id"),
        "key": facts.pop("key"),
        "problem": facts.pop("problem"),
        "spec": spec,
        "schedule": schedule,
        **{name: value for name, value in facts.items() if name != "spec"},
    }


def _verdict(
    one: Measurement, group: Sequence[Measurement], best: Measurement | None
) -> dict[str, Any]:
    """Whether it is the one that `lower` takes, and why."""
    if best is not None and one.id == best.id:
        return {"chosen": True, "why": _why_chosen(one, group)}
    if any(other.key == one.key and other.measured_at > one.measured_at for other in group):
        return {"chosen": False, "why": "dropped: it was measured again since"}
    if one.time_us is None or best is None or best.time_us is None:
        reason = f": {one.reason}" if one.reason else ""
        return {"chosen": False, "why": f"dropped: {one.verdict}{reason}"}
    longer = one.time_us / best.time_us
    why = f"dropped: it takes {longer:.3f} times the {best.time_us:.1f} us of {best.key[:16]}"
    return {"chosen": False, "why": why}


def _why_chosen(one: Measurement, group: Sequence[Measurement]) -> str:
    others = [o for o in group if o.key != one.key and o.time_us is not None]
    count = len({o.key for o in group})
    if not others or one.time_us is None:
        return f"chosen: the only one of {count} that passed"
    second = min(o.time_us for o in others if o.time_us is not None)
    return (
        f"chosen: the quickest of {count}; the next takes {second / one.time_us:.3f} times as long"
    )
