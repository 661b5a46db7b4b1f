"""Files as the modules that they are, modules by their names, and what they lack."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from synth.harvest.files import Options, harvest, sources_of
from synth.harvest.lacking import distributions_for
from synth.harvest.module_order import ModuleDraft
from synth.harvest.output import table
from synth.harvest.places import homes, module_of, modules_called
from synth.harvest.requirements import names_of, required_by_project

KERNEL = """
    import warp as wp
    from .. import sizes
    from helpers_beside import GAIN

    @wp.kernel
    def widen(values: wp.array(dtype=int)):
        values[wp.tid()] = sizes.WIDTH * wp.static(GAIN)

    def scale_by(factor):
        @wp.kernel
        def scale(values: wp.array(dtype=float)):
            i = wp.tid()
            values[i] = values[i] * factor
        return scale
    """


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text).lstrip())
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with sources in ``src``, and a package with a folder that has no __init__.py."""
    project = tmp_path / "a-project"
    write(
        project / "pyproject.toml",
        '[project]\nname = "pack"\ndependencies = ["no-such-tool[all]>=1"]\n',
    )
    pack = project / "src" / "pack"
    write(pack / "__init__.py", "import warp as wp\nwp.config.enable_backward = False\n")
    write(pack / "inner" / "sizes.py", "WIDTH = 4\n")
    write(pack / "inner" / "deep" / "__init__.py", "")
    write(pack / "inner" / "deep" / "kernels.py", KERNEL)
    write(
        pack / "uses.py",
        "import warp as wp\nwp.config.enable_backward = True\n"
        "from pack.inner.deep.kernels import scale_by\nkernel = scale_by(3.0)\n",
    )
    write(
        pack / "asks.py",
        "from pack.inner.deep.kernels import scale_by  # makes a kernel of another module\n"
        "def both(factor: float):\n    return scale_by(factor)\n"
        "def with_own(factor: float):\n    import warp as wp\n    other = scale_by(factor)\n\n"
        "    @wp.kernel\n    def own(out: wp.array(dtype=float)):\n"
        "        out[wp.tid()] = factor\n    return own, other\n",
    )
    write(pack / "lacks.py", "import no_such_tool  # for its kernel\n")
    write(
        pack / "lacks_too.py",
        "try:\n    import no_such_tool.core  # kernel\nexcept ImportError"
        " as e:\n    raise ImportError('see our site') from e\n",
    )
    write(pack / "lacks_more.py", "import unheard_of  # kernel\n")
    write(pack / "__main__.py", "raise RuntimeError('a program with a kernel')\n")
    write(project / "src" / "helpers_beside.py", "GAIN = 2\n")
    return project


def test_a_file_is_the_module_that_its_folders_say(project: Path, tmp_path: Path) -> None:
    pack = project / "src" / "pack"
    kernels = module_of(pack / "inner" / "deep" / "kernels.py")
    assert (kernels.module, kernels.root) == ("pack.inner.deep.kernels", project / "src")
    assert module_of(pack / "__init__.py").module == "pack"
    assert module_of(pack / "inner" / "sizes.py").module == "pack.inner.sizes"
    loose = write(tmp_path / "tools" / "loose.py", "from . import others\n")
    assert (module_of(loose).module, module_of(loose).root) == ("tools.loose", tmp_path)
    alone = module_of(write(tmp_path / "tools" / "alone.py", "import helpers_beside\n"))
    assert (alone.module, homes([alone])) == ("alone", [])
    script = module_of(write(project / "scripts" / "show.py", "from helpers_beside import GAIN\n"))
    assert (script.module, homes([script])) == ("show", [project / "src"])


def test_a_kernel_deep_in_a_package_is_harvested(project: Path) -> None:
    path = project / "src" / "pack" / "inner" / "deep" / "kernels.py"
    result = harvest([path], Options(run=False))
    assert not result.failed
    (row,) = result.rows
    assert "WIDTH = 4" in row["python"]
    assert row["provenance"]["module"] == "pack.inner.deep.kernels"
    assert row["provenance"]["self_contained"]


