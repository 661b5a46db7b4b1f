"""``data/samples`` is what the code makes today: one pair for each category and level."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from generators import categories
from generators.build.registry import LEVELS
from synth.check.dataset import check_dataset
from synth.dataset.manifest import read_manifest
from synth.dataset.settings import Settings, Versions, make_settings
from synth.dataset.stored import stored_rows
from synth.rows.maker import Accepted, PairMaker, Row, attempt_draw
from synth.rows.verify import Verifier

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"


def test_there_is_one_sample_for_each_category_and_level() -> None:
    found = sorted((row["category"], row["level"]) for _, row in stored_rows(SAMPLES))
    assert found == sorted(product(categories(), LEVELS))


def test_the_samples_are_made_again_from_their_seed() -> None:
    manifest = read_manifest(SAMPLES)
    assert manifest is not None
    installed = Versions.installed("run")
    if manifest.shape["warp version"] != installed.warp:
        pytest.skip(f"made with Warp {manifest.shape['warp version']}, not {installed.warp}")
    if manifest.shape["nvrtc version"] != installed.nvrtc:
        pytest.skip(f"made with NVRTC {manifest.shape['nvrtc version']}, not {installed.nvrtc}")
    settings = make_settings(seed=manifest.shape["seed"], verify="run")
    rows = [row for _, row in stored_rows(SAMPLES)]
    again = PairMaker(settings, installed).rows([_accepted(settings, row) for row in rows])
    verifier = Verifier(settings, installed)
    try:
        assert verifier.verify(again, []) == [None] * len(rows)
    finally:
        verifier.close()
    assert again == rows


def _accepted(settings: Settings, row: Row) -> Accepted:
    origin = row["provenance"]
    return attempt_draw(settings, row["category"], origin["index"], origin["attempt"])


def test_the_samples_validate_without_their_headers() -> None:
    report = check_dataset(SAMPLES, "text")
    assert report.good, report.as_dict()
