"""Datasets that the tests of `view` write and look at."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pyarrow as pa

from synth.dataset.files import write_parquet
from synth.dataset.stored import stored_rows
from validate.row.columns import ROW_SCHEMA

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"

HOSTILE = (
    "</script><script>document.title='broken out'</script><!--<script>"
    "<img src=x onerror=\"document.title='broken out'\">&amp;</textarea>\u2028]]>"
)
HOSTILE_ID = 'id"><b>&x=1#y'

MODULE = """
    import warp as wp

    @wp.func
    def twice(value: float):
        return value + value

    @wp.kernel
    def doubled(values: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        out[i] = twice(values[i])
    """


def sample_rows() -> list[dict[str, Any]]:
    return [row for _, row in stored_rows(SAMPLES)]


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    write_parquet(path, pa.Table.from_pylist(list(rows), schema=ROW_SCHEMA))


def hostile_row() -> dict[str, Any]:
    """A row without any evidence, whose texts try to break out of a page."""
    row = sample_rows()[0]
    names = ("description", "kernel_name", "category", "idiom", "reference", "cuda_backward")
    checks = {**dict.fromkeys(row["checks"]), "max_ulp": float("nan")}
    texts = {name: row[name] + HOSTILE for name in ("python", "cuda_plain", "cuda_forward")}
    named = dict.fromkeys(names, HOSTILE)
    maps = {"line_map_python": [1, 9999], "line_map_cuda": [9999, 1]}
    other = {"id": HOSTILE_ID, "checks": checks, "input_seed": 2**63 - 1}
    return {**row, **named, **texts, **maps, **other}


def write_harvested(out: Path, folder: Path) -> None:
    """The dataset of one kernel that a person wrote, without a run."""
    from synth.harvest.files import Options, harvest
    from synth.harvest.output import write_dataset

    module = folder / "doubling.py"
    module.write_text(dedent(MODULE).lstrip())
    options = Options(run=False)
    write_dataset(harvest([module], options), options, out, "MIT", 1000)


def write_gpu_run(out: Path, statuses: dict[str, str]) -> None:
    """What a GPU run leaves in `gpu/`: for each id a forward text with that status."""
    from synth.gpu.output import RUN_SCHEMA, write_run

    records = [
        {"id": row_id, "text": "forward", "status": status, "reason": "", "time_us": 4.25}
        | {"device": "A GPU", "driver": "13.0", "nvrtc": "13.0"}
        for row_id, status in statuses.items()
    ]
    write_run(out, "run", records, RUN_SCHEMA, {"devices": [{"name": "A GPU", "driver": "13.0"}]})


def unpacked(page: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The index of a page, and its rows with their prologues."""
    found = re.findall(r'octet-stream" id="([\w-]+)">([^<]*)</script>', page.read_text())
    data = {name: json.loads(zlib.decompress(base64.b64decode(text))) for name, text in found}
    index = data.pop("index")
    rows = [
        {**row, "cuda_prologue": block["prologues"][row["prologue"]]}
        for block in data.values()
        for row in block["rows"]
    ]
    return index, rows
