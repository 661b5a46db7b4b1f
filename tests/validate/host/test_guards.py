"""The memory of a launch on the host: what its guards notice."""

from __future__ import annotations

import numpy as np
import pytest

from validate.host.memory import Arena


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adding_nothing_beyond_an_array_is_noticed(dtype: type) -> None:
    """What an adjoint adds there may be 0 at the shapes of a row: it is no less astray."""
    arena = Arena({"a": np.zeros(3, dtype), "b": np.zeros(5, np.int32)})
    assert arena.written_outside() == ""
    size = np.dtype(dtype).itemsize
    behind = arena.memory[arena.start["a"] + 3 * size :][:size].view(dtype)
    assert np.isnan(behind).all()
    with np.errstate(invalid="ignore"):
        behind += dtype(0)
    assert "a" in arena.written_outside()
