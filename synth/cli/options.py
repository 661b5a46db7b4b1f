"""Options that several commands have, and what is done with them."""

from __future__ import annotations

import os
import sys
from math import isfinite
from pathlib import Path
from typing import Any

import click

from synth.run.limits import MOST_WORKERS

FOLDER = click.Path(file_okay=False, path_type=Path)
WORKERS = click.IntRange(1, MOST_WORKERS)
COUNT = click.IntRange(1, sys.maxsize)


class Finite(click.FloatRange):
    """A number of a range, and neither infinite nor none at all, which compare with no bound."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found: float = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is no finite number.", param, ctx)
        return found


SECONDS = Finite(min=0, min_open=True)


class CommandOrDefault(click.Group):
    """A group whose first word, where it is none of its commands and no cry for help, begins what
    the command ``default`` is given."""

    def __init__(self, *args: Any, default: str = "run", **named: Any) -> None:
        super().__init__(*args, **named)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in self.get_help_option_names(ctx):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = [self.default, *args]
        return super().resolve_command(ctx, args)


quiet_option = click.option("--quiet", is_flag=True, help="No progress bar.")
report_option = click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="JSON file."
)


def require_place_of(report: Path | None) -> None:
    """:class:`SettingsError` for a report that cannot be written there: before work is done."""
    from synth.errors import SettingsError

    if report is None:
        return
    if not report.parent.is_dir():
        raise SettingsError(f"cannot write {report}: {report.parent} is no folder")
    try:
        try_place(report)
    except OSError as error:
        raise SettingsError(f"cannot write {report}: {error.strerror}") from None


def try_place(path: Path) -> None:
    """OSError where a file cannot be written, because of its folder or its name."""
    probe = path.parent / f".{path.name}.{os.getpid()}.probe.tmp"
    probe.touch()
    probe.unlink()


def write_report(report: Path | None, found: dict[str, Any]) -> None:
    """Write what was found as JSON, where a report was asked for. :class:`SettingsError`."""
    from synth.dataset.files import write_json
    from synth.errors import SettingsError

    if report is None:
        return
    try:
        write_json(report, found)
    except OSError as error:
        raise SettingsError(f"cannot write {report}: {error.strerror}") from None