def test_a_package_by_its_name_gives_what_its_modules_make_of_each_other(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(project / "src")
    names = [file.module for file in modules_called("pack") if file.wanted]
    lacks = ["pack.lacks", "pack.lacks_more", "pack.lacks_too"]
    assert names == ["pack.asks", "pack.inner.deep.kernels", *lacks, "pack.uses"]
    assert [f.module for f in modules_called("pack.inner.sizes")] == ["pack.inner.sizes"]
    found = [
        harvest([], Options(run=False, workers=workers), modules=["pack"]) for workers in (1, 2)
    ]
    assert found[0].rows == found[1].rows
    made = ["own", "widen", "scale", "scale"]
    assert [row["kernel_name"] for row in found[0].rows] == made
    # what one module sets in warp.config is neither there for another, nor lost to its package
    assert all(row["cuda_backward"] is None for row in found[0].rows)
    lines = "\n".join(table(found[0]))
    assert lines.count("pip install") == 1
    assert "not installed, and required by the project: pip install no-such-tool\n" in lines
    assert "not installed, and of no name that the project requires: unheard_of\n" in lines
    assert [reason for _, reason in found[0].failed][-1] == "ImportError: see our site"


def test_a_file_beside_its_package_is_harvested_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(project / "src")
    sizes = project / "src" / "pack" / "inner" / "sizes.py"
    files = sources_of([sizes], ["pack"])
    assert [file.wanted for file in files if file.module == "pack.inner.sizes"] == [True]
    assert len({file.path for file in files}) == len(files)


def test_names_to_install_by_are_those_of_the_project(tmp_path: Path) -> None:
    write(
        tmp_path / "requirements.txt",
        "GitPython>=3.1  # to download\nPillow\nnumpy-stl\nopencv-python\nopencv-contrib-python\n",
    )
    files = [module_of(write(tmp_path / "tool.py", ""))]
    assert distributions_for(["git", "stl", "PIL", "opencv", "pxr"], files) == {
        "git": "GitPython",
        "stl": "numpy-stl",
        "PIL": "Pillow",
        "opencv": None,
        "pxr": None,
    }


PYPROJECT = """
    [project]
    name = "tool"
    dependencies = ["warp-lang>=1.16", "mujoco~=3.11 ; platform_machine != 'x'"]
    optional-dependencies.usd = ["usd-core[extra]>=25.5,<26"]

    [dependency-groups]
    docs = ["sphinx", {include-group = "test"}]

    [tool.poetry.dependencies]
    python = "^3.11"
    Pillow = {version = "*"}

    [tool.mypy.overrides]
    module = ["pxr", "mujoco_warp", "PIL"]
    """
SETUP_PY = """
    from setuptools import setup
    MORE = ["usd-core"] + ["scipy"]
    EXTRAS = {"pxr": ["jax"]}
    setup(packages=["pxr"], keywords=["trimesh"], install_requires=MORE, extras_require=EXTRAS)
    """
SETUP_CFG = """
    [metadata]
    keywords = pxr
    [options]
    packages = pxr
    install_requires =
        usd-core
        scipy >=1.11
    [options.extras_require]
    pxr = jax; python_version > "3"
    """


@pytest.mark.parametrize(
    ("file", "text", "names"),
    [
        ("pyproject.toml", PYPROJECT, ["Pillow", "mujoco", "sphinx", "usd-core", "warp-lang"]),
        ("setup.py", SETUP_PY, ["jax", "scipy", "usd-core"]),
        ("setup.cfg", SETUP_CFG, ["jax", "scipy", "usd-core"]),
        ("pyproject.toml", "no TOML = [", []),
        ("setup.py", "def (", []),
        ("setup.cfg", "pxr", []),
    ],
)
def test_a_project_requires_what_stands_where_requirements_do(
    tmp_path: Path, file: str, text: str, names: list[str]
) -> None:
    write(tmp_path / file, text)
    assert sorted(required_by_project(tmp_path / "src")) == names
    files = [module_of(write(tmp_path / "tool.py", ""))]
    assert distributions_for(["pxr"], files) == {"pxr": None}


def test_a_requirement_is_known_by_its_name() -> None:
    lines = [
        "numpy",
        "a.b-c[x,y] >=1",
        "d @ https://e",
        "f (>1)",
        "# g",
        "-r h",
        "https://i",
        "j k",
    ]
    assert list(names_of(lines)) == ["numpy", "a.b-c", "d", "f"]


NESTED_STRUCT = """
    import warp as wp

    class Cloud:
        BIG = wp.constant(4.0)

        @wp.struct
        class Data:
            count: int
            low: float

    @wp.func
    def size_of(data: Cloud.Data) -> float:
        return data.low * Cloud.BIG

    @wp.kernel
    def sizes(cloud: Cloud.Data, out: wp.array(dtype=float)):
        out[wp.tid()] = size_of(cloud)
    """


def test_a_struct_within_a_class_is_written_out_before_it(tmp_path: Path) -> None:
    result = harvest([write(tmp_path / "clouds.py", NESTED_STRUCT)], Options(run=False))
    (row,) = result.rows
    assert row["provenance"]["self_contained"], result.open
    assert row["python"].index("class Data:") < row["python"].index("class Cloud:")


def test_only_what_a_class_needs_comes_before_it() -> None:
    draft = ModuleDraft(
        definitions=["C = 2\n", "class A:\n    x: int\n", "class B:\n    a: A\n", "D = 3\n"],
        namespaces={"N": {"b": "B", "one": "1"}},
    )
    text = draft.assemble("@wp.kernel\ndef k():\n    pass\n", "k").python
    order = [text.index(part) for part in ("class A", "class B", "class N", "C = 2", "D = 3")]
    assert order == sorted(order)
