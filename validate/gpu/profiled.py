"""What runs under Nsight Compute: `python -m validate.gpu.profiled ROWS INCLUDE ELEMENTS LIST`.

ROWS has a row of a dataset as JSON on each line. Each text of each row is launched once to warm up
and once between `cudaProfilerStart` and `cudaProfilerStop`, at sizes of the row's regime at which a
launch has about ELEMENTS threads. LIST gets a line of JSON for each profiled launch, in order, and
one for each text that could not be launched.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, TextIO

from validate.gpu.cubins import CubinStore
from validate.gpu.device import devices, load_cupy
from validate.gpu.large import sizes_in_use
from validate.gpu.launch import load_kernel
from validate.gpu.result import TextResult, told
from validate.gpu.text import Prepared, Text, WarpText, plain_text_of, shape_of
from validate.row.sizes import describe
from validate.statuses import GpuStatus

Row = Mapping[str, Any]

PLAIN, WARP = "plain", "warp"


def texts_of(row: Row, store: CubinStore) -> Iterator[tuple[str, Text]]:
    """The texts of a row, compiled and loaded one after the other."""
    yield PLAIN, plain_text_of(row, partial(load_kernel, store.plain(row)[0]))
    symbol = f"{row['kernel_name']}_cuda_kernel_forward"
    yield WARP, WarpText(load_kernel(store.warp(row)[0], symbol))


def profile_row(row: Row, store: CubinStore, elements: int, listed: TextIO) -> None:
    """Launch the texts of a row under the profiler."""
    sizes = sizes_in_use(row, elements)
    common = {"id": row["id"], "sizes": describe(sizes)}
    result, reached = TextResult("profile"), PLAIN
    with told(result):
        shape = shape_of(row, sizes)
        for reached, text in texts_of(row, store):
            ready = text.prepare(row, shape)
            _launch(ready)
            said = {**common, "text": reached, "status": GpuStatus.PASSED}
            for call in ready.calls().calls:
                listed.write(f"{json.dumps({**said, 'block_threads': prod(call.block)})}\n")
    if result.status != GpuStatus.PASSED:
        said = {**common, "text": reached, "status": result.status, "reason": result.reason}
        listed.write(f"{json.dumps(said)}\n")
    listed.flush()
    load_cupy().get_default_memory_pool().free_all_blocks()


def _launch(ready: Prepared) -> None:
    cupy = load_cupy()
    calls = ready.calls()
    calls.run()
    cupy.cuda.runtime.profilerStart()
    calls.run()
    cupy.cuda.runtime.profilerStop()


def main() -> None:
    """Profile the rows of a file."""
    rows, include, elements, listed = sys.argv[1:]
    device = devices()[0]
    with (
        tempfile.TemporaryDirectory(prefix="pairsmith-pch-") as headers,
        Path(listed).open("w", encoding="utf-8") as file,
        Path(rows).open(encoding="utf-8") as given,
    ):
        store = CubinStore(device.arch, Path(include), None, Path(headers))
        for line in given:
            profile_row(json.loads(line), store, int(elements), file)


if __name__ == "__main__":
    main()
