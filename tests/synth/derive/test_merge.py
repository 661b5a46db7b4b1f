"""Datasets of several seeds as one: no two rows alike, splits kept, nothing lost."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import load_dataset
from hypothesis import given
from hypothesis import strategies as st
from kills import contents, killed_at, worth_killing_at

from generators.program.keys import program_keys
from generators.program.serialise import from_json
from synth.check.dataset import check_dataset
from synth.dataset.manifest import read_manifest
from synth.dataset.settings import STRUCTURE_CAP, make_settings
from synth.dataset.stored import stored_rows
from synth.derive.merge import merge, refused
from synth.errors import SettingsError
from synth.run import generate as run
from synth.run.limits import Part

# So narrow that seeds draw some of the same kernels.
NARROW: dict[str, Any] = {
    "categories_asked": ("control_flow",),
    "levels_asked": (1,),
    "verify": "text",
}


def _rows(out: Path) -> list[tuple[str, dict[str, Any]]]:
    return list(stored_rows(out))


def _rename(row: dict[str, Any]) -> str:
    return program_keys(from_json(row["program"])).rename


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three datasets, the last of which shares a kernel with the second; named by their seeds."""
    folder = tmp_path_factory.mktemp("merge")
    renames: dict[Path, set[str]] = {}
    for seed in range(100):
        out = folder / str(seed)
        run.generate(make_settings(seed=seed, **NARROW), 60, out, shard_size=25)
        drawn = {_rename(row) for _, row in _rows(out)}
        like = next((path for path, others in renames.items() if drawn & others), None)
        if like is not None and len(renames) > 1:
            return [next(path for path in renames if path != like), like, out]
        renames[out] = drawn
    raise AssertionError("no two seeds of 100 draw one kernel")


@pytest.fixture(scope="module")
def merged(parts: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("merged") / "out"
    merge(parts, out, shard_size=50)
    return out


def test_rows_enter_by_the_rule_in_order_of_the_datasets(parts: list[Path], merged: Path) -> None:
    renames, structures, wanted = set(), Counter[str](), []
    for part in parts:
        rows = sorted(_rows(part), key=lambda item: item[1]["provenance"]["index"])
        for split, row in rows:
            if _rename(row) in renames or structures[row["structure"]] >= STRUCTURE_CAP:
                continue
            renames.add(_rename(row))
            structures[row["structure"]] += 1
            wanted.append((split, row))
    assert len(wanted) < 60 * len(parts)
    for split in ("train", "validation", "test"):
        assert [r for s, r in _rows(merged) if s == split] == [r for s, r in wanted if s == split]


def test_a_merged_dataset_is_sound_and_loads(
    parts: list[Path], merged: Path, tmp_path: Path
) -> None:
    assert check_dataset(merged, "text").good
    manifest = read_manifest(merged)
    assert manifest is not None
    loaded = load_dataset(str(merged), cache_dir=str(tmp_path))
    assert sum(len(split) for split in loaded.values()) == manifest.rows
    text = (merged / "README.md").read_text()
    for part in parts:
        assert f"- merged: 60 rows, seed {part.name} (fingerprint" in text
    assert not (merged / "work").exists()


def test_merging_again_gives_the_same_bytes_and_leaves_the_parts(
    parts: list[Path], merged: Path, tmp_path: Path
) -> None:
    before = [contents(part) for part in parts]
    merge(parts, tmp_path / "out", shard_size=50)
    assert contents(tmp_path / "out") == contents(merged)
    assert [contents(part) for part in parts] == before


def test_what_cannot_be_merged_is_refused(parts: list[Path], merged: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    other = tmp_path / "other"
    settings = make_settings(**{**NARROW, "verify": "compile", "seed": 5})
    run.generate(settings, 3, other)
    refusals = {
        "at least two": parts[:1],
        "has the seed of another": [parts[0], parts[0]],
        "verify is 'compile' there": [parts[0], other],
        "only generated datasets merge": [parts[0], merged],
        "holds no finished dataset": [parts[0], tmp_path],
    }
    for message, folders in refusals.items():
        with pytest.raises(SettingsError, match=message):
            merge(folders, out)
        assert not out.exists()
    with pytest.raises(SettingsError, match="is there already"):
        merge(parts[:2], merged)
    begun = tmp_path / "begun"
    settings = make_settings(seed=9, **NARROW)
    run.generate_part(settings, 60, begun, Part(1, 2))
    units = sorted(path.name for path in (begun / "work").iterdir())
    with pytest.raises(SettingsError, match="is there already"):
        merge(parts, begun)
    assert sorted(path.name for path in (begun / "work").iterdir()) == units


def test_a_merge_that_was_killed_goes_on(parts: list[Path], merged: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    numbers = worth_killing_at(lambda: merge(parts, out, shard_size=50), out)
    for number in numbers[::2]:
        shutil.rmtree(out)
        assert killed_at(number, lambda: merge(parts, out, shard_size=50))
        merge(parts, out, shard_size=50)
        assert contents(out) == contents(merged), f"failpoint {number}"
    assert len(numbers) > 10


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=80))
def test_the_rule_in_arrays_is_the_rule_in_a_loop(keys: list[tuple[int, int]]) -> None:
    structures, renames = (np.array([k[at] for k in keys], np.uint64) for at in (0, 1))
    seen, held = set(), Counter[int]()
    wanted = []
    for structure, rename in keys:
        duplicate = rename in seen
        crowded = not duplicate and held[structure] >= STRUCTURE_CAP
        # A row that its structure keeps out still holds its rename key: it is in no other's way,
        # because whatever equals it up to names has that structure too.
        seen.add(rename)
        held[structure] += not duplicate and not crowded
        wanted.append((duplicate, crowded))
    duplicate_found, crowded_found = refused(structures, renames)
    assert list(zip(duplicate_found.tolist(), crowded_found.tolist(), strict=True)) == wanted
