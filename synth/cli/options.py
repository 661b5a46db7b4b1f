"""Options that several commands have, and what is done with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(file_okay=False, path_type=Path)

quiet_option = click.option("--quiet", is_flag=True, help="No progress bar.")
report_option = click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="JSON file."
)


def require_place_of(report: Path | None) -> None:
    """:class:`SettingsError` for a report in a folder that is not there: before work is done."""
    from synth.errors import SettingsError

    if report is not None and not report.parent.is_dir():
        raise SettingsError(f"cannot write {report}: {report.parent} is no folder")


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
