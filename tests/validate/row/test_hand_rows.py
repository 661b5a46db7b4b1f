"""The hand-written rows of the other tests are good rows."""

from __future__ import annotations

from typing import Any

import pytest
from hand_rows import MAKERS

from validate.row.schema import check_row


@pytest.mark.parametrize("make", MAKERS)
def test_hand_written_rows_are_good_rows(make: Any) -> None:
    assert check_row(make()) == []
