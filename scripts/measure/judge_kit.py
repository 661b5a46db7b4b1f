"""The least of Warp that a judge of plain CUDA needs, for a machine that has no Warp: a tar.xz.

Run: python scripts/measure/judge_kit.py KIT.tar.xz        (needs g++, takes a minute)
There: mkdir site && tar -xf KIT.tar.xz -C site && PYTHONPATH=site:. python …

Clang's library as it is, 68 MB of which 18 are left; Warp's own has 285 MB, of which only the
runtime of blocks is asked for: it is built from the sources that the wheel brings along. That
machine needs NumPy, cuda-bindings and NVRTC. `import warp` does not work there, nor what runs
Warp's CUDA.
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
_PURE = ("fastjsonschema",)
"""Packages of one file or folder of Python that machines for training do not have."""
_COPIED = (".py", ".h")


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
    version = metadata.version("warp-lang")
    said = f"Metadata-Version: 2.1\nName: warp-lang\nVersion: {version}\n"
    with tempfile.TemporaryDirectory() as folder, tarfile.open(out, "w:xz", preset=9) as archive:
        core = Path(folder) / "warp.so"
        build_core(native, core)
        archive.add(core, "warp/bin/warp.so")
        archive.add(native.parent / "bin" / "warp-clang.so", "warp/bin/warp-clang.so")
        _add_text(archive, "warp/__init__.py", '"""A part of Warp: its Clang."""\n')
        _add_text(archive, f"warp_lang-{version}.dist-info/METADATA", said)
        for name in _PURE:
            spec = find_spec(name)
            assert spec is not None
            assert spec.origin is not None
            place = Path(spec.origin).parent
            for path in sorted(place.rglob("*")):
                if path.suffix in _COPIED:
                    archive.add(path, f"{name}/{path.relative_to(place).as_posix()}")


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    archive.addfile(entry, io.BytesIO(text.encode()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    write_kit(out)
    print(f"{out}: {out.stat().st_size / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
