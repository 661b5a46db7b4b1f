"""Shared by all tests: programs of every idiom, drawn once a session."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from drawn_programs import accepted_draw

from generators import categories
from generators.build.registry import LEVELS

if TYPE_CHECKING:
    from synth.rows.maker import Accepted, Row

# A shell that starts the tests in the background has them ignore Ctrl-C, which some of them send.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_T = TypeVar("_T")

SLOW = (
    "synth/check/",
    "synth/cli/",
    "synth/dataset/test_dataset.py",
    "synth/derive/",
    "synth/gpu/",
    "synth/harvest/",
    "synth/loop/",
    "synth/lower/",
    "synth/page/test_in_browser.py",
    "synth/publish/",
    "synth/render/cuda/test_atomics.py",
    "synth/render/cuda/test_plain.py",
    "synth/render/cuda/test_styles.py",
    "synth/render/test_render.py",
    "synth/render/test_types.py",
    "synth/rows/",
    "synth/run/test_raise.py",
    "synth/run/test_ray.py",
    "synth/run/test_remote.py",
    "synth/run/test_survive.py",
    "synth/views/",
    "test_edges.py",
    "test_packaging.py",
    "test_samples.py::test_the_samples_are_made_again_from_their_seed",
    "validate/gpu/test_gpu.py::test_a_broken_process_costs_its_text_alone",
    "validate/host/",
    "validate/mutants/",
    "validate/nvrtc/",
    "validate/score/",
)
"""Tests that `make check` leaves out, by the beginning of what `pytest --durations=0` calls them
below `tests/`: they compile, run or kill, and a file of them takes more than 10 seconds."""


def pytest_configure() -> None:
    """Collect garbage less often: 900 tests that draw and evaluate take 8 % less CPU time."""
    gc.set_threshold(50_000, 20, 50)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests wait for compilers, children and clocks for a sixth of
    their time. No more than eight, for each may hold a gigabyte."""
    return min(len(os.sched_getaffinity(0)) + 1, 8)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests and let them begin, so that none of them runs alone at the end; a line of
    ``SLOW`` that fits no file is an error."""
    here = Path(__file__).parent
    assert all((here / start.partition("::")[0]).exists() for start in SLOW)
    for item in items:
        if item.nodeid.partition("tests/")[2].startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def all_accepted(tmp_path_factory: pytest.TempPathFactory) -> list[Accepted]:
    """One program for each idiom; their levels take turns."""

    def drawn() -> list[Accepted]:
        return [
            accepted_draw(name, idiom, LEVELS[place % len(LEVELS)])
            for name, category in categories().items()
            for place, idiom in enumerate(sorted(category.idioms))
        ]

    return _once(tmp_path_factory, "accepted", drawn)


@pytest.fixture(scope="session")
def all_rows(tmp_path_factory: pytest.TempPathFactory, all_accepted: list[Accepted]) -> list[Row]:
    """One row for each idiom."""

    def made() -> list[Row]:
        # Not above: the GPU tests share this file, and their machines lack what rows need.
        from synth.dataset.settings import Versions, make_settings
        from synth.rows.maker import PairMaker

        maker = PairMaker(make_settings(verify="text"), Versions.installed())
        return maker.rows(all_accepted)

    return _once(tmp_path_factory, "rows", made)


def _once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[], _T]) -> _T:
    """What ``make`` gives, made by one of the test processes for all of them."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return make()
    from filelock import FileLock

    path = tmp_path_factory.getbasetemp().parent / f"{name}.pickle"
    with FileLock(f"{path}.lock"):
        if path.exists():
            found: _T = pickle.loads(path.read_bytes())
            return found
        made = make()
        path.write_bytes(pickle.dumps(made))
        return made
