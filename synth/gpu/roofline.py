"""The roofline picture of a benchmark; needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from synth.dataset.files import write_whole

mpl.use("Agg")
from matplotlib import pyplot as plt

_FACES = {"warp": "none", "plain": None}


def draw(path: Path, records: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> None:
    """Rate over intensity of every row at its largest size: hollow Warp's text, full plain CUDA.

    The roofs are the copy bandwidth and the rates of multiply-adds that were measured in the run.
    """
    largest = max(record["elements"] for record in records)
    points = [r for r in records if r["elements"] == largest and r["operations"] > 0]
    figure, axes = plt.subplots(figsize=(9, 6), dpi=130, layout="constrained")
    intensity = np.geomspace(0.02, 200.0, 200)
    bandwidth = about["peaks"]["copy_bytes_per_s"]
    for scalar, style in (("float32", "-"), ("float64", "--")):
        peak = about["peaks"]["operations_per_s"][scalar]
        roof = np.minimum(intensity * bandwidth, peak) / 1e9
        axes.plot(intensity, roof, style, color="0.25", lw=1.5, label=f"roof, {scalar}")
    colours = plt.get_cmap("tab10").colors  # type: ignore[attr-defined]
    categories = sorted({record["category"] for record in points})
    for contender, face in _FACES.items():
        for colour, category in zip(colours, categories, strict=False):
            here = [p for p in points if (p["category"], p["contender"]) == (category, contender)]
            axes.scatter(
                [p["operations"] / p["bytes_moved"] for p in here],
                [p["gflop_per_s"] for p in here],
                s=34,
                facecolors=face if face else [colour],
                edgecolors=[colour],
                label=f"{category}, {contender}",
                alpha=0.85,
            )
    axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="GFLOP/s")
    axes.set_title(
        f"{about['devices'][0]['name']}, {largest:,} elements, copy {bandwidth / 1e12:.2f} TB/s"
    )
    axes.grid(visible=True, which="both", lw=0.3, alpha=0.6)
    axes.legend(fontsize=7, ncols=2, loc="lower right")
    write_whole(path, lambda temporary: figure.savefig(temporary, format="png"))
    plt.close(figure)
