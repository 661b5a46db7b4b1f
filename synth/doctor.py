"""``doctor``: versions, and what each feature lacks on this machine."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version

from synth.codegen import Translator, bundled_nvrtc, check_warp_version
from synth.errors import UnsupportedWarpError
from synth.pair import PairMaker
from synth.settings import Versions, make_settings
from synth.unit import Tally, first_accepted
from validate.host import HostRunner

_PACKAGES = ("pairsmith", "warp-lang", "numpy", "pyarrow", "datasets", "cupy-cuda12x", "ray")


def report() -> list[str]:
    """Lines to print: the machine, package versions, then one line a feature."""
    lines = [f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"]
    lines += [f"{name} {_version(name)}" for name in _PACKAGES]
    lines.append(f"NVRTC {_nvrtc()}")
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
        check_warp_version()
    except UnsupportedWarpError:
        return "unknown: it comes with Warp"
    return f"{bundled_nvrtc() or 'of unknown version'}, bundled with Warp"


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
    memo = "on" if Translator().memo_active else "off: Warp's own, slower overload resolution"
    return [
        f"generate --verify text: ready (memoised overload resolution {memo})",
        f"generate and validate --verify run: {_host_run()}",
        f"load_dataset: {_needs('datasets', 'pip install datasets')}",
        "compile check with NVRTC, runs on a GPU: no (not part of this version)",
    ]


def _host_run() -> str:
    """Make one pair and run its CUDA text: the feature itself, not its parts."""
    settings = make_settings(verify="text")
    tally = Tally()
    accepted = first_accepted(settings, (0, settings.categories[0]), 0, lambda _a: "", tally)
    rows = PairMaker(settings, Versions.installed()).rows([accepted])
    with HostRunner() as runner:
        result = runner.run(rows)[0]
    if result.status == "agrees":
        return "ready (Warp's bundled Clang; one pair was made, run and compared)"
    return f"no ({result.status}: {result.reason})"


def _needs(module: str, remedy: str) -> str:
    return "ready" if importlib.util.find_spec(module) else f"no ({remedy})"
