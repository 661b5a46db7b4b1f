from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Features, load_dataset
from hand_rows import all_rows

from validate.row.columns import COLUMNS, ROW_SCHEMA, huggingface_feature
from validate.row.schema import check_row, row_json_schema


def test_datasets_reads_the_metadata_as_the_types_say() -> None:
    features = Features.from_arrow_schema(ROW_SCHEMA)
    assert features == Features.from_arrow_schema(ROW_SCHEMA.remove_metadata())
    assert features.arrow_schema.remove_metadata() == ROW_SCHEMA.remove_metadata()
    stored = json.loads(ROW_SCHEMA.metadata[b"huggingface"])["info"]["features"]
    assert Features.from_dict(stored) == features


def test_rows_survive_parquet_and_load_dataset(tmp_path: Path) -> None:
    rows = list(all_rows())
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=ROW_SCHEMA), path)
    back = pq.read_table(path).to_pylist()
    assert back == rows
    assert [check_row(row) for row in back] == [[]] * len(rows)
    loaded = load_dataset(
        "parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded.features == Features.from_arrow_schema(ROW_SCHEMA)
    assert loaded[0] == rows[0]


def test_every_row_key_is_a_column() -> None:
    names = [name for name, _ in COLUMNS]
    assert list(all_rows()[0]) == names
    assert list(row_json_schema()["properties"]) == names
    assert row_json_schema()["required"] == names


def test_structs_have_the_same_keys_in_both_schemas() -> None:
    schema = row_json_schema()

    def keys(arrow_type: pa.DataType) -> list[str]:
        inner = arrow_type.value_type if pa.types.is_list(arrow_type) else arrow_type
        return [inner.field(i).name for i in range(inner.num_fields)]

    for name in ("checks", "provenance", "launch"):
        assert list(schema["properties"][name]["properties"]) == keys(ROW_SCHEMA.field(name).type)
    for name in ("plain_args", "plain_scratch", "plain_launch"):
        items = schema["properties"][name]["items"]["properties"]
        assert list(items) == keys(ROW_SCHEMA.field(name).type)
    arg = ROW_SCHEMA.field("args").type
    assert list(schema["definitions"]["arg"]["properties"]) == keys(arg)
    fields = arg.value_type.field("fields").type
    assert list(schema["definitions"]["field"]["properties"]) == keys(fields)


def test_the_notes_name_every_key() -> None:
    text = Path(__file__).parents[3].joinpath("notes", "formats", "row.md").read_text("utf-8")
    code = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]+)`", text))))
    schema = row_json_schema()
    for name in ("arg", "field", "size"):
        assert set(schema["definitions"][name]["properties"]) <= code
    for name in ("checks", "provenance"):
        assert set(schema["properties"][name]["properties"]) <= code
    for name in ("plain_args", "plain_scratch", "plain_launch"):
        assert set(schema["properties"][name]["items"]["properties"]) <= code


def test_unknown_arrow_types_are_refused() -> None:
    with pytest.raises(TypeError):
        huggingface_feature(pa.date32())
