"""Types of numbers besides float32, int32 and bool."""

from __future__ import annotations

from generators.program.dtypes import Scalar

FLOAT16, FLOAT64 = Scalar("float16"), Scalar("float64")
INT8, INT16, INT64 = Scalar("int8"), Scalar("int16"), Scalar("int64")
UINT8, UINT16 = Scalar("uint8"), Scalar("uint16")
UINT32, UINT64 = Scalar("uint32"), Scalar("uint64")
