"""How a GPU run shares out rows and what a broken process costs, with a worker that stands in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stand_in_worker import HANGS

from validate.errors import GpuUnavailable
from validate.gpu import runner as gpu
from validate.gpu.device import Device
from validate.gpu.result import TEXTS
from validate.gpu.runner import GpuOptions, RowVerdict, default_workers, run_rows
from validate.process.parent import WorkerProcess

DEVICE = Device(0, "stand-in", "GPU-0", "sm_90", 8 << 30, 1, 1 << 20, "13.0", "13.0", "0")


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "WORKER", "stand_in_worker")
    monkeypatch.setattr(WorkerProcess, "receive_bytes", _by_its_own_word)


_receive_bytes = WorkerProcess.receive_bytes


def _by_its_own_word(worker: WorkerProcess, timeout_s: float) -> bytes:
    """What a process sends; its time is over as soon as it says that it hangs."""
    hangs = worker.folder / HANGS
    while not worker.connection.poll(0.02):
        if hangs.exists():
            hangs.unlink()
            return _receive_bytes(worker, 0.0)
    return _receive_bytes(worker, timeout_s)


def row(name: str, behaves: str = "well", spoils: str = "") -> dict[str, Any]:
    return {"id": name, "behaves": behaves, "spoils": spoils}


def run(rows: list[dict[str, Any]], **options: Any) -> dict[str, RowVerdict]:
    chosen = GpuOptions(include_dir=Path(), **options)
    found = list(run_rows(rows, [DEVICE], chosen))
    assert len(found) == len(rows)
    return {verdict.row["id"]: verdict for verdict in found}


def test_every_row_is_answered_once_by_several_processes() -> None:
    found = run([row(str(n)) for n in range(50)], workers=2, batch_size=7)
    assert sorted(found, key=int) == [str(n) for n in range(50)]
    assert all(v.passed and not v.alone and v.device == "GPU-0" for v in found.values())
    assert {verdict.batch for verdict in found.values()} == set(range(8))


@pytest.mark.parametrize(
    ("behaves", "status"),
    [("lost", "launch_error"), ("crash", "launch_error"), ("hang", "timeout")],
)
@pytest.mark.parametrize("text", TEXTS)
def test_a_broken_process_costs_its_text_alone(behaves: str, status: str, text: str) -> None:
    rows = [row("a"), row("b"), row("guilty", behaves, text), row("c"), row("d", behaves, text)]
    found = run(rows)
    assert [key for key, verdict in found.items() if verdict.alone] == ["guilty", "d"]
    for key, verdict in found.items():
        statuses = {result.text: result.status for result in verdict.results}
        wrong = {text: status} if key in ("guilty", "d") else {}
        assert statuses == dict.fromkeys(TEXTS, "passed") | wrong, key


def test_a_bug_of_ours_ends_the_run() -> None:
    with pytest.raises(RuntimeError, match="a bug of ours"):
        run([row("a"), row("b", "bug", "plain"), row("c")])


def test_a_missing_gpu_ends_the_run() -> None:
    with pytest.raises(GpuUnavailable, match="no GPU"):
        run([row("a", "missing", "forward")])


def test_a_run_that_is_left_ends_its_processes() -> None:
    verdicts = run_rows(
        (row(str(n)) for n in range(10_000)), [DEVICE], GpuOptions(include_dir=Path(), workers=2)
    )
    assert next(iter(verdicts)).passed
    verdicts.close()


def test_processes_follow_cores_and_memory() -> None:
    assert default_workers([DEVICE]) in (1, 2)
    assert default_workers([DEVICE] * 1000) == 1
