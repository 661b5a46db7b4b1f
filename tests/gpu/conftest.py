"""Shared by the GPU tests. They need NumPy, PyArrow, CuPy and pytest: no Warp, no `datasets`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from synth.gpu.rows import include_dir, read_rows
from validate.errors import GpuUnavailable
from validate.gpu.device import Device
from validate.gpu.device import devices as find_devices

ROOT = Path(__file__).resolve().parents[2]
DATASET = Path(os.environ.get("PAIRSMITH_GPU_DATASET", ROOT / "data" / "samples"))


@pytest.fixture(scope="session")
def devices() -> list[Device]:
    try:
        return find_devices()
    except GpuUnavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def dataset() -> Path:
    return DATASET


@pytest.fixture(scope="session")
def include() -> Path:
    return include_dir(DATASET, None)


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return list(read_rows(DATASET))
