"""Kernels that functions make, enums that are more than members, and guesses that come to fit."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from synth.harvest.files import Harvested, Options, harvest
from synth.harvest.guesses import READINGS, Guess, search
from validate.row.schema import check_row
from validate.statuses import RunStatus

MAKERS = """
    import enum
    import functools
    from typing import Tuple
    import warp as wp

    class Kind(enum.IntEnum):
        PLAIN = 0
        SQUARE = 1

        @staticmethod
        @wp.func
        def weigh(value: float):
            return value * 0.5

        @property
        def power(self):
            return int(self) + 1

    @functools.cache
    def by_kind(kind: Kind, twice: bool = False):
        \"\"\"Only defines.\"\"\"
        power = kind.power

        @wp.kernel
        def raised(values: wp.array(dtype=float), out: wp.array(dtype=float)):
            i = wp.tid()
            out[i] = values[i] ** float(power)
            if wp.static(twice):
                out[i] = out[i] * 2.0
        return raised

    def by_size(size):
        if size < 2:
            raise ValueError("too small")

        @wp.kernel
        def sized(out: wp.array(dtype=int)):
            out[wp.tid()] = size
        return sized

    SIZE = 48

    def never_called():
        return by_size(SIZE), by_size(1), by_size(unknown)

    def by_nothing(amount):
        @wp.kernel
        def unsaid(out: wp.array(dtype=int)):
            out[wp.tid()] = amount
        return unsaid

    def starts(size: int):
        print(1 / 0)

        @wp.kernel
        def started(out: wp.array(dtype=int)):
            out[wp.tid()] = size
        return started

    @wp.func
    def pair(value: float) -> Tuple[float, float]:
        return value, value

    @wp.kernel
    def weighed(values: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        first, second = pair(Kind.weigh(values[i]))
        out[i] = first + second * float(wp.static(Kind.SQUARE.power))
    """

GUESSES = """
    import warp as wp

    @wp.kernel
    def scattered(where: wp.array(dtype=int), values: wp.array(dtype=float),
                  out: wp.array(dtype=float)):
        i = wp.tid()
        out[where[i]] = values[i]

    @wp.kernel
    def packed(values: wp.array(dtype=float), out: wp.array(dtype=wp.vec3)):
        i = wp.tid()
        out[i] = wp.vec3(values[3 * i], values[3 * i + 1], values[3 * i + 2])

    @wp.kernel
    def first_of(count: int, values: wp.array(dtype=float), out: wp.array(dtype=float)):
        if wp.tid() == 0:
            for k in range(count):
                out[0] = out[0] + values[40 + k]

    @wp.kernel
    def all_to_one(values: wp.array(dtype=float), out: wp.array(dtype=float)):
        out[0] = values[wp.tid()]

    @wp.kernel
    def never(values: wp.array(dtype=float), out: wp.array(dtype=float)):
        out[wp.tid() - 100000] = values[0]
    """


def harvested(folder: Path, text: str, *, run: bool) -> Harvested:
    path = folder / "modules.py"
    path.write_text(dedent(text).lstrip())
    return harvest([path], Options(run=run))


def test_kernels_are_reached_through_what_is_known_of_their_functions(tmp_path: Path) -> None:
    result = harvested(tmp_path, MAKERS, run=False)
    assert not result.failed
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in result.rows:
        rows.setdefault(row["kernel_name"], []).append(row)
    assert {name: len(found) for name, found in rows.items()} == {
        "raised": 4,
        "sized": 1,
        "weighed": 1,
    }
    assert "size = 48" in rows["sized"][0]["python"]
    reasons = {entry["kernel"]: entry["reason"] for entry in result.left}
    said = "not reached: nothing says what its function is called with"
    assert reasons["by_nothing.unsaid"] == said
    assert reasons["starts.started"] == "not reached: its function does more than define it"
    (weighed,) = rows["weighed"]
    assert weighed["provenance"]["self_contained"], result.open
    assert "weigh(values[i])" in weighed["python"]
    assert "wp.static(2)" in weighed["python"]
    assert "from typing import Tuple" in weighed["python"]


@pytest.fixture(scope="module")
def guessed(tmp_path_factory: pytest.TempPathFactory) -> Harvested:
    return harvested(tmp_path_factory.mktemp("guesses"), GUESSES, run=True)


def test_guesses_come_to_fit(guessed: Harvested) -> None:
    rows = {row["kernel_name"]: row for row in guessed.rows}
    assert [check_row(row) for row in guessed.rows] == [[]] * 5
    ran = {name for name, row in rows.items() if row["checks"]["run_forward"] == "agrees"}
    assert ran == {"scattered", "packed", "first_of", "all_to_one"}, guessed.no_run
    where = rows["scattered"]["args"][0]
    assert (where["init"], where["shape"]) == ("permutation", ["n"])
    assert rows["packed"]["args"][0]["shape"] == ["8*n"]
    assert rows["packed"]["launch"]["dim"] == ["n"]
    assert rows["all_to_one"]["launch"]["dim"] == ["1"]


def test_what_no_guess_fits_stays_as_guessed_first(guessed: Harvested) -> None:
    (row,) = (row for row in guessed.rows if row["kernel_name"] == "never")
    assert [arg["shape"] for arg in row["args"]] == [["n"], ["n"]]
    assert row["launch"]["dim"] == ["n"]


def test_a_run_that_differs_is_not_outvoted() -> None:
    tried: list[Guess] = []

    def differs(guess: Guess) -> dict[str, Any]:
        tried.append(guess)
        return {"reason": "run: differs from Warp's CPU device", "trouble": []}

    reason, _ = search([], ["n"], differs)
    assert (reason, len(tried)) == ("run: differs from Warp's CPU device", 1)


def test_an_array_grows_no_further_than_it_helps() -> None:
    shapes: list[list[str]] = []
    arg = {"name": "a", "kind": "array", "shape": ["n"], "init": "uniform", "fields": []}

    def outside(guess: Guess) -> dict[str, Any]:
        shapes.append(guess.args[0]["shape"])
        place = "thread 0 reads 4 bytes after the end of a"
        return {"reason": "run: outside", "trouble": [RunStatus.READ_OUT_OF_BOUNDS, place]}

    reason, guess = search([arg], ["n"], outside)
    assert (reason, guess.args[0]["shape"]) == ("run: outside", ["n"])
    assert shapes == [["n"], ["8*n"], ["64*n"], ["512*n"]] * len(READINGS)
