"""Schedules that are chosen: legal, the same again, near the best that was measured, and why."""

from __future__ import annotations

import json
from itertools import cycle
from typing import Any

import pytest

from synth.errors import SettingsError
from synth.lower.choose import choice as choice_module
from synth.lower.choose.choice import Choice, candidates, choose
from synth.lower.choose.devices import archs_of, figures_of
from synth.lower.choose.families import families
from synth.lower.choose.request import (
    distance,
    neighbours,
    read_request,
    shape_class,
)
from synth.lower.choose.table import FILE, Found
from synth.lower.op import OpSpec
from synth.lower.ops import ops
from synth.lower.spec import read_spec

SIZES = ((1024, 1024, 1024), (4096, 4096, 4096), (1, 1, 1), (17, 5000, 33), (64, 8, 16384))


def modelled(monkeypatch: pytest.MonkeyPatch, spec: dict[str, Any]) -> Choice:
    monkeypatch.setattr(choice_module, "table", lambda request: [])
    return choose(spec)


@pytest.mark.parametrize("op", sorted(ops()))
def test_a_choice_is_legal_and_the_same_again(op: str) -> None:
    kind = ops()[op]
    for dtype, sizes in ((d, s) for d in kind.dtypes for s in SIZES):
        more = {"transpose_b": True} if dtype == "int8" else {}
        shape = dict(zip(kind.sizes, cycle(sizes), strict=False))
        spec = {"op": op, "dtype": dtype, "shape": shape, **more}
        try:
            read_spec({**spec})
        except SettingsError:
            continue  # such as int8 with an epilogue
        one = choose(spec)
        assert one == choose(json.dumps(spec))
        assert read_spec(one.spec.canonical()) == one.spec
        assert one.why


def test_what_was_measured_is_taken_where_it_was_measured() -> None:
    entries = json.loads(FILE.read_text())
    assert len(entries) >= 30
    for entry in entries:
        whole = read_spec({**entry["problem"], "schedule": entry["schedule"]})
        spec = {**entry["problem"], "shape": entry["sizes"]}
        found = choose(read_request(spec, whole.archs), entry["device"])
        assert (found.by, dict(found.spec.schedule)) == ("table", entry["schedule"])
        assert f"{entry['time_us']:.1f} us" in found.why


def test_the_model_is_not_far_off_what_was_measured() -> None:
    """Its time for the best schedule is within a factor of what a GPU said."""
    costed = 0
    for entry in json.loads(FILE.read_text()):
        spec = read_spec({**entry["problem"], "schedule": entry["schedule"]})
        assert isinstance(spec, OpSpec)
        request = read_request({**entry["problem"], "shape": entry["sizes"]}, spec.archs)
        if request.costed:
            costed += 1
            share = request.cost_us(spec, entry["device"]) / entry["time_us"]
            assert 0.7 < share < 1.5, entry
    assert costed >= 40


def test_the_model_follows_sizes_and_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    small = modelled(monkeypatch, {"op": "matmul", "shape": [256, 256, 4096]})
    large = modelled(monkeypatch, {"op": "matmul", "shape": [8192, 8192, 8192]})
    assert small.by == large.by == "model"
    tile = [dict(one.spec.schedule)["tile_m"] for one in (small, large)]  # type: ignore[union-attr]
    assert tile[0] < tile[1]
    assert dict(small.spec.schedule)["split_k"] > 1  # type: ignore[union-attr]
    assert "m=256, n=256, k=4096, batch=1" in small.why
    short = modelled(monkeypatch, {"op": "softmax", "shape": [4096, 64]})
    long = modelled(monkeypatch, {"op": "softmax", "shape": [4096, 16384]})
    assert dict(short.spec.schedule)["threads"] < dict(long.spec.schedule)["threads"]  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [1024, 2048, 4096])
