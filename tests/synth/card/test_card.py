"""The card says of a dataset what its files hold."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner
from datasets import Features, load_dataset_builder
from huggingface_hub import DatasetCard

from synth.card.distributions import distributions
from synth.card.harvested import _licence_lines
from synth.card.page import write_card
from synth.card.plots import draw_all
from synth.card.rows import COLUMNS
from synth.cli.main import main
from synth.dataset.headers import copy_headers
from synth.dataset.manifest import Manifest, read_manifest
from synth.dataset.settings import make_settings
from synth.dataset.stored import shard_paths, stored_rows
from synth.publish.upload import write_public_card
from synth.run.generate import generate
from validate.row.columns import ROW_SCHEMA

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES, tmp_path / "data"))


def manifest_of(out: Path) -> Manifest:
    found = read_manifest(out)
    assert found is not None
    return found


def head_of(out: Path) -> dict:
    return DatasetCard.load(out / "README.md").data.to_dict()


def test_yaml_has_the_features_and_counts_of_the_files(dataset: Path) -> None:
    write_card(dataset, manifest_of(dataset))
    (info,) = head_of(dataset)["dataset_info"]
    stored = pq.read_schema(shard_paths(dataset)[0])
    assert Features._from_yaml_list(info["features"]) == Features.from_arrow_schema(stored)
    for split in info["splits"]:
        files = [pq.ParquetFile(p) for p in (dataset / split["name"]).glob("*.parquet")]
        assert split["num_examples"] == sum(f.metadata.num_rows for f in files)
    size = sum(path.stat().st_size for path in shard_paths(dataset))
    assert info["download_size"] == size


def test_a_loader_takes_what_the_yaml_says(dataset: Path, tmp_path: Path) -> None:
    write_card(dataset, manifest_of(dataset))
    builder = load_dataset_builder(str(dataset), cache_dir=str(tmp_path / "cache"))
    assert (
        builder.info.splits["train"].num_examples == manifest_of(dataset).counts["split"]["train"]
    )
    assert list(builder.info.features) == ROW_SCHEMA.names


def test_the_committed_card_is_the_one_that_is_made(dataset: Path) -> None:
    before = (dataset / "README.md").read_text()
    write_card(dataset, manifest_of(dataset))
    assert (dataset / "README.md").read_text() == before


def test_every_column_is_explained_in_its_place() -> None:
    assert list(COLUMNS) == ROW_SCHEMA.names


def test_counts_are_those_of_a_plain_count() -> None:
    rows = [row for _, row in stored_rows(SAMPLES)]
    found = distributions(shard_paths(SAMPLES))
    assert found.rows == len(rows)
    for op in {op for row in rows for op in row["ops"]}:
        assert found.ops[op] == sum(op in row["ops"] for row in rows)
    for row in rows:
        row["dtypes"] = {f["dtype"] for arg in row["args"] for f in (arg["fields"] or [arg])}
    for dtype in set().union(*(row["dtypes"] for row in rows)):
        assert found.dtypes[dtype] == sum(dtype in row["dtypes"] for row in rows)
    assert sorted(found.dtypes) == sorted(set().union(*(row["dtypes"] for row in rows)))
    assert found.evidence["run_plain: agrees"] == len(rows)
    assert sum(found.styles.values()) == len(rows)
    lines = sorted(row["python"].count("\n") for row in rows)
    assert sorted(found.lines["python"].tolist()) == lines


def test_an_example_of_every_category_is_a_row(dataset: Path) -> None:
    write_card(dataset, manifest_of(dataset))
    text = (dataset / "README.md").read_text()
    rows = {row["id"]: row for _, row in stored_rows(dataset)}
    shown = re.findall(r"Row `([0-9a-f]{16})`", text)
    assert sorted(rows[row_id]["category"] for row_id in shown) == sorted(
        {row["category"] for row in rows.values()}
    )
    for row_id in shown:
        assert rows[row_id]["python"].rstrip() in text
        assert rows[row_id]["cuda_plain"].rstrip() in text


def test_its_recipe_compiles_a_row(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of the card as it stands, with the rows of this folder for those of the Hub."""
    copy_headers(dataset / "include")
    write_card(dataset, manifest_of(dataset))
    section = (dataset / "README.md").read_text().split("## Compile a row")[1].split("## ")[0]
    load, compile_ = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(dataset)
    names: dict[str, object] = {}
    exec(load.replace('"USER/NAME"', f'"{dataset}", cache_dir="../cache"'), names)
    exec(compile_, names)
    assert int(names["status"]) == 0  # type: ignore[call-overload]
    ptx = names["ptx"]
    assert isinstance(ptx, bytes)
    assert f"{names['row']['kernel_name']}_cuda_kernel_forward".encode() in ptx  # type: ignore[index]
    if shutil.which("nvcc"):
        (command,) = re.findall(r"`(nvcc [^`]*)`", section)
        subprocess.run(command.split(), check=True)


def test_in_public_it_has_its_name_and_pictures(dataset: Path) -> None:
    write_public_card(dataset, manifest_of(dataset), None, "smith/pairs")
    text = (dataset / "README.md").read_text()
    assert 'load_dataset("smith/pairs", split="train")' in text
    assert "USER/NAME" not in text
    shown = re.findall(r"!\[[^]]+\]\((images/\w+\.png)\)", text)
    assert len(shown) == 5
    for name in shown:
        assert (dataset / name).read_bytes().startswith(b"\x89PNG")


def test_pictures_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    draws = manifest_of(SAMPLES).draws
    first = [path.read_bytes() for path in draw_all(SAMPLES, tmp_path / "a", draws)]
    assert first == [path.read_bytes() for path in draw_all(SAMPLES, tmp_path / "b", draws)]


def test_the_yaml_is_yaml_alone(dataset: Path) -> None:
    write_card(dataset, manifest_of(dataset))
    head = yaml.safe_load((dataset / "README.md").read_text().split("---\n")[1])
    assert head["license"] == "apache-2.0"
    assert [config["config_name"] for config in head["configs"]] == ["default"]
    assert head["size_categories"] == ["n<1K"]


def test_it_tells_how_the_bytes_are_made_again(tmp_path: Path) -> None:
    settings = make_settings(
        verify="text", seed=7, categories_asked=("atomic",), levels_asked=(2,), backward=False
    )
    generate(settings, 2, tmp_path / "data", shard_size=50)
    text = (tmp_path / "data" / "README.md").read_text()
    (command,) = re.findall(r"^pairsmith generate .*$", text, re.MULTILINE)
    arguments = shlex.split(command.replace("OUT", str(tmp_path / "again")))
    assert CliRunner().invoke(main, [*arguments[1:], "--quiet"]).exit_code == 0
    assert manifest_of(tmp_path / "again") == manifest_of(tmp_path / "data")
    assert "forward and adjoint" not in text
    assert "no text was compiled or run" in text


def test_a_licence_is_what_the_hub_knows_or_has_a_name() -> None:
    assert _licence_lines("GPL-3.0") == "license: gpl-3.0"
    assert _licence_lines("   ") == "license: unknown"
    head = yaml.safe_load(_licence_lines('My "own": licence'))
    assert head == {"license": "other", "license_name": "My own licence"}
