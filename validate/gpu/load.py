"""Compile the texts of one row and load them on the current GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from validate.gpu.cubins import CubinStore
from validate.gpu.launch import Kernel, load_kernel
from validate.gpu.result import Spent, TextResult, told
from validate.gpu.text import PlainText, Row, WarpText


@dataclass
class Loaded:
    """The texts of a row that compile and load."""

    warp: WarpText | None = None
    backward: Kernel | None = None
    plain: PlainText | None = None


def load_texts(
    row: Row,
    texts: Sequence[str],
    store: CubinStore,
    results: Mapping[str, TextResult],
    spent: Spent,
) -> Loaded:
    """Those of `texts` that can be loaded; `results` say why the others cannot."""
    loaded, symbol = Loaded(), f"{row['kernel_name']}_cuda_kernel_"
    if {"forward", "backward"} & set(texts):
        with told(results["forward"], results["backward"]):
            binary = _compiled(store.warp, row, spent)
            loaded.warp = WarpText(_kernel(binary, f"{symbol}forward", spent))
            if "backward" in texts:
                loaded.backward = _kernel(binary, f"{symbol}backward", spent)
    if "plain" in texts:
        with told(results["plain"]):
            plain = _compiled(store.plain, row, spent)
            loaded.plain = PlainText(_kernel(plain, row["kernel_name"], spent))
    return loaded


def _compiled(make: Callable[[Row], tuple[bytes, bool]], row: Row, spent: Spent) -> bytes:
    began = time.perf_counter()
    binary, fresh = make(row)
    if fresh:
        spent.nvrtc_s += time.perf_counter() - began
        spent.compiled += 1
    return binary


def _kernel(binary: bytes, symbol: str, spent: Spent) -> Kernel:
    began = time.perf_counter()
    kernel = load_kernel(binary, symbol)
    spent.load_s += time.perf_counter() - began
    return kernel
