#!/usr/bin/env bash
# The whole GPU suite on a machine with a GPU: versions, tests, a run, a benchmark, a summary.
#
#   scripts/run_gpu_tests.sh [OUT]
#
# OUT is a dataset folder, data/samples by default; Warp's headers lie in its include/, or Warp is
# installed. Needs Python 3.10+ with NumPy, PyArrow, CuPy, click, tqdm and pytest; neither Warp
# itself nor `datasets`. Exit code 0 when all went well, 1 when something failed, 2 without a GPU.
set -uo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-data/samples}
PYTHON=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)}
ROWS=${BENCH_ROWS:-60}

echo "== versions"
"$PYTHON" - <<'PY' || exit 2
import platform
import sys

from validate.errors import CompileUnavailable, GpuUnavailable
from validate.gpu.device import devices
from validate.gpu.nvrtc import version_for_gpus

try:
    found = devices()
    print(f"Python {platform.python_version()}, NVRTC {version_for_gpus()}, CuPy {found[0].cupy}")
except (GpuUnavailable, CompileUnavailable) as missing:
    sys.exit(f"run_gpu_tests: {missing}")
for device in found:
    print(f"GPU {device.index}: {device.name}, {device.uuid}, {device.arch}, "
          f"driver for CUDA {device.driver}, CUDA runtime {device.cuda}")
PY

failed=0
declare -a summary

step() {
    local name=$1 began=$SECONDS
    shift
    echo "== $name"
    if "$@"; then
        summary+=("$(printf '%-28s ok      %5d s' "$name" $((SECONDS - began)))")
    else
        summary+=("$(printf '%-28s FAILED  %5d s' "$name" $((SECONDS - began)))")
        failed=1
    fi
}

step "tests" env PAIRSMITH_GPU_DATASET="$OUT" "$PYTHON" -m pytest tests/gpu -q -p no:cacheprovider
step "gpu run $OUT" "$PYTHON" -m synth gpu run "$OUT" --quiet
step "gpu bench $OUT" "$PYTHON" -m synth gpu bench "$OUT" --rows "$ROWS" --quiet

echo "== summary"
printf '%s\n' "${summary[@]}"
exit $failed
