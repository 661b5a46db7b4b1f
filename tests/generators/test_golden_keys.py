"""Programs stay what they were: a refactoring moves no rename key of any idiom."""

from __future__ import annotations

import json

from golden_keys import FILE, all_keys


def test_no_program_changed_by_the_way() -> None:
    pinned = json.loads(FILE.read_text())
    now = all_keys()
    moved = sorted({n for n in {*pinned, *now} if pinned.get(n) != now.get(n)})
    assert not moved, (
        f"{len(moved)} cells draw other programs, such as {moved[:3]}; if that is meant, run "
        "tests/support/golden_keys.py and say in notes/ why"
    )
