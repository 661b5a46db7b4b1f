from __future__ import annotations

import numpy as np
import pytest

from validate.row.dtypes import DType, parse, storage


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bool", DType("scalar", "bool", ())),
        ("uint64", DType("scalar", "uint64", ())),
        ("vec3[float32]", DType("vec", "float32", (3,))),
        ("vec12[int8]", DType("vec", "int8", (12,))),
        ("mat2x3[float64]", DType("mat", "float64", (2, 3))),
        ("quat[float16]", DType("quat", "float16", (4,))),
        ("transform[float32]", DType("transform", "float32", (7,))),
        ("Particle", DType("struct", "Particle", ())),
    ],
)
def test_parse(text: str, expected: DType) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "bad", ["", "vec[float32]", "vec0[float32]", "vec3[float]", "quat[int32]", "mat2[bool]", "a b"]
)
def test_malformed(bad: str) -> None:
    with pytest.raises(ValueError, match="dtype"):
        parse(bad)


def test_struct_is_laid_out_as_in_c() -> None:
    fields = [
        {"name": "v", "dtype": "vec3[float32]"},
        {"name": "b", "dtype": "bool"},
        {"name": "d", "dtype": "float64"},
        {"name": "h", "dtype": "float16"},
    ]
    dtype = storage("Particle", fields)
    assert dtype.fields is not None
    assert [dtype.fields[name][1] for name in ("v", "b", "d", "h")] == [0, 12, 16, 24]
    assert dtype.itemsize == 32
    assert storage("vec3[float16]") == np.float16


def test_structs_without_storage() -> None:
    with pytest.raises(ValueError, match="no fields"):
        storage("Particle")
    with pytest.raises(ValueError, match="inside a struct"):
        storage("Particle", [{"name": "other", "dtype": "Other"}])