def test_products_of_warpgroups_have_stages_enough(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """With three stages a tile has one step to arrive, which took up to twice as long."""
    monkeypatch.setattr(choice_module, "table", lambda request: [])
    spec = {"op": "matmul", "dtype": "float16", "shape": [size, size, size]}
    found = choose(read_request(spec, ("sm_90a",)), "NVIDIA H100 80GB HBM3")
    assert isinstance(found.spec, OpSpec)
    schedule = dict(found.spec.schedule)
    assert schedule["core"] == "wgmma"
    assert schedule["stages"] >= 4


def test_a_choice_fits_the_shared_memory_of_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {"op": "matmul", "dtype": "float16", "shape": [4096, 4096, 4096]}
    monkeypatch.setattr(choice_module, "table", lambda request: [])
    for device in ("NVIDIA L40", "NVIDIA H100 80GB HBM3"):
        found = choose(spec, device).spec
        assert found.shared_bytes + 1024 <= figures_of(device).shared_bytes
    least = next(c for c in candidates(read_request(spec)) if c.spec.shared_bytes > 101 << 10)
    assert read_request(spec).cost_us(least.spec, "NVIDIA L40") == float("inf")


def test_parts_of_a_schedule_are_kept() -> None:
    said = {"core": "simt", "tile_m": 64, "tile_n": 64}
    found = choose({"op": "matmul", "shape": [2048, 2048, 2048], "schedule": said})
    assert isinstance(found.spec, OpSpec)
    assert said.items() <= dict(found.spec.schedule).items()
    assert "as said" in found.why
    # Legal under an asynchronous copy alone, which is chosen.
    four = choose({"op": "matmul", "schedule": {"core": "simt", "stages": 4}})
    assert dict(four.spec.schedule)["copy"] == "async"  # type: ignore[union-attr]
    whole = dict(found.spec.schedule)
    assert choose({"op": "matmul", "schedule": whole}).by == "said"
    assert choose({"op": "matmul", "schedule": {"tile_m": 64}}).by == "said"


def test_a_part_that_no_schedule_has_is_refused_as_before() -> None:
    with pytest.raises(SettingsError, match="no whole warps"):
        choose({"op": "matmul", "schedule": {"core": "simt", "warp_m": 48}})
    with pytest.raises(SettingsError, match="mma does not take float32"):
        choose({"op": "matmul", "schedule": {"core": "mma"}})


@pytest.mark.parametrize(
    ("shape", "line"),
    [
        ([1, 2], "shape: "),
        ([1, 2, 3, 4, 5], "shape: "),
        ({"m": 1, "n": 2}, "shape: "),
        ({"m": 1, "n": 2, "k": 0}, "shape.k: 0 is not allowed"),
        ({"m": 1, "n": 2, "k": 2.5}, "shape.k: 2.5 is not allowed"),
        ("big", "shape: "),
    ],
)
def test_a_bad_shape_is_refused_in_one_line(shape: Any, line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        choose({"op": "matmul", "shape": shape})
    assert str(caught.value).startswith(line)
    assert "allowed are" in str(caught.value)


def test_a_shape_is_no_part_of_the_key() -> None:
    with_shape = choose({"op": "matmul", "shape": [2048, 2048, 2048]})
    whole = {"op": "matmul", "schedule": dict(with_shape.spec.schedule)}  # type: ignore[union-attr]
    assert read_spec(whole).key() == with_shape.spec.key()


def test_warpgroups_are_for_texts_that_may_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_module, "table", lambda request: [])
    spec = {"op": "matmul", "dtype": "float16", "shape": [4096, 4096, 4096]}
    for archs, core in (((), "mma"), (("sm_90", "sm_90a"), "mma"), (("sm_90a",), "wgmma")):
        found = choose(read_request(spec, archs)).spec
        assert dict(found.schedule)["core"] == core  # type: ignore[union-attr]
    assert archs_of("NVIDIA H200") == ("sm_90a",)
    assert archs_of("NVIDIA L40") == archs_of("a GPU") == ("sm_90",)
    # Where there are none, the model does not take them whatever the text is made for.
    found = choose(read_request(spec, ("sm_90a",)), "NVIDIA A100-SXM4-80GB").spec
    assert dict(found.schedule)["core"] == "mma"  # type: ignore[union-attr]
    said = choose({"op": "matmul", "dtype": "bfloat16", "schedule": {"core": "wgmma"}}).spec
    assert said.archs == ("sm_90a",)
    with pytest.raises(SettingsError, match="allowed are sm_90a"):
        read_request({**spec, "schedule": {"core": "wgmma"}}, ("sm_80",))


def test_found_comes_first_where_it_is_near() -> None:
    request = read_request({"op": "softmax", "shape": [4096, 4096]})
    other = {"threads": 1024, "held": 1, "rows": 1, "stream": False}
    near = Found("here", {"m": 4096, "n": 5000 // 16 * 16}, other, 60.0, 7)
    far = Found("here", {"m": 4096, "n": 16384}, {**other, "held": 2}, 10.0, 9)
    found = choose(request, "here", lambda request, device: [far, near])
    assert (found.by, dict(found.spec.schedule)) == ("found", other)  # type: ignore[union-attr]
    assert "the best of 7 tuned here on here at m=4096, n=4992: 60.0 us" in found.why
    assert choose(request, "here", lambda request, device: [far]).by == "table"


def test_classes_and_distances_of_shapes() -> None:
    assert shape_class({"m": 1000, "n": 1024}) == "m1024-n1024-ragged"
    assert shape_class({"m": 1008, "n": 1024}) == "m1024-n1024"
    assert distance({"m": 1024}, {"m": 4096}) == 2.0
    assert distance({"m": 1024}, {"m": 1025}) == float("inf")
    assert distance({"m": 16}, {"n": 16}) == float("inf")


def test_neighbours_are_legal_and_differ_in_a_field() -> None:
    request = read_request({"op": "matmul", "schedule": {"core": "simt", "tile_k": 8}})
    assert isinstance(request.first, OpSpec)
    schedule = dict(request.first.schedule)
    found = list(neighbours(request, schedule))
    assert len(found) >= 5
    for one in found:
        assert sum(one[name] != schedule[name] for name in one) == 1
        assert one["tile_k"] == 8
        assert request.under(one) is not None


def test_every_family_has_ops_and_legal_schedules() -> None:
    taken = set()
    for name, op in ops().items():
        request = read_request({"op": name})
        if request.costed and request.family is not None:
            taken.add(request.family.name)
            assert len(candidates(request)) >= 10, op
    assert taken == {family.name for family in families()}


def test_a_convolution_goes_by_places_where_that_saves_more_than_it_moves() -> None:
    deep = candidates(read_request({"op": "conv2d", "shape": [32, 256, 256, 14, 14]}))
    assert deep[0].schedule["algorithm"] == "winograd"
    alone = candidates(read_request({"op": "conv2d", "shape": [32, 1, 64, 56, 56]}))
    assert alone[0].schedule["algorithm"] == "direct"
    strided = read_request({"op": "conv2d", "stride": 2, "shape": [32, 128, 128, 56, 56]})
    assert {one.schedule["algorithm"] for one in candidates(strided)} == {"direct"}
    with pytest.raises(SettingsError, match="winograd takes 3 x 3 taps with stride 1"):
        read_request({"op": "conv2d", "stride": 2, "schedule": {"algorithm": "winograd"}})
