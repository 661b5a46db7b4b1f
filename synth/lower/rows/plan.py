"""What an op over rows is: its sums, its elements, and how a row is shared out among threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synth.errors import SettingsError
from synth.lower.op import one_of, whole

STORED = {"float32": "float", "float64": "double", "float16": "__half"}
SUMMED = {"float32": "float", "float64": "double", "float16": "float"}
BYTES = {"float32": 4, "float64": 8, "float16": 2}
WARP = 32


@dataclass(frozen=True)
class Stat:
    """A number of a row: `join` ("sum" or "max") of `term` over its elements `x`, then `then` of
    `value`, `n` and the stats before it. Texts are C++ of floats, @f@ being the suffix of their
    literals and functions; `python` computes it of rows of float64. `kept`: the elements of a row
    that is held become their terms."""

    name: str
    join: str
    term: str
    then: str
    python: str
    kept: bool = False


@dataclass(frozen=True)
class Form:
    """An op over rows. `element` is y[row, i] of `x`, the stats and `given` (arrays of n values),
    `of_kept` the same of the terms of a stat that keeps them; empty: y[row] is the last stat.
    `relative`: what it gives may be small, and is compared by relative error alone."""

    name: str
    about: str
    stats: tuple[Stat, ...]
    element: str = ""
    of_kept: str = ""
    given: tuple[str, ...] = ()
    python: str = ""
    relative: bool = False


@dataclass(frozen=True)
class Rows:
    """A form under a schedule: `threads` share a row of `held` vectors each, of 16 bytes; longer
    rows are read again for each stat. A block takes `rows` rows: several where a warp takes one.
    `stream`: vectors are read and written as what is not needed again.
    """

    form: Form
    dtype: str
    threads: int
    held: int
    rows: int
    stream: bool = False

    @property
    def group(self) -> int:
        """Elements of a vector of 16 bytes."""
        return 16 // BYTES[self.dtype]

    @property
    def block(self) -> int:
        """Threads of a block."""
        return self.threads * self.rows


def schedule(dtype: str) -> dict[str, Any]:
    """The schedule that is taken where none is asked for."""
    return {"threads": 256, "held": 4, "rows": 1, "stream": False}


def read(form: Form, dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> Rows:
    """The plan of an op over rows. Raises SettingsError."""
    one_of("schedule.threads", said["threads"], (32, 64, 128, 256, 512, 1024))
    one_of("schedule.held", said["held"], (1, 2, 4, 8))
    whole("schedule.rows", said["rows"], 1, 32)
    if said["rows"] > 1 and said["threads"] > WARP:
        raise SettingsError("schedule.rows: several are allowed where threads is 32, a warp a row")
    return Rows(form, dtype, said["threads"], said["held"], said["rows"], said["stream"])
