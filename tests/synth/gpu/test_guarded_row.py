"""The row that the tests on a GPU plant faults in, which only they use."""

from __future__ import annotations

from gpu_tools import ROOT, guarded_row


def test_the_samples_have_a_row_to_plant_faults_in() -> None:
    row = guarded_row(ROOT / "data" / "samples")
    assert "const int i = blockIdx.x * blockDim.x + threadIdx.x;" in row["cuda_plain"]
    assert "gridDim" not in row["cuda_plain"]
    assert [launch["block"] for launch in row["plain_launch"]] == [[128]]
