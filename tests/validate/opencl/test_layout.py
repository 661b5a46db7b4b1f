"""Memory as OpenCL C has it."""

from __future__ import annotations

import numpy as np
import pytest

from validate.opencl.layout import as_opencl, by_value, from_opencl, room_of
from validate.row.dtypes import parse, storage

ROOMS = {
    "float32": (1, 1),
    "vec2[float32]": (2, 2),
    "vec3[float32]": (4, 4),
    "vec3[float64]": (4, 4),
    "vec4[float64]": (4, 1),
    "vec3[float16]": (3, 1),
    "vec3[bool]": (3, 1),
    "vec6[float32]": (6, 1),
    "mat3x3[float32]": (9, 1),
    "quat[float32]": (4, 1),
    "transform[float32]": (8, 4),
    "transform[float16]": (7, 1),
}


@pytest.mark.parametrize("dtype", ROOMS)
def test_room_and_alignment(dtype: str) -> None:
    assert room_of(parse(dtype)) == ROOMS[dtype]


@pytest.mark.parametrize("dtype", ROOMS)
def test_arrays_come_back_as_they_went(dtype: str) -> None:
    parsed = parse(dtype)
    values = np.arange(1, 1 + 5 * int(np.prod(parsed.shape, dtype=int)))
    array = values.reshape(5, *parsed.shape).astype(parsed.scalar)
    arg = {"dtype": dtype, "fields": []}
    laid = as_opencl(array, arg)
    assert laid.nbytes == 5 * ROOMS[dtype][0] * array.itemsize
    back = from_opencl(laid, array, arg)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_a_vector_of_three_is_followed_by_nothing() -> None:
    laid = as_opencl(np.float32([[1, 2, 3], [4, 5, 6]]), {"dtype": "vec3[float32]", "fields": []})
    assert laid.reshape(-1).tolist() == [1, 2, 3, 0, 4, 5, 6, 0]


def test_structs_have_the_alignment_of_their_members() -> None:
    fields = [
        {"name": "kind", "dtype": "uint8"},
        {"name": "place", "dtype": "vec3[float32]"},
        {"name": "weight", "dtype": "float64"},
    ]
    array = np.zeros(2, storage("Thing", fields))
    array["kind"], array["weight"] = [7, 8], [0.5, 0.25]
    array["place"] = [[1, 2, 3], [4, 5, 6]]
    arg = {"dtype": "Thing", "fields": fields}
    laid = as_opencl(array, arg)
    assert laid.dtype.itemsize == 48
    places = laid.dtype.fields or {}
    assert [places[name][1] for name in ("kind", "place", "weight")] == [0, 16, 32]
    back = from_opencl(laid, array, arg)
    for name in array.dtype.names or ():
        np.testing.assert_array_equal(back[name], array[name])


def test_float16_is_passed_as_float() -> None:
    found = by_value(np.float16(0.1), {"dtype": "float16", "fields": []})
    assert found.dtype == np.float32
    assert found.reshape(-1)[0] == np.float32(np.float16(0.1))
