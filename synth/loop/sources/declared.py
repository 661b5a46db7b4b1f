"""What a file of one's own declares beside its functions: constants in capitals, of literals.

`SIZES` is needed. No code of the file is executed to read them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from validate.row.sizes import symbols

NAMES = ("SIZES", "SHAPES", "RANGES", "OUTPUTS", "TOLERANCES", "DIM")
_MOST_SIZE = 1 << 16


@dataclass(frozen=True)
class Declared:
    """``sizes`` by symbol. ``shapes``, ``outputs`` and ``dim`` are of Warp kernels, whose
    annotations do not tell them. ``ranges`` are bounds of values, or the size that whole numbers
    index; ``tolerances`` are rtol and atol by output."""

    sizes: Mapping[str, int]
    shapes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    dim: tuple[str, ...] = ()

    def columns(self) -> list[dict[str, Any]]:
        """The sizes as a row has them."""
        return [
            {"symbol": symbol, "value": value, "min": 1, "multiple_of": 1}
            for symbol, value in self.sizes.items()
        ]

    def drawn(self, name: str, dtype: str) -> dict[str, Any]:
        """How the values of an input are drawn. Raises SettingsError."""
        given = self.ranges.get(name)
        if isinstance(given, str):
            if given not in self.sizes:
                raise SettingsError(f"RANGES: {name} indexes {given}, which SIZES does not have")
            return {"init": f"index_of:{given}", "low": None, "high": None}
        if given is None:
            given = (-1, 1) if dtype.startswith("float") else (0, 1 if dtype == "bool" else 100)
        low, high = given
        init = "uniform" if dtype.startswith("float") or dtype == "bool" else "integers"
        return {"init": init, "low": str(low), "high": str(high)}

    def tolerance(self, name: str) -> dict[str, float | None]:
        """rtol and atol of an output; none where they are to be found out."""
        rtol, atol = self.tolerances.get(name, (None, None))
        return {"rtol": rtol, "atol": atol}

    def require(self, known: Sequence[str]) -> None:
        """SettingsError where it speaks of arguments that there are not, or of unknown sizes."""
        for what, names in (
            ("SHAPES", self.shapes),
            ("RANGES", self.ranges),
            ("OUTPUTS", self.outputs),
            ("TOLERANCES", self.tolerances),
        ):
            if unknown := [name for name in names if name not in known]:
                raise SettingsError(f"{what}: there is no argument {unknown[0]!r}")
        for extent in (*self.dim, *(e for shape in self.shapes.values() for e in shape)):
            self.require_extent(extent)

    def require_extent(self, extent: str) -> None:
        """SettingsError for what is no formula of the sizes, such as ``n``, ``2*n`` or ``n+1``."""
        try:
            unknown = symbols(extent) - set(self.sizes)
        except ValueError as error:
            raise SettingsError(str(error)) from None
        if unknown:
            raise SettingsError(f"the size {min(unknown)!r} is not in SIZES")


def read_source(path: Path) -> tuple[str, ast.Module]:
    """The text of a Python file and its tree. Raises SettingsError."""
    try:
        text = path.read_text(encoding="utf-8")
        return text, ast.parse(text)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    except SyntaxError as error:
        raise SettingsError(f"{path}, line {error.lineno}: {error.msg}") from None


def read_declared(path: Path, tree: ast.Module, sizes: Mapping[str, int]) -> Declared:
    """What a file declares, with ``sizes`` in place of its own. Raises SettingsError."""
    found: dict[str, Any] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        if name in NAMES:
            try:
                found[name] = ast.literal_eval(node.value)
            except ValueError:
                raise SettingsError(f"{path}, line {node.lineno}: {name} is no literal") from None
    try:
        declared = _declared(found, sizes)
    except (TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"{path}: what it declares cannot be read: {error}") from None
    if not declared.sizes:
        raise SettingsError(f'{path} has no SIZES: write, for instance, SIZES = {{"n": 64}}')
    for symbol, value in declared.sizes.items():
        if type(value) is not int or not 1 <= value <= _MOST_SIZE:
            raise SettingsError(f"{path}: the size {symbol} is {value!r}, no number up to 65536")
    return declared


def _declared(found: Mapping[str, Any], sizes: Mapping[str, int]) -> Declared:
    own = dict(found.get("SIZES", {}))
    if unknown := [name for name in sizes if name not in own]:
        raise SettingsError(f"--size {unknown[0]}: SIZES has {', '.join(own) or 'none'}")
    ranges = {
        name: given if isinstance(given, str) else _pair(name, given)
        for name, given in dict(found.get("RANGES", {})).items()
    }
    given = dict(found.get("TOLERANCES", {})).items()
    return Declared(
        {**own, **sizes},
        {name: _texts(shape) for name, shape in dict(found.get("SHAPES", {})).items()},
        ranges,
        _texts(found.get("OUTPUTS", ())),
        {name: (float(pair[0]), float(pair[1])) for name, pair in given if _pair(name, pair)},
        _texts(found.get("DIM", ())),
    )


def _texts(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _pair(name: str, given: Any) -> tuple[float, float]:
    low, high = given
    if not low <= high:
        raise ValueError(f"{name}: {low} is more than {high}")
    return low, high
