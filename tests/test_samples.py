"""``data/samples`` is what the code makes today: one pair for each category and level."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from generators import categories
from generators.registry import LEVELS
from synth.check import check_dataset, stored_rows
from synth.manifest import read_manifest
from synth.pair import PairMaker, attempt_draw
from synth.settings import Versions, make_settings

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"


def test_there_is_one_sample_for_each_category_and_level() -> None:
    found = sorted((row["category"], row["level"]) for _, row in stored_rows(SAMPLES))
    assert found == sorted(product(categories(), LEVELS))


def test_the_samples_are_made_again_from_their_seed() -> None:
    manifest = read_manifest(SAMPLES)
    assert manifest is not None
    installed = Versions.installed()
    if manifest.shape["warp version"] != installed.warp:
        pytest.skip(f"made with Warp {manifest.shape['warp version']}, not {installed.warp}")
    settings = make_settings(seed=manifest.shape["seed"], verify="run")
    maker = PairMaker(settings, installed)
    for _, row in stored_rows(SAMPLES):
        origin = row["provenance"]
        accepted = attempt_draw(settings, row["category"], origin["index"], origin["attempt"])
        again = maker.rows([accepted])[0]
        checked = {"checks": row["checks"], "provenance": origin}
        assert {**again, **checked} == row


def test_the_samples_validate_without_their_headers() -> None:
    report = check_dataset(SAMPLES, "text")
    assert report.good, report.as_dict()
