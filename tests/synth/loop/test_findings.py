"""What a model is told beside the verdict: facts of lines, needs of kernels, hardware."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.errors import SettingsError
from synth.loop.findings import Findings, said
from synth.loop.hardware import arch_of, hardware_of
from synth.loop.prompts import feedback_of
from synth.loop.tasks import Tasks, dataset_rows
from synth.loop.text_facts import text_facts
from validate.row.archs import DEFAULT_ARCH
from validate.statuses import ScoreStatus

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"


def kernel(body: str) -> str:
    return f"""
extern "C" __global__ void k(const float* x, float* y, int n, int m)
{{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    __shared__ float tile[32][32];
    __shared__ float padded[32][33];
    {body}
}}
"""


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("if (i < n) { __syncthreads(); }", ["barrier"]),
        ("for (int p = threadIdx.x; p < n; p += 32) { __syncthreads(); }", ["barrier"]),
        ("if (blockIdx.x < n) { __syncthreads(); }", []),
        ("if (i < n) { y[i] = 1.0f; }\n    __syncthreads();", []),
        ("// if (i < n) { __syncthreads(); }", []),
        ("y[i * m + 1] = 0.0f;", ["stride"]),
        ("y[m * i] = x[i];", ["stride"]),
        ("for (int p = 0; p < m; ++p) y[p * n + i] = x[n - i];", []),
        ("y[i / m * m] = 0.0f;", []),
        ("y[blockIdx.x * m + threadIdx.x] = 0.0f;", []),
        ("y[i] = tile[threadIdx.x][0];", ["banks"]),
        ("y[i] = padded[threadIdx.x][0];", []),
        ("y[i] = tile[0][threadIdx.x];", []),
        ("y[i] = tile[threadIdx.x][lane];", []),
        ("y[i] = 'a;", []),
    ],
)
def test_a_text_tells_facts_of_its_lines(body: str, kinds: list[str]) -> None:
    facts = text_facts(kernel(body))
    assert [fact.kind for fact in facts] == kinds
    assert all(fact.line >= 8 for fact in facts)


def test_kernels_need_registers_and_spill() -> None:
    (entry,) = Tasks(dataset_rows(SAMPLES), "sft", 1)
    row = json.loads(entry["metadata"]["row"])
    many = " ".join(f"float v{k} = out[tid + {k}];" for k in range(200))
    work = " ".join(f"out[tid + {k}] = v{k} * v{(k + 7) % 200};" for k in range(200))
    text = f"""
extern "C" __global__ void __launch_bounds__(1024) k(float* out, int tid) {{ {many} {work}
    __shared__ float held[64];
    held[threadIdx.x % 64] = out[tid]; __syncthreads(); out[0] = held[(threadIdx.x + 1) % 64]; }}
```

```json
{{"grid": ["1"], "block": [1024]}}
```"""
    with Findings() as findings:
        found = findings.of(f"```cuda\n{text}", row)
        assert findings.of("nothing", row) == {"needs": [], "facts": []}
        whole = findings.of(entry["answer"], row)
    (one,) = found["needs"]
    assert (one["registers"] <= 64, one["spill_bytes"] > 0) == (True, True)
    assert (one["shared_bytes"], one["block_threads"]) == (256, 1024)
    assert "bytes of spills, 256 bytes of shared memory a block" in said(found)
    assert whole["needs"][0]["registers"] > 0
    told = feedback_of(row, ScoreStatus.WRONG_VALUE, "y: 1 % differ", found, "stop", full=False)
    assert "Of the text as it is:\n\n- `k` on sm_90" in told


def test_hardware_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hardware_of("") == ""
    assert hardware_of("an RTX 4090 (sm_89)") == "an RTX 4090 (sm_89)"
    assert "2048 threads in up to 32 blocks" in hardware_of("sm_90")
    assert arch_of(hardware_of("sm_80")) == "sm_80"
    assert arch_of("something") == DEFAULT_ARCH
    with pytest.raises(SettingsError, match="known are sm_75"):
        hardware_of("sm_1")
    monkeypatch.setattr("synth.loop.hardware.devices", lambda: [])
    with pytest.raises(SettingsError, match="no GPU is visible"):
        hardware_of("here")
