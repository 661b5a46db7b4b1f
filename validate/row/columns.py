"""The Arrow schema of a row, with the metadata that gives `datasets` typed features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 5

_STRINGS = pa.list_(pa.string())

_FIELD = pa.struct([(name, pa.string()) for name in ("name", "dtype", "init", "low", "high")])
_ARG = pa.struct(
    [
        ("name", pa.string()),
        ("kind", pa.string()),
        ("dtype", pa.string()),
        ("role", pa.string()),
        ("shape", _STRINGS),
        ("init", pa.string()),
        ("low", pa.string()),
        ("high", pa.string()),
        ("fields", pa.list_(_FIELD)),
        ("rtol", pa.float64()),
        ("atol", pa.float64()),
    ]
)
_SIZE = pa.struct(
    [
        ("symbol", pa.string()),
        ("value", pa.int64()),
        ("min", pa.int64()),
        ("multiple_of", pa.int64()),
    ]
)
_SPAN = pa.struct([("symbol", pa.string()), ("low", pa.int64()), ("high", pa.int64())])
_PLAIN_ARG = pa.struct([("name", pa.string()), ("type", pa.string()), ("size", pa.string())])
_BACKWARD_ARG = pa.struct(
    [(name, pa.string()) for name in ("name", "type", "size", "arg", "field", "holds")]
)
_PLAIN_LAUNCH = pa.struct(
    [
        ("kernel", pa.string()),
        ("args", _STRINGS),
        ("grid", _STRINGS),
        ("block", pa.list_(pa.int32())),
        ("shared_bytes", pa.int64()),
    ]
)
_SCRATCH = pa.struct([(name, pa.string()) for name in ("name", "dtype", "count", "init")])
_EDGE = pa.struct(
    [
        ("name", pa.string()),
        (
            "values",
            pa.list_(
                pa.struct([("arg", pa.string()), ("field", pa.string()), ("among", _STRINGS)])
            ),
        ),
    ]
)
PLAIN_COLUMNS = ("cuda_plain", "plain_args", "plain_scratch", "plain_launch", "schedule")
"""What a row says of its plain CUDA: all of it or nothing."""
GRADIENT_COLUMNS = (
    *("cuda_plain_backward", "backward_args", "backward_scratch", "backward_launch"),
    *("backward_schedule", "backward_reference"),
)
"""What a row says of our own backward kernel: all of it or nothing."""
_CHECKS = pa.struct(
    [
        ("compile_archs", _STRINGS),
        ("run_forward", pa.string()),
        ("run_plain", pa.string()),
        ("run_array", pa.string()),
        ("adjoint", pa.string()),
        ("gradient", pa.string()),
        ("shapes", _STRINGS),
        ("max_ulp", pa.float64()),
        ("registers", pa.int32()),
        ("spill_bytes", pa.int64()),
        ("shared_bytes", pa.int64()),
    ]
)
_PROVENANCE = pa.struct(
    [
        ("seed", pa.int64()),
        ("index", pa.int64()),
        ("attempt", pa.int32()),
        ("pairsmith", pa.string()),
        ("warp", pa.string()),
        ("nvrtc", pa.string()),
        ("module", pa.string()),
        ("line", pa.int32()),
        ("self_contained", pa.bool_()),
    ]
)

COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("schema_version", pa.int32()),
    ("id", pa.string()),
    ("structure", pa.string()),
    ("category", pa.string()),
    ("idiom", pa.string()),
    ("level", pa.int32()),
    ("kernel_name", pa.string()),
    ("description", pa.string()),
    ("python", pa.string()),
    ("reference", pa.string()),
    ("program", pa.string()),
    ("cuda_prologue", pa.string()),
    ("cuda_helpers", pa.string()),
    ("cuda_forward", pa.string()),
    ("cuda_backward", pa.string()),
    ("cuda_plain", pa.string()),
    ("plain_args", pa.list_(_PLAIN_ARG)),
    ("plain_scratch", pa.list_(_SCRATCH)),
    ("plain_launch", pa.list_(_PLAIN_LAUNCH)),
    ("schedule", pa.string()),
    ("cuda_plain_backward", pa.string()),
    ("backward_args", pa.list_(_BACKWARD_ARG)),
    ("backward_scratch", pa.list_(_SCRATCH)),
    ("backward_launch", pa.list_(_PLAIN_LAUNCH)),
    ("backward_schedule", pa.string()),
    ("backward_reference", pa.string()),
    ("array_python", pa.string()),
    ("array_reason", pa.string()),
    ("line_map_python", pa.list_(pa.int32())),
    ("line_map_cuda", pa.list_(pa.int32())),
    ("args", pa.list_(_ARG)),
    ("sizes", pa.list_(_SIZE)),
    ("regime", pa.list_(_SPAN)),
    ("launch", pa.struct([("dim", _STRINGS), ("block_dim", pa.int32())])),
    ("input_seed", pa.int64()),
    ("edge_inputs", pa.list_(_EDGE)),
    ("ops", _STRINGS),
    ("checks", _CHECKS),
    ("provenance", _PROVENANCE),
)


_VALUES = {
    pa.string(): "string",
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.float64(): "float64",
    pa.bool_(): "bool",
}


def huggingface_feature(arrow_type: pa.DataType) -> Any:
    """An Arrow type in the JSON form in which `datasets` keeps features.

    Covers what a row uses: strings, integers, floats, bools, lists and structs. Raises TypeError
    for any other type.
    """
    if pa.types.is_list(arrow_type):
        # Newer versions write {"_type": "List"}, which version 3 does not know; all read this.
        return [huggingface_feature(arrow_type.value_type)]
    if pa.types.is_struct(arrow_type):
        return {
            arrow_type.field(i).name: huggingface_feature(arrow_type.field(i).type)
            for i in range(arrow_type.num_fields)
        }
    if arrow_type not in _VALUES:
        raise TypeError(f"no feature is known for {arrow_type}")
    return {"dtype": _VALUES[arrow_type], "_type": "Value"}


def schema_of(columns: Sequence[tuple[str, pa.DataType]]) -> pa.Schema:
    """A schema with the metadata by which `datasets` types the columns."""
    features = {name: huggingface_feature(arrow_type) for name, arrow_type in columns}
    about = json.dumps({"info": {"features": features}})
    return pa.schema(list(columns), metadata={"huggingface": about})


ROW_SCHEMA: pa.Schema = schema_of(COLUMNS)
