"""Ray gives the bytes of the local engine, also when a worker or a machine of it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kills import contents

from synth.dataset.manifest import Manifest
from synth.dataset.settings import make_settings
from synth.errors import SettingsError
from synth.gpu.on_ray import RayGpus, files_of, run_on_a_gpu
from synth.gpu.output import ROW_KEYS
from synth.run import generate as run
from synth.run.ray_engine import RayEngine
from validate.errors import GpuUnavailable
from validate.gpu.device import Device
from validate.gpu.runner import GpuOptions

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'pairsmith[ray]'")

ROOT = Path(__file__).resolve().parents[3]
N = 144
"""Three units: when the first of two workers has one, both are busy."""
# Ray would otherwise reserve a third of the memory.
STORE_BYTES = 100 << 20


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ray") / "out"
    _make(out)
    return out


def _make(out: Path, **options: Any) -> Manifest:
    return run.generate(make_settings(verify="text"), N, out, shard_size=60, **options)


class Cluster:
    """Two machines of one core each, as processes here, and a head without any."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster as Machines

        common = {"object_store_memory": STORE_BYTES, "include_dashboard": False}
        self.machines = Machines(initialize_head=True, head_node_args={"num_cpus": 0, **common})
        self.nodes = [
            self.machines.add_node(num_cpus=1, object_store_memory=STORE_BYTES) for _ in range(2)
        ]
        self.machines.wait_for_nodes()

    @property
    def address(self) -> str:
        return str(self.machines.address)

    def lose_a_machine(self) -> None:
        self.machines.remove_node(self.nodes.pop(), allow_graceful=False)

    def kill_a_worker(self) -> None:
        victim = _busy_workers()[0]
        os.kill(victim, signal.SIGKILL)

    def stop(self) -> None:
        self.machines.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    found = Cluster()
    try:
        yield found
    finally:
        found.stop()


def _busy_workers() -> list[int]:
    """Processes that Ray has named after the task that they do."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::_checked_task"):
                found.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _later(work: Path, act: Callable[[], None]) -> threading.Thread:
    """Act once the first unit is there and a worker is busy."""

    def wait() -> None:
        while not list(work.glob("unit-*")) or not _busy_workers():
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_no_cluster_and_other_versions_are_said_in_one_line(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match=r"no Ray at 127\.0\.0\.1:1"):
        RayEngine("127.0.0.1:1", None)
    # The digest of the sources is this process's own idea of them here.
    monkeypatch.setattr("synth.dataset.settings.source_digest", lambda: "0123456789abcdef")
    with pytest.raises(SettingsError, match=r"code .* in place of 0123456789abcdef"):
        _make(tmp_path / "out", engine=RayEngine(cluster.address, None))
    with pytest.raises(SettingsError, match="is neither host:port nor auto"):
        RayEngine("somewhere", None)


def test_a_gpu_run_on_a_cluster_without_one_is_refused(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GpuUnavailable, match=r"Ray at .* has none"):
        RayGpus(cluster.address)
    # A machine that says it has a GPU and has none: the task finds out, and nothing runs elsewhere.
    boast = cluster.machines.add_node(num_cpus=1, num_gpus=1, object_store_memory=STORE_BYTES)
    cluster.machines.wait_for_nodes()
    gpus = RayGpus(cluster.address)
    try:
        with pytest.raises(GpuUnavailable):
            list(gpus.run([{"id": "a"}], GpuOptions(include_dir=ROOT / "tests" / "gpu")))
    finally:
        gpus.close()
        cluster.machines.remove_node(boast)


def test_a_task_runs_its_rows_with_the_headers_that_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.gpu.runner.WORKER", "stand_in_worker")
    device = Device(0, "stand-in", "GPU-0", "sm_90", 8 << 30, 1, 1 << 20, "13.0", "13.0", "0")
    monkeypatch.setattr("synth.gpu.on_ray.devices", lambda: [device])
    rows = [
        {
            "id": str(n),
            "category": "math",
            "idiom": "i",
            "level": 1,
            "behaves": "well",
            "spoils": "",
        }
        for n in range(5)
    ]
    headers = files_of(ROOT / "tests" / "gpu")
    monkeypatch.setattr("synth.gpu.on_ray.versions", lambda: {"nvrtc": "0"})
    found, made_by, verdicts = run_on_a_gpu(rows, GpuOptions(Path(), workers=0), headers)
    assert (found, made_by) == (device, {"nvrtc": "0"})
    assert sorted(v.row["id"] for v in verdicts) == [row["id"] for row in rows]
    assert all(v.passed and set(v.row) == set(ROW_KEYS) for v in verdicts)
    assert headers["conftest.py"] == (ROOT / "tests" / "gpu" / "conftest.py").read_bytes()


@pytest.mark.parametrize("event", ["kill_a_worker", "lose_a_machine"])
def test_a_cluster_gives_the_bytes_of_one_process(
    straight: Path, tmp_path: Path, cluster: Cluster, event: str
) -> None:
    out = tmp_path / "out"
    engine = RayEngine(cluster.address, None)
    acted = _later(out / "work", getattr(cluster, event))
    _make(out, engine=engine)
    acted.join(timeout=60)
    assert not acted.is_alive(), "the run was over before anything died"
    assert contents(out) == contents(straight)


def test_the_command_starts_ray_here(straight: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "synth", "generate", "-n", str(N), "-o", str(tmp_path / "out")]
    options = ["--verify", "text", "--shard-size", "60", "--engine", "ray", "--workers", "2"]
    done = subprocess.run(
        [*command, *options, "--quiet"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "out") == contents(straight)
