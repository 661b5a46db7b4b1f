"""What draws, proves and judges rows where Warp is not installed and cannot be: a tar.xz.

Run: python scripts/measure/judge/kit.py KIT.tar.xz        (needs g++, takes a minute)
There: mkdir site && tar -xf KIT.tar.xz -C site && PYTHONPATH=site:. python …

Warp's Python and headers as they are, Clang's library, 68 MB of which 18 are left; Warp's own has
285 MB, of which only the runtime of blocks is asked for: it is built from the sources that the
wheel brings along. With it go the packages of plain Python that machines for training do not have.
That machine needs NumPy, PyArrow, cuda-bindings and NVRTC. `wp.init()` does not work there: text
and host runs never call it.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from validate.text.headers import warp_include_dir

_SOURCES = ("cpu_block_runtime.cpp", "cpu_fiber.cpp")
_ASSERT = """#include <cstdlib>
extern "C" void _wp_assert(const char*, const char*, unsigned int) { std::abort(); }
"""
"""What a failed assertion of theirs calls, which stands in a library of CUDA's kind."""
_PURE = (
    "click",
    "fastjsonschema",
    "fsspec",
    "markdown_it",
    "mdurl",
    "platformdirs",
    "pygments",
    "rich",
    "tqdm",
)
"""Packages of Python alone that machines for training may not have: `cli` imports them."""
_LEFT_OUT = {"__pycache__", "bin", "examples", "tests"}
"""Folders of Warp that nothing here asks for."""


def build_core(native: Path, target: Path) -> None:
    """A `warp.so` with nothing but the runtime of blocks."""
    ours = target.with_suffix(".cpp")
    ours.write_text(_ASSERT)
    sources = [str(ours), *(str(native / name) for name in _SOURCES)]
    flags = ["-O2", "-shared", "-fPIC", "-std=c++17", "-DNDEBUG", "-static-libstdc++"]
    command = ["g++", *flags, "-static-libgcc", f"-I{native}", "-o", str(target), *sources]
    subprocess.run(command, check=True)


def write_kit(out: Path) -> None:
    """Write the archive; it unpacks into a folder for PYTHONPATH."""
    native = warp_include_dir()
    with tempfile.TemporaryDirectory() as folder, tarfile.open(out, "w:xz", preset=9) as archive:
        core = Path(folder) / "warp.so"
        build_core(native, core)
        archive.add(core, "warp/bin/warp.so")
        archive.add(native.parent / "bin" / "warp-clang.so", "warp/bin/warp-clang.so")
        _add_folder(archive, native.parent, "warp", _LEFT_OUT)
        for path in metadata.files("warp-lang") or ():
            if path.parts[0].endswith(".dist-info"):
                archive.add(path.locate(), path.as_posix())
        _add_own_version(archive)
        for name in _PURE:
            spec = find_spec(name)
            assert spec is not None
            assert spec.origin is not None
            _add_folder(archive, Path(spec.origin).parent, name, {"__pycache__"})


def _add_folder(archive: tarfile.TarFile, folder: Path, name: str, left_out: set[str]) -> None:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not left_out.intersection(inside.parts):
            archive.add(path, f"{name}/{inside.as_posix()}")


def _add_own_version(archive: tarfile.TarFile) -> None:
    """What a dataset's manifest asks of an installed pairsmith, whose sources come otherwise."""
    version = metadata.version("pairsmith")
    said = f"Metadata-Version: 2.1\nName: pairsmith\nVersion: {version}\n".encode()
    entry = tarfile.TarInfo(f"pairsmith-{version}.dist-info/METADATA")
    entry.size = len(said)
    archive.addfile(entry, io.BytesIO(said))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    write_kit(out)
    print(f"{out}: {out.stat().st_size / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
