"""A kernel that misbehaves becomes one rejected row with its reason, and the run goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.check.dataset import check_dataset
from synth.dataset.settings import make_settings
from synth.rows.maker import PairMaker, Row
from synth.rows.verify import Verifier
from synth.run import generate as run
from synth.run import unit

BREAKS = {
    "again:; if (dim.size > 0) goto again;": "timeout",
    "write before the array": "wrote_out_of_bounds",
    "__builtin_trap();": "crashed",
    "for (;;) { char* p = (char*)malloc(1 << 24); "
    "for (int b = 0; b < (1 << 24); b += 512) p[b] = 1; }": "out_of_memory",
    "this is no C++;": "compile_error",
    "plain: this is no C++;": "plain_compile_error",
    "plain: return;": "plain_wrong_value",
}


def _broken(row: Row, statement: str) -> None:
    out = next(arg for arg in row["args"] if arg["role"] != "in")
    if statement.startswith("plain: "):
        head, brace, body = row["cuda_plain"].rpartition("\n{\n")
        row["cuda_plain"] = f"{head}{brace}    {statement.removeprefix('plain: ')}\n{body}"
        return
    if statement == "write before the array":
        statement = f"*(char*)(var_{out['name']}.data - 1) = 0;"
    row["cuda_forward"] = row["cuda_forward"].replace("//---------", f"{statement}\n//---------", 1)


def test_each_way_of_misbehaving_costs_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = list(BREAKS)

    class Saboteur(PairMaker):
        def rows(self, accepted: Any) -> list[Row]:
            made = super().rows(accepted)
            for row in made:
                if left:
                    _broken(row, left.pop())
            return made

    settings = make_settings(verify="run", categories_asked=("math",))
    monkeypatch.setattr(unit, "pair_maker", Saboteur)
    out = tmp_path / "out"
    manifest = run.generate(settings, 16, out)
    assert manifest.rows == 16
    lines = (out / "rejected" / "rejected.jsonl").read_text().splitlines()
    rejected = [json.loads(line) for line in lines]
    assert sorted(row["reason"] for row in rejected) == sorted(BREAKS.values())
    assert all(row["detail"] for row in rejected)
    assert manifest.draws["failed_checks"] == len(BREAKS)
    assert check_dataset(out, "text").good


def test_an_adjoint_that_does_not_agree_leaves_no_trace(tmp_path: Path) -> None:
    """Neither the backward kernel nor the adjoint functions of helpers are published."""

    run.generate(
        make_settings(verify="run", categories_asked=("control_flow",)), 24, tmp_path / "o"
    )
    rows = [r for p in (tmp_path / "o").glob("*/shard-*") for r in pq.read_table(p).to_pylist()]
    without = [row for row in rows if row["checks"]["adjoint"] != "agrees"]
    assert any("struct " not in row["cuda_helpers"] for row in without)
    for row in without:
        assert row["cuda_backward"] is None
        # A struct's own functions are there in any case.
        if "struct " not in row["cuda_helpers"]:
            assert not re.search(r"wp::adj_|\badj_\w+\(.*\);", row["cuda_helpers"])
    assert all(row["cuda_backward"] for row in rows if row["checks"]["adjoint"] == "agrees")


def test_nothing_is_started_for_nothing() -> None:
    settings = make_settings(verify="text")
    verifier = Verifier(settings, unit.Versions.installed())
    assert verifier.verify([], []) == []
    verifier.close()
