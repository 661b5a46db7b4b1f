"""Calls that rows share: what is rewritten, what stands, and that the machine does the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hand_rows import Row, all_rows, soft_clamp, structs

from validate.host import clang
from validate.host.texts import Kept, WarpCases
from validate.statuses import RunStatus
from validate.text.headers import warp_include_dir
from validate.text.warp_calls import SharedCalls

HELPER = """static CUDA_CALLABLE wp::float32 f_0(
    wp::float32 var_x)
{
    wp::float32 var_0;
    const wp::float32 var_1 = 2.0;
    var_0 = wp::mul(var_x, var_1);
    return var_0;
}
"""


def rewritten(helpers: str) -> tuple[str, SharedCalls]:
    shared = SharedCalls()
    return shared.rewritten({**soft_clamp(), "cuda_helpers": helpers})["cuda_helpers"], shared


def test_a_call_is_made_by_address_and_says_its_types() -> None:
    text, shared = rewritten(HELPER)
    assert "    pairsmith_calls->call_0(&var_0, &var_x, &var_1);\n    return var_0;" in text
    assert shared.calls[0].function_named("f") == (
        "static void f(wp::float32* p0, wp::float32* p1, const wp::float32* p2) "
        "{ *p0 = wp::mul(*p1, *p2); }"
    )


def test_calls_of_one_kind_are_one() -> None:
    text, shared = rewritten(HELPER + HELPER.replace("f_0", "f_1"))
    own = [call for call in shared.calls if call.function == "mul" and len(call.given) == 2]
    assert text.count("call_0(") == 2
    assert shared.calls[0] in own


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("wp::mul(var_x, var_1)", "wp::mul(var_x, 2.0)"),
        ("wp::mul(var_x, var_1)", "wp::mul(var_x, wp::neg(var_1))"),
        ("    wp::float32 var_0;\n", "    wp::float32 var_0;\n    wp::float64 var_x;\n"),
        ("wp::float32 var_x)", "Own var_x)"),
        ("    return", '    printf("wp");\n    return'),
        ("    return", "    int wp = 3;\n    return"),
        ("    return", "    using namespace wp;\n    return"),
    ],
)
def test_what_could_mean_something_else_stands_as_it_is(old: str, new: str) -> None:
    assert old in HELPER
    changed = HELPER.replace(old, new)
    assert rewritten(changed)[0] == changed


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> WarpCases:
    return WarpCases(tmp_path_factory.mktemp("calls"), Kept())


def written(cases: WarpCases, rows: list[Row], name: str) -> list[list[Mapping[str, Any]]]:
    """What the forward kernels of rows write when they are compiled together."""
    path = Path(cases.folder) / f"{name}.o"
    cases.build(rows, path, warp_include_dir())
    clang.load(path, name)
    cases.loaded(name)
    found = []
    for position, row in enumerate(rows):
        assert cases.run(row, cases.entry(name, position, row)).status == RunStatus.AGREES
        found.append([ran.outputs for ran in cases.kept.take(row)])
    clang.unload(name)
    return found


def test_kernels_that_share_calls_write_the_same_bits_as_alone(cases: WarpCases) -> None:
    rows = [*all_rows(), structs()]
    twice = [written(cases, rows, f"together_{turn}") for turn in range(2)]
    for position, row in enumerate(rows):
        (alone,) = written(cases, [row], f"alone_{position}")
        for together in twice:
            for one, other in zip(alone, together[position], strict=True):
                assert one.keys() == other.keys()
                assert all(one[key].tobytes() == other[key].tobytes() for key in one)
