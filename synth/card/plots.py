"""Pictures of what a dataset consists of; they need matplotlib."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from synth.card.distributions import TEXTS, Distributions, distributions
from synth.dataset.files import write_whole
from synth.dataset.stored import shard_paths
from synth.errors import SettingsError

mpl.use("Agg")
from matplotlib import pyplot as plt

_CELLS_ACROSS = 12
_LONGEST = 99.0
_DARK_PERCENT = 4.0
_CELL_LETTERS = 15


def draw_all(out: Path, folder: Path, draws: Mapping[str, Any] | None) -> list[Path]:
    """Write PNGs of the dataset at ``out`` into ``folder``; gives their paths.

    ``draws`` is that of the manifest, if there is one. Raises SettingsError when the folder cannot
    be written.
    """
    seen = distributions(shard_paths(out))
    pictures = {
        "categories": _categories(seen),
        "lengths": _lengths(seen),
        "dtypes": _bars(seen.dtypes, "rows with an argument of this dtype"),
        "builtins": _heat_map(seen.ops, seen.rows),
    }
    if draws and draws["rejects_by_reason"]:
        reasons = Counter(draws["rejects_by_reason"])
        title = f"why {reasons.total():,} of {draws['draws']:,} draws were not taken"
        pictures["rejects"] = _bars(reasons, title)
    return [_written(folder / f"{name}.png", figure) for name, figure in pictures.items()]


def _written(path: Path, figure: Any) -> Path:
    try:
        write_whole(path, lambda temporary: figure.savefig(temporary, format="png"))
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from None
    finally:
        plt.close(figure)
    return path


def _figure(width: float, height: float) -> tuple[Any, Any]:
    return plt.subplots(figsize=(width, height), dpi=130, layout="constrained")


def _categories(seen: Distributions) -> Any:
    counts = seen.cells
    categories = sorted({category for category, _ in counts})
    levels = sorted({level for _, level in counts}, key=lambda level: level or 0)
    shades = plt.get_cmap("viridis")(np.linspace(0.15, 0.9, len(levels)))
    figure, axes = _figure(8, 0.6 * len(categories) + 1.6)
    left = np.zeros(len(categories))
    for shade, level in zip(shades, levels, strict=True):
        widths = np.array([counts[category, level] for category in categories])
        label = "no level" if level is None else f"level {level}"
        axes.barh(categories, widths, left=left, color=shade, label=label)
        left += widths
    axes.invert_yaxis()
    axes.set(title=f"{seen.rows:,} rows by category and level", xlabel="rows")
    axes.legend(fontsize=8, ncols=len(levels), loc="upper center", bbox_to_anchor=(0.5, -0.12))
    return figure


def _lengths(seen: Distributions) -> Any:
    lines = {TEXTS[name]: counts for name, counts in seen.lines.items()}
    most = max(np.percentile(counts, _LONGEST) for counts in lines.values())
    figure, axes = _figure(8, 4)
    for name, counts in lines.items():
        label = f"{name}: median {np.median(counts):.0f}"
        axes.hist(counts, bins=np.linspace(0, most, 60), histtype="step", lw=1.6, label=label)
    axes.set(title="lines a text", xlabel="lines", ylabel="rows")
    axes.legend(fontsize=9)
    return figure


def _bars(counts: Counter[str], title: str) -> Any:
    names = [name for name, _ in counts.most_common(40)]
    figure, axes = _figure(8, 0.22 * len(names) + 1.2)
    bars = axes.barh(names, [counts[name] for name in names], color="tab:blue")
    axes.bar_label(bars, fmt="{:,.0f}", fontsize=7, padding=2)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=8)
    axes.margins(x=0.1, y=0.01)
    axes.set_title(title)
    return figure


def _heat_map(counts: Counter[str], rows: int) -> Any:
    """A cell for each op and builtin, its colour by how many rows have it."""
    names = [name for name, _ in counts.most_common()]
    deep = -(-len(names) // _CELLS_ACROSS)
    shares = np.full(deep * _CELLS_ACROSS, np.nan)
    shares[: len(names)] = [100 * counts[name] / rows for name in names]
    figure, axes = _figure(13, 0.36 * deep + 1.0)
    image = axes.imshow(
        shares.reshape(deep, _CELLS_ACROSS),
        norm=mpl.colors.LogNorm(vmin=max(np.nanmin(shares), 0.01), vmax=100.0),
        cmap="YlGnBu",
        aspect="auto",
    )
    for place, name in enumerate(names):
        down, across = divmod(place, _CELLS_ACROSS)
        shade = "white" if shares[place] > _DARK_PERCENT else "black"
        word = axes.text(
            across, down, _in_lines(name), ha="center", va="center", fontsize=6.5, color=shade
        )
        # It fits its cell: to measure hundreds takes most of the time of the layout.
        word.set_in_layout(False)
    axes.set_axis_off()
    axes.set_title(f"{len(names)} operators and builtins, by the share of rows that have them")
    figure.colorbar(image, ax=axes, label="% of rows", shrink=0.8, format="{x:g}")
    return figure


def _in_lines(name: str) -> str:
    """A name that fits a cell, broken at the underscore nearest to its middle."""
    breaks = [at for at, letter in enumerate(name) if letter == "_"]
    if len(name) <= _CELL_LETTERS or not breaks:
        return name
    at = min(breaks, key=lambda place: abs(place - len(name) / 2))
    return f"{name[: at + 1]}\n{name[at + 1 :]}"
