"""The contract that every category and idiom keeps."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from types import ModuleType

import pytest

from generators import categories, every_category
from generators.build.draw import Draw
from generators.build.kernel import KernelBuilder
from generators.build.registry import (
    BEYOND,
    FEW_REPEATS,
    FORMS_DRAWN,
    LEVELS,
    Category,
    Title,
    category_of,
    idiom,
    stored_forms,
)
from generators.program.dtypes import Array
from generators.program.ir import Program
from generators.program.serialise import to_json
from synth.rows.maker import Accepted


def test_the_six_categories_are_found_in_order() -> None:
    expected = ["arithmetic", "atomic", "control_flow", "math", "matrix", "vector"]
    assert list(categories()) == expected


@pytest.mark.parametrize("name", list(categories()))
def test_a_category_has_at_least_25_documented_idioms(name: str) -> None:
    category = categories()[name]
    assert len(category.idioms) >= 25
    assert all(idiom.__doc__ for idiom in category.idioms.values())


def test_every_idiom_draws_and_passes_the_gates(all_accepted: list[Accepted]) -> None:
    drawn = {(a.program.category, a.program.idiom) for a in all_accepted}
    assert drawn == {(name, i) for name, category in categories().items() for i in category.idioms}
    assert {a.program.level for a in all_accepted} == set(LEVELS)


def _names(program: Program) -> list[str]:
    kernel = program.kernel
    names = [kernel.name, *kernel.threads, *(p.name for p in kernel.params)]
    return names + [f.name for f in program.functions] + [s.name for s in program.structs]


def test_names_are_distinct_python_identifiers(all_accepted: list[Accepted]) -> None:
    for accepted in all_accepted:
        names = _names(accepted.program)
        assert all(n.isidentifier() and not keyword.iskeyword(n) for n in names), names
        assert not [n for n, count in Counter(names).items() if count > 1], names


def test_descriptions_are_sentences(all_accepted: list[Accepted]) -> None:
    for accepted in all_accepted:
        text = accepted.program.description
        assert 20 < len(text) < 1000, text
        # An array's name is no word that can be written large.
        assert text[0].isupper() or text.split(" ")[0] in _names(accepted.program), text
        assert text.endswith("."), text
        assert not re.search(r"  |(?<!\.)\.\.(?!\.)|\s[.,](?!\.)", text), text


def test_outputs_and_sizes_are_declared(all_accepted: list[Accepted]) -> None:
    for accepted in all_accepted:
        kernel = accepted.program.kernel
        assert any(p.role != "in" and isinstance(p.type, Array) for p in kernel.params)
        declared = {s.symbol for s in accepted.program.sizes}
        used = {t for d in kernel.launch_dim for t in re.findall(r"[a-z_]\w*", d)}
        assert used <= declared


def test_the_same_draw_gives_the_same_program_and_its_neighbours_another() -> None:
    for category in categories().values():
        first, again, next_seed, next_index = (
            to_json(category.draw(Draw(seed, category.name, index, 0), 3))
            for seed, index in ((42, 5), (42, 5), (43, 5), (42, 6))
        )
        assert first == again
        assert len({first, next_seed, next_index}) == 3


def test_two_idioms_of_one_name_are_refused() -> None:
    module, below = ModuleType("demo"), ModuleType("demo.part")
    module.ABOUT = "a demonstration"  # type: ignore[attr-defined]
    for place in (module, below):
        exec(
            "from generators.build.registry import Title, idiom\n\n\n"
            "@idiom\ndef twice(k, level):\n    return Title('', '')\n",
            vars(place),
        )
    assert list(category_of(module).idioms) == ["twice"]
    vars(module)["again"] = vars(below)["twice"]
    vars(below)["twice"].__module__ = "demo"
    with pytest.raises(ValueError, match="two idioms called twice"):
        category_of(module)


def test_an_idiom_of_few_forms_comes_up_less_often_and_an_unknown_one_as_one_of_many() -> None:
    repeats = {"few": 4 * FEW_REPEATS, "some": 2 * FEW_REPEATS, "nearly": FEW_REPEATS, "many": 0}
    forms = {name: [FORMS_DRAWN - count] * 5 for name, count in repeats.items()}
    names = (*forms, "unknown")
    category = Category("demo", "", dict.fromkeys(names, _no_idiom), forms=forms)
    found = Counter(category.choose(Draw(0, "demo", k, 0), 2) for k in range(3000))
    shares = [found[name] / found["many"] for name in names]
    assert shares == pytest.approx([0.25, 0.5, 1.0, 1.0, 1.0], abs=0.02)


def test_an_idiom_is_drawn_as_deep_as_it_goes_and_less_often_beyond() -> None:
    levels: list[int] = []

    @idiom(depth=2)
    def shallow(_kernel: KernelBuilder, level: int) -> Title:
        levels.append(level)
        raise NotImplementedError

    category = Category("demo", "", {"shallow": shallow, "deep": _no_idiom})
    for level in LEVELS:
        with pytest.raises(NotImplementedError):
            category.draw_idiom("shallow", Draw(0, "demo", 0, 0), level)
    assert levels == [1, 2, 2, 2, 2]
    shares = [
        Counter(category.choose(Draw(0, "demo", k, 0), level) for k in range(2000))["shallow"]
        / 2000
        for level in (2, 3)
    ]
    assert shares == pytest.approx([1 / 2, 1 / (1 + BEYOND)], abs=0.04)


def test_the_forms_that_are_stored_are_of_idioms_that_there_are() -> None:
    there = {f"{c.name}/{idiom}" for c in every_category().values() for idiom in c.idioms}
    assert set(stored_forms()) <= there
    for counts in stored_forms().values():
        assert len(counts) == len(LEVELS)
        assert all(0 <= count <= FORMS_DRAWN for count in counts)
        assert counts[0] > 0


def _no_idiom(_kernel: KernelBuilder, _level: int) -> Title:
    raise NotImplementedError
