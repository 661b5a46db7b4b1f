"""The settings of a run, and the fingerprint that two parts of one dataset must share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from typing import Any

from generators import categories, every_category
from generators.build.registry import LEVELS
from synth.dataset.source_digest import source_digest
from synth.errors import SettingsError
from validate.nvrtc.program import nvrtc_version
from validate.row.archs import DEFAULT_ARCH, check_archs
from validate.row.columns import SCHEMA_VERSION

STRUCTURE_CAP = 2
"""Most rows that may share one structure key."""

LEVEL_PATTERN = (1, 2, 3, 4, 5, 3, 4, 2, 5, 3, 4, 5, 5, 4, 3, 1, 5, 4, 3, 5)
"""Level of index i is entry ``i % 20`` of the pattern (of its entries among the levels asked for):
each level once in the first five, level 1 least often because it saturates first."""


@dataclass(frozen=True)
class Settings:
    """What shapes the rows. ``n``, workers and shard size are not part of it."""

    seed: int
    categories: tuple[str, ...]
    levels: tuple[int, ...]
    backward: bool
    verify: str
    archs: tuple[str, ...] = ()
    resources: bool = False
    array: bool = True
    gradient: bool = True

    def level_of(self, index: int) -> int:
        pattern = [level for level in LEVEL_PATTERN if level in self.levels]
        return pattern[index % len(pattern)]

    def as_dict(self) -> dict[str, Any]:
        """Every field by its name, as JSON has it."""
        return {n: list(v) if isinstance(v, tuple) else v for n, v in asdict(self).items()}

    @staticmethod
    def of_shape(shape: Mapping[str, Any]) -> Settings:
        """The settings that a shape was made of."""
        found: dict[str, Any] = {field.name: shape[field.name] for field in fields(Settings)}
        lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
        return Settings(**{**found, **lists})


def make_settings(
    *,
    seed: int = 0,
    categories_asked: tuple[str, ...] = (),
    levels_asked: tuple[int, ...] = (),
    backward: bool = True,
    verify: str = "compile",
    archs_asked: tuple[str, ...] = (),
    resources: bool = False,
    array: bool = True,
    gradient: bool = True,
) -> Settings:
    """Settings from what a user asked for; :class:`SettingsError` with one clear line."""
    known = tuple(every_category())
    unknown = [c for c in categories_asked if c not in known]
    if unknown:
        raise SettingsError(f"unknown category {unknown[0]!r}; known are: {', '.join(known)}")
    bad = [level for level in levels_asked if level not in LEVELS]
    if bad:
        raise SettingsError(f"level {bad[0]} does not exist; levels go from 1 to 5")
    if not 0 <= seed < 2**63:
        raise SettingsError(f"seed {seed} is out of range; give a whole number from 0 to 2**63 - 1")
    asked = categories_asked or tuple(categories())
    chosen = tuple(c for c in known if c in asked)
    levels = tuple(sorted(set(levels_asked))) or LEVELS
    archs = archs_of(verify, archs_asked)
    if resources and not archs:
        raise SettingsError("resources come from a compiler; ask for --verify compile or run")
    return Settings(seed, chosen, levels, backward, verify, archs, resources, array, gradient)


def archs_of(verify: str, asked: tuple[str, ...]) -> tuple[str, ...]:
    """The architectures to compile for at a level; :class:`SettingsError` for one unknown."""
    if verify == "text":
        if asked:
            raise SettingsError("--verify text compiles for no architecture; leave --arch out")
        return ()
    try:
        return check_archs(asked or (DEFAULT_ARCH,))
    except ValueError as error:
        raise SettingsError(str(error)) from None


@dataclass(frozen=True)
class Versions:
    """What made the rows; all of it takes part in the fingerprint.

    ``code`` is a digest of the four packages' sources, for checkouts whose version stands still.
    """

    pairsmith: str
    code: str
    warp: str
    numpy: str
    pyarrow: str
    schema: int
    nvrtc: str | None

    @staticmethod
    def installed(verify: str = "text") -> Versions:
        """What is installed; NVRTC only where the level needs it.

        :class:`validate.errors.CompileUnavailable` when it is needed and missing.
        """
        return Versions(
            pairsmith=version("pairsmith"),
            code=source_digest(),
            warp=version("warp-lang"),
            numpy=version("numpy"),
            pyarrow=version("pyarrow"),
            schema=SCHEMA_VERSION,
            nvrtc=None if verify == "text" else nvrtc_version(),
        )


def shape_of(settings: Settings, versions: Versions) -> dict[str, Any]:
    """Everything that the bytes of a row depend on, flat and printable."""
    found = {**settings.as_dict(), "structure_cap": STRUCTURE_CAP}
    found.update({f"{name} version": value for name, value in asdict(versions).items()})
    return found


def fingerprint(shape: Mapping[str, Any]) -> str:
    """First 16 hex digits of the sha256 of the shape's canonical JSON."""
    text = json.dumps(shape, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """One phrase for each entry in which two shapes differ."""
    return [
        f"{name} is {theirs.get(name)!r} there and {ours.get(name)!r} here"
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name)
    ]
