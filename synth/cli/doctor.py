"""``doctor``: versions, and what each feature lacks on this machine."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version

from synth.codegen.translator import Translator, bundled_nvrtc, check_warp_version
from synth.dataset.settings import Versions, make_settings
from synth.errors import UnsupportedWarpError
from synth.rows.maker import PairMaker, Row
from synth.run.tally import Tally
from synth.run.unit import first_accepted
from validate.errors import CompileUnavailable, GpuUnavailable, OpenclUnavailable
from validate.gpu.device import devices
from validate.gpu.runner import GpuOptions, run_rows
from validate.host.runner import HostRunner
from validate.nvrtc.compiler import compile_rows
from validate.nvrtc.disassembler import disassembler
from validate.nvrtc.program import nvrtc_version
from validate.opencl.runner import OpenclRunner
from validate.statuses import CompileStatus, RunStatus
from validate.text.headers import warp_include_dir

_PACKAGES = (
    "pairsmith",
    "warp-lang",
    "numpy",
    "pyarrow",
    "datasets",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "ray",
    "huggingface-hub",
    "tokenizers",
)


def report() -> list[str]:
    """Lines to print: the machine, package versions, then one line a feature."""
    lines = [f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"]
    lines += [f"{name} {_version(name)}" for name in _PACKAGES]
    lines.append(f"NVRTC {_nvrtc()}")
    lines.append(f"NVRTC bundled with Warp {_warp_nvrtc()}")
    lines.append(f"C++ compiler {_compiler()}")
    lines.append(f"GPU and NVIDIA driver {_driver()}")
    lines += ["", *_features()]
    return lines


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _nvrtc() -> str:
    try:
        return (
            f"{nvrtc_version()}, from the wheel nvidia-cuda-nvrtc {_version('nvidia-cuda-nvrtc')}"
        )
    except CompileUnavailable as error:
        return f"not found: {error}"


def _warp_nvrtc() -> str:
    try:
        check_warp_version()
    except UnsupportedWarpError:
        return "unknown"
    return bundled_nvrtc() or "of unknown version"


def _compiler() -> str:
    found = [name for name in ("g++", "clang++") if shutil.which(name)]
    return f"{' and '.join(found) or 'not found'} (not needed: Warp brings Clang)"


def _driver() -> str:
    if shutil.which("nvidia-smi") is None:
        return "not found"
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip().replace("\n", "; ") if done.returncode == 0 else "not working"


def _features() -> list[str]:
    try:
        check_warp_version()
    except UnsupportedWarpError as error:
        return [f"generate: no ({error})"]
    rows = _one_pair()
    memo = "on" if Translator().memo_active else "off: Warp's own, slower overload resolution"
    return [
        f"generate --verify text: ready (memoised overload resolution {memo})",
        f"generate and validate --verify run: {_host_run(rows)}",
        f"load_dataset: {_needs('datasets', 'pip install datasets')}",
        f"compile check with NVRTC (validate.nvrtc.compiler): {_compile_check(rows)}",
        f"compile --emit sass: {_disassembly()}",
        f"validate --target opencl: {_opencl()}",
        f"views with --tokenizer: {_needs('tokenizers', _extra('views'))}",
        f"publish: {_needs('huggingface_hub', _extra('publish'))}",
        f"gpu run and bench: {_gpu_run(rows)}",
    ]


def _one_pair() -> list[Row]:
    settings = make_settings(verify="text")
    tally = Tally()
    accepted = first_accepted(settings, (0, settings.categories[0]), 0, tally)
    return PairMaker(settings, Versions.installed()).rows([accepted])


def _host_run(rows: list[Row]) -> str:
    """Run the CUDA text of a pair: the feature itself, not its parts."""
    with HostRunner() as runner:
        result = runner.run(rows)[0]
    if result.status == RunStatus.AGREES:
        return "ready (Warp's bundled Clang; one pair was made, run and compared)"
    return f"no ({result.status}: {result.reason})"


def _compile_check(rows: list[Row]) -> str:
    """Compile a pair: the feature itself, not its parts."""
    try:
        (result,) = compile_rows(rows)
    except CompileUnavailable as error:
        return f"no ({error})"
    if result.status == CompileStatus.COMPILES:
        return f"ready (one pair was made and compiled for {' '.join(result.archs)})"
    return f"no ({result.status}: {result.log.splitlines()[0]})"


def _disassembly() -> str:
    try:
        found = disassembler()
    except CompileUnavailable as error:
        return f"no ({error})"
    return f"ready (nvdisasm {found.version})"


def _opencl() -> str:
    """Start the runtime: the feature itself, not its parts."""
    try:
        with OpenclRunner() as runner:
            return f"ready ({runner.start()})"
    except OpenclUnavailable as missing:
        return f"no ({missing})"


def _gpu_run(rows: list[Row]) -> str:
    """Run a pair on the first GPU: the feature itself, not its parts."""
    try:
        found = devices()[:1]
        options = GpuOptions(include_dir=warp_include_dir(), large_elements=0)
        (verdict,) = run_rows(rows, found, options)
    except (GpuUnavailable, CompileUnavailable) as missing:
        return f"no ({missing})"
    if verdict.passed:
        return f"ready (one pair was compiled for and run on {found[0].name})"
    return f"no ({'; '.join(f'{r.text}: {r.status}: {r.reason}' for r in verdict.results)})"


def _extra(name: str) -> str:
    return f"pip install 'pairsmith[{name}]'"


def _needs(module: str, remedy: str) -> str:
    return "ready" if importlib.util.find_spec(module) else f"no ({remedy})"
