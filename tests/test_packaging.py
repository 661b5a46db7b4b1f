"""The wheel is whole: what it installs makes a row and checks it, far from the checkout."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("extract", "generators", "synth", "validate")
MODULES = ("pairsmith.py",)
SHIPPED = (".clang-format", ".css", ".h", ".html", ".js", ".json", ".py")


def _run(*command: str | Path, cwd: Path, **more: str) -> str:
    """Standard output of a command that knows nothing of the checkout and must end well."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")
    environment = {k: v for k, v in os.environ.items() if k not in hidden} | more
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _setuptools() -> int:
    """The major version of setuptools here, 0 without; pip fetches one when it is too old."""
    try:
        return int(version("setuptools").partition(".")[0])
    except PackageNotFoundError:
        return 0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the sources, built in a copy so that nothing of a build stays in the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    skipped = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, sources / package, ignore=skipped)
    for name in (*MODULES, "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources / name)
    build = ["-m", "pip", "wheel", "--quiet", "--no-deps"]
    alone = ["--no-build-isolation"] if _setuptools() >= 77 else []
    _run(sys.executable, *build, *alone, "--wheel-dir", folder, sources, cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an empty environment with the wheel in it, and links to the dependencies.

    Links to the packages of the present environment, and not a path to it: finders look for
    libraries beside the packages, and an editable install of the checkout stays out of sight.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    purelib = _run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
    ).strip()
    install = ["-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    _run(sys.executable, *install, "--no-index", wheel, cwd=folder)
    for packages in map(Path, site.getsitepackages()):
        for path in packages.iterdir() if packages.is_dir() else ():
            ours = path.name.startswith(("pairsmith", "__editable__", "__pycache__", *PACKAGES))
            there = Path(purelib) / path.name
            if not ours and path.suffix not in (".pth", ".egg-link") and not there.exists():
                there.symlink_to(path)
    return python


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.name.endswith(SHIPPED) and path.is_file()
    }
    kinds = {next(kind for kind in SHIPPED if name.endswith(kind)) for name in files}
    assert kinds == set(SHIPPED)
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith(PACKAGES + MODULES)}
    assert inside == files | set(MODULES)


def test_an_installed_wheel_makes_a_row_and_proves_it(installed: Path, tmp_path: Path) -> None:
    places = json.loads(_run(installed, "-c", _where(), cwd=tmp_path))
    home = installed.parents[1].resolve()
    assert set(places) == set(PACKAGES)
    assert all(Path(place).resolve().is_relative_to(home) for place in places.values()), places
    cache = str(tmp_path / "cache")
    _run(
        installed.parent / "pairsmith",
        *("generate", "-n", "1", "-o", "out", "--verify", "run", "--workers", "1", "--quiet"),
        cwd=tmp_path,
        XDG_CACHE_HOME=cache,
    )
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["rows"] == 1
    shown = _run(installed.parent / "pairsmith", "show", "out", cwd=tmp_path)
    assert "run on the host: agrees" in shown


def _where() -> str:
    """A program that prints where each package was imported from."""
    names = ", ".join(f"{name!r}: {name}.__file__" for name in PACKAGES)
    return f"import json, {', '.join(PACKAGES)}; print(json.dumps({{{names}}}))"
