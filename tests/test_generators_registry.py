"""The contract that every category and idiom keeps."""

from __future__ import annotations

import keyword
import re
from collections import Counter

import pytest

from generators import categories
from generators.build import KernelBuilder
from generators.draw import Draw
from generators.dtypes import Array
from generators.ir import Program
from generators.registry import LEVELS, Category, Title
from generators.serialise import to_json
from synth.pair import Accepted


def test_the_six_categories_are_found_in_order() -> None:
    expected = ["arithmetic", "atomic", "control_flow", "math", "matrix", "vector"]
    assert list(categories()) == expected


@pytest.mark.parametrize("name", list(categories()))
def test_a_category_has_at_least_25_documented_idioms(name: str) -> None:
    category = categories()[name]
    assert len(category.idioms) >= 25
    assert all(idiom.__doc__ for idiom in category.idioms.values())


def test_every_idiom_draws_and_passes_the_gates_at_every_level(
    all_accepted: list[Accepted],
) -> None:
    count = sum(len(category.idioms) for category in categories().values())
    assert len(all_accepted) == count * len(LEVELS)


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
        assert text[0].isupper(), text
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


def test_an_idiom_cannot_be_registered_twice() -> None:
    category = Category("demo", "a demonstration")

    def twice(k: KernelBuilder, level: int) -> Title:
        """Never drawn."""
        raise NotImplementedError

    category.idiom(twice)
    with pytest.raises(ValueError, match="two idioms called twice"):
        category.idiom(twice)
