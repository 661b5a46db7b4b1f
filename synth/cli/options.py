"""Options that several commands have, and what is done with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(file_okay=False, path_type=Path)

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
