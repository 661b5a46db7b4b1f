"""What GPU runs of a dataset have shown, read from `gpu/` beside its shards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.card.lowered import lowered_part
from synth.card.tunings import tuning_table, tunings
from synth.card.yaml import configs_of, with_configs
from synth.dataset.files import write_text
from synth.dataset.manifest import Manifest, read_manifest
from synth.dataset.names import GPU
from synth.dataset.views_index import views_of
from synth.errors import SettingsError
from validate.gpu.result import TEXTS

BEGIN, END = "<!-- gpu runs -->", "<!-- end of gpu runs -->"


def gpu_runs(out: Path) -> list[dict[str, Any]]:
    """One entry for each device: its name, versions, rows, and texts by status.

    Raises SettingsError for a file that cannot be read.
    """
    found = []
    for path in sorted((out / GPU).glob("run-*.parquet")):
        try:
            table = pq.read_table(path, columns=["id", "text", "status", "driver", "nvrtc"])
            about = json.loads(table.schema.metadata[b"pairsmith"])
        except (pa.ArrowInvalid, OSError, KeyError, TypeError, ValueError) as error:
            raise SettingsError(f"{path} cannot be read: {error}; delete it") from None
        texts = Counter(zip(*(table[name].to_pylist() for name in ("text", "status")), strict=True))
        found.append(
            {
                "device": about["devices"][0]["name"],
                "devices": len(about["devices"]),
                "driver": about["devices"][0]["driver"],
                "nvrtc": table["nvrtc"][0].as_py() if table.num_rows else None,
                "rows": len(set(table["id"].to_pylist())),
                "texts": {f"{text}/{status}": n for (text, status), n in sorted(texts.items())},
            }
        )
    return found


def card_section(out: Path, manifest: Manifest | None = None) -> str:
    """The part of the card on GPU runs, tunings and machine code, between its marks; of a dataset
    whose manifest is not written yet, that one."""
    runs, tuned = gpu_runs(out), tunings(out)
    parts = [_run_part(runs)] if runs else []
    if tuned:
        parts.append(
            "Schedules of rows timed side by side on GPUs, in the middle of what each row is for "
            "(configuration `schedules`: texts and times; `warp_time_us` is Warp's text):\n\n"
            + tuning_table(tuned)
        )
    parts = parts or ["Nothing of this dataset was run on a GPU."]
    text = "\n\n".join(part for part in (*parts, lowered_part(out, manifest)) if part)
    return f"{BEGIN}\n{text}\n{END}"


def _run_part(runs: Sequence[dict[str, Any]]) -> str:
    lines = ["| device | rows | " + " | ".join(f"{text} passed" for text in TEXTS) + " |"]
    lines.append("|---|--:|" + "--:|" * len(TEXTS))
    for run in runs:
        cells = (_share(run["texts"], text) for text in TEXTS)
        many = f"{run['devices']} of " if run["devices"] > 1 else ""
        where = f"{many}{run['device']}, driver for CUDA {run['driver']}, NVRTC {run['nvrtc']}"
        lines.append(f"| {where} | {run['rows']} | {' | '.join(cells)} |")
    table = "\n".join(lines)
    return (
        "Run on GPUs from the stored texts, at the three shapes and at a large one, with "
        f"guards around every buffer (`gpu/` has the verdict on each text):\n\n{table}"
    )


def update_card(out: Path) -> bool:
    """Put what `gpu/`, `schedules/` and `lowered/` have into the card; False when the folder's card
    has no place for the tables, as that of harvested rows: there only its configurations follow."""
    path = out / "README.md"
    text = path.read_text("utf-8") if path.is_file() else ""
    start, end = text.find(BEGIN), text.find(END)
    has_place = 0 <= start < end
    if has_place:
        text = text[:start] + card_section(out) + text[end + len(END) :]
    manifest = read_manifest(out)
    if text and manifest is not None:
        text = with_configs(text, configs_of(out, manifest, views_of(out, manifest)))
    if text:
        write_text(path, text)
    return has_place


def _share(texts: dict[str, int], text: str) -> str:
    every = sum(n for name, n in texts.items() if name.startswith(f"{text}/"))
    return f"{texts.get(f'{text}/passed', 0)} of {every}"
