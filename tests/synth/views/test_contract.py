"""What questions on plain CUDA say of arguments: enough, and nothing that is not so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generators.program.expr import Const
from generators.program.keys import program_keys
from generators.program.leads import OFFSETS, uses_of
from generators.program.serialise import from_json
from generators.program.walk import expressions
from synth.dataset.stored import stored_rows
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.enough import lacking
from synth.views.plain import LeftOut, wanted
from synth.views.promise import promise_clause
from synth.views.renamed import new_names, renamed, under_other_names
from synth.views.sizes import plain_names, size_names
from synth.views.texts import EXCHANGES, TO_PLAIN, sft
from validate.row.gradient import VALUE
from validate.row.inputs import draw_inputs
from validate.row.sizes import awkward_sizes, evaluate, own_sizes
from validate.score.starts import choose_starts

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
STORED = [(split, row) for split, row in stored_rows(SAMPLES)]
ROWS = [row for _, row in STORED if row["cuda_plain"] is not None]
Row = dict[str, Any]


def _id(row: Row) -> str:
    return str(row["kernel_name"])


def clause(question: str, begins: str) -> str:
    """The sentence of a question that begins so, up to the next that the views have."""
    ends = r"\.(?= (?:[A-Z]|$)|\n|$)"
    found = re.search(rf"{begins}: (.*?){ends}", question, re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_every_output_is_exact_or_has_a_tolerance(row: Row) -> None:
    told = clause(wanted(row), "Tolerance")
    for arg in row["args"]:
        if arg["role"] == "in":
            continue
        (part,) = [p for p in told.split("; ") if f"`{arg['name']}`" in p]
        assert part.endswith("exact") == (arg["rtol"] is None)
        if arg["rtol"] is None and not arg["fields"]:
            assert "float" not in arg["dtype"]


def test_floats_of_no_tolerance_are_not_called_exact() -> None:
    for row in ROWS:
        without = [{**arg, "rtol": None, "atol": None} for arg in row["args"]]
        told = clause(promise_clause({**row, "args": without}), "Tolerance")
        for arg in without:
            if arg["role"] != "in" and not arg["fields"]:
                assert (f"`{arg['name']}`" in told) == ("float" not in arg["dtype"])


def test_questions_on_gradients_give_structs_and_inputs() -> None:
    found = _exchanges("gradient")
    for row, exchange in found:
        asked = exchange.question.partition("```")[0]
        shown = {arg["arg"] for arg in row["backward_args"] if arg["holds"] == VALUE}
        for arg in row["args"]:
            if arg["name"] in shown and arg["low"] is not None:
                assert f"`{arg['name']}`" in clause(asked, "Inputs")
        for name in re.findall(r"^struct (?:__align__\(\d+\) )?(\w+)", row["cuda_plain"], re.M):
            signature = asked.partition("`")[2].partition("`")[0]
            assert not re.search(rf"\b{name}\b", signature) or f" {name} {{" in asked


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_every_array_has_a_shape_and_every_input_its_values(row: Row) -> None:
    question = wanted(row)
    shapes, inputs = clause(question, "Shapes"), clause(question, "Inputs")
    in_use = re.search(r"In use .*?\.(?= |$)", question)
    plain = plain_names(row)
    for arg in row["args"]:
        name = f"`{plain.get(arg['name'], arg['name'])}`"
        if arg["kind"] == "array":
            assert name in shapes or shapes.startswith("all arrays"), name
        if arg["role"] == "out" or arg["dtype"] == "bool" or arg["dtype"].endswith("[bool]"):
            continue
        named = (
            [name] if not arg["fields"] else [f"`{arg['name']}.{f['name']}`" for f in arg["fields"]]
        )
        is_size = in_use is not None and name in in_use[0]
        assert is_size or all(one in inputs for one in named), named


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_structs_of_the_signature_are_declared_as_the_answer_has_them(row: Row) -> None:
    question = wanted(row)
    found = re.findall(r"^struct (__align__\(\d+\) )?(\w+) \{", row["cuda_plain"], re.MULTILINE)
    declared = {name: align for align, name in found}
    words = {w for arg in row["plain_args"] for w in re.findall(r"\w+", arg["type"])}
    for name in words & declared.keys():
        assert f"struct {declared[name]}{name} {{" in question


def offsets_of(row: Row) -> set[str]:
    """Arrays of where the rows of a ragged array begin."""
    uses = uses_of(from_json(row["program"]).kernel)
    return {name for name, (how, _) in uses.items() if how == OFFSETS}


def claims(row: Row) -> list[tuple[str, int, str, bool]]:
    """Of each input that is promised to lie below an extent: name, least value, extent, whether
    the extent itself is allowed."""
    found = []
    symbols = {name: symbol for symbol, name in size_names(row).items()}
    for part in clause(promise_clause(row), "Inputs").split("; "):
        match = re.search(r"in \[(-?\d+), `([^`]+)`([)\]])", part)
        if match:
            extent = re.sub(r"\w+", lambda w: symbols.get(w[0], w[0]), match[2])
            names = re.findall(r"`([\w.]+)`", part.partition(" in [")[0])
            found += [(name, int(match[1]), extent, match[3] == "]") for name in names]
    return found


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_ranges_by_extents_hold_for_what_is_drawn(row: Row) -> None:
    offsets = {
        name
        for name, (how, _) in uses_of(from_json(row["program"]).kernel).items()
        if how == OFFSETS
    }
    for sizes in awkward_sizes(row["sizes"]):
        inputs = draw_inputs(row["args"], sizes, row["input_seed"])
        for name, low, extent, closed in claims(row):
            array, _, field = name.partition(".")
            values = inputs[array][field] if field else inputs[array]
            assert values.min() >= low
            assert values.max() < evaluate(extent, sizes) + closed
            if name in offsets:
                assert (np.diff(values) >= 0).all()


def test_index_arrays_have_the_range_of_what_they_index(all_rows: list[Row]) -> None:
    """Each that the program uses as an index, or a draw of ``index_of`` makes one, and no other."""
    led = [
        row for row in ROWS if any((a["init"] or "").startswith("index_of") for a in row["args"])
    ]
    assert led
    for row in led:
        told = {name for name, *_ in claims(row)}
        for arg in row["args"]:
            if arg["init"].startswith("index_of"):
                assert arg["name"] in told
    offsets = [
        row
        for row in all_rows
        if any(how == OFFSETS for how, _ in uses_of(from_json(row["program"]).kernel).values())
    ]
    assert offsets
    for row in offsets:
        assert "ascending offsets" in promise_clause(row)


def _exchanges(view: str) -> list[tuple[Row, Any]]:
    found = []
    for row in ROWS:
        try:
            found.append((row, EXCHANGES[view](row)))
        except LeftOut:
            continue
    assert found
    return found


def _large_numbers(row: Row) -> list[float]:
    """Whole numbers of a kernel that are in no formula of each kind, nor an end of all values."""
    body = from_json(row["program"]).kernel.body
    values = [float(e.value) for e in expressions(body) if isinstance(e, Const)]
    return [value for value in values if 2.0 < abs(value) < 1e9 and value.is_integer()]


def test_words_name_all_that_the_kernel_has() -> None:
    """Of rows that stay each parameter and number stands in the question; of others one lacks."""
    kept = {row["id"] for row, _ in _exchanges("words")}
    assert len(ROWS) / 2 < len(kept) < len(ROWS)
    for row, exchange in _exchanges("words"):
        for arg in row["args"]:
            # A name that CUDA keeps for itself has a line below it there.
            assert re.search(rf"\b{arg['name']}_?\b", exchange.question)
        assert not lacking(row)
    for row in ROWS:
        assert (row["id"] in kept) == (not lacking(row))
    told = {row["id"]: row["description"] for row in ROWS if row["id"] in kept}
    blank = [
        {**row, "description": re.sub(r"\d[\d.]*", "some number", told[row["id"]])}
        for row in ROWS
        # A half may be guessed.
        if row["id"] in told
        and (_large_numbers(row) or re.search(r"\b(?!0\.5\b)\d+\.\d", told[row["id"]]))
    ]
    assert blank
    assert all(lacking(row) for row in blank)


@pytest.mark.parametrize("view", TO_PLAIN)
def test_a_question_asks_for_what_the_answer_does(view: str) -> None:
    for row, exchange in _exchanges(view):
        asked = exchange.question.partition("```")[0]
        is_a_thread_each = f'"style": "{ONE_THREAD_A_POINT}"' in row["schedule"]
        says = re.search(r"is a thread|one thread (?:does|for)|shape of the launch", asked)
        assert not says or is_a_thread_each or view != "plain_python"
        assert not (says and re.search(r"grid-stride|elements at a time", asked))


@pytest.mark.parametrize("view", ["plain_python", "array"])
def test_numbers_narrower_than_those_of_python_are_spoken_of(view: str) -> None:
    for row, exchange in _exchanges(view):
        asked = exchange.question.partition("```")[0]
        for arg in row["args"]:
            if "float16" in arg["dtype"]:
                assert re.search(rf"float32, on [^.]*`{arg['name']}`", asked)
            if re.search(r"\bu?int(?:8|16)\b", arg["dtype"]):
                assert re.search(rf"Whole numbers in [^.]*`{arg['name']}`", asked)


@pytest.mark.parametrize("view", ["sft", "array", "plain_python"])
def test_no_prose_beside_code(view: str) -> None:
    for row, exchange in _exchanges(view):
        assert row["description"] not in exchange.question.partition("```")[0]


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_renamed_is_the_same_program_with_no_old_name_in_it(row: Row) -> None:
    names = new_names(row)
    assert len({*names.values()}) == len(names)
    under = under_other_names(row, names)
    before, after = (program_keys(from_json(r["program"])) for r in (row, under))
    assert after == before
    exchange = renamed(row)
    texts = f"{exchange.question}\n{exchange.answer}\n{exchange.reasons}"
    code = "\n".join(re.findall(r"```.*?```|`[^`]*`", texts, re.DOTALL))
    code = re.sub(r'"\w+":', "", code)
    words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", code))
    # What the printers write whatever the names are: under names that are no words.
    blank = under_other_names(row, {name: f"zz{n}" for n, name in enumerate(names)})
    printed = f"{blank['cuda_plain']}\n{blank['python']}"
    of_printers = set(re.findall(r"[A-Za-z_]\w*", printed))
    assert not (words & names.keys()) - of_printers
    for old in names:
        if "_" in old:
            assert old not in texts
    assert '"""' not in exchange.question
    assert not re.search(r"^\s*#", exchange.question, re.MULTILINE)
    # Other layouts that are told of may be others: sizes in use follow from names as well.
    assert _own_time(exchange.reasons) == _own_time(sft(row).reasons)


def _own_time(reasons: str) -> str:
    """What the row's own layout takes, as its reasons say first; empty without reasons."""
    found = re.search(r"takes [\d.,]+ µs", reasons)
    return found[0] if found else ""


def test_a_row_is_in_one_split_in_all_views() -> None:
    """Views keep a row's split, and no text of a kernel is in two of them, whatever its names."""
    by_split: dict[str, set[str]] = {}
    for split, row in STORED:
        for key in (row["id"], program_keys(from_json(row["program"])).structure):
            by_split.setdefault(key, set()).add(split)
    assert all(len(splits) == 1 for splits in by_split.values())
    assert all(own_sizes(row["sizes"]) for row in ROWS)


def test_questions_on_gradients_name_each_extent_by_the_parameter_that_holds_it() -> None:
    """With the sizes that the signature's whole numbers hold, each shape comes out as it is."""
    for row, exchange in _exchanges("gradient"):
        asked = exchange.question.partition("```")[0]
        sizes = own_sizes(row["sizes"])
        inits = {a["name"]: a["init"].partition(":") for a in row["args"] if a["init"]}
        held = dict(sizes)
        for arg in row["backward_args"]:
            kind, _, formula = inits.get(arg["arg"], ("", "", ""))
            if arg["size"] or kind == "size":
                held[arg["name"]] = evaluate(arg["size"] or formula, sizes)
        told = clause(asked, "Shapes")
        for arg in row["args"]:
            if arg["kind"] == "array":
                (shape,) = re.findall(rf"`{arg['name']}` \(([^)]*(?:\([^)]*\)[^)]*)*)\)", told)
                extents = [evaluate(one, held) for one in re.split(r", ", shape)]
                assert extents == [evaluate(one, sizes) for one in arg["shape"]]
                arrays = {a["name"] for a in row["backward_args"] if "*" in a["type"]}
                assert not set(re.findall(r"[A-Za-z_]\w*", shape)) & arrays


def test_questions_on_gradients_say_of_when_the_values_in_place_are() -> None:
    """Of rows as they are, and of each input that is handed over as if it were updated in place."""
    said = 0
    for row, _ in _exchanges("gradient"):
        held = {arg["arg"] for arg in row["backward_args"] if arg["holds"] == VALUE}
        for name in held & {arg["name"] for arg in row["args"] if arg["role"] == "in"}:
            args = [{**a, "role": "inout"} if a["name"] == name else a for a in row["args"]]
            _says_when_values_are({**row, "args": args})
            said += 1
        _says_when_values_are(row)
    assert said


def _says_when_values_are(row: Row) -> None:
    asked = EXCHANGES["gradient"](row).question.partition("```")[0]
    roles = {arg["name"]: arg["role"] for arg in row["args"]}
    for arg in row["backward_args"]:
        told = re.search(rf"`{arg['name']}`[^.]* the values from before the kernel", asked)
        assert bool(told) == (arg["holds"] == VALUE and roles[arg["arg"]] == "inout")


def test_accumulators_are_not_promised_to_start_where_tests_start_them_elsewhere() -> None:
    moved = 0
    for row in ROWS:
        told = clause(promise_clause(row), "Inputs")
        for name in choose_starts(row, own_sizes(row["sizes"]), row["input_seed"]):
            (part,) = [p for p in told.split("; ") if f"`{name}`" in p]
            assert part.endswith("or at what an earlier call left")
            moved += 1
    assert moved


def test_what_array_code_returns_is_said_to_go_where_it_goes() -> None:
    """The outputs in the order of the parameters, which is that of the values returned."""
    said = 0
    for row, exchange in _exchanges("array"):
        asked = exchange.question.partition("```")[0]
        assert "names returned" not in asked
        whole = row["array_python"].partition(f"def {row['kernel_name']}(")[2]
        (returned,) = re.findall(r"^    return (.*)", whole, re.MULTILINE)
        outputs = [arg["name"] for arg in row["args"] if arg["role"] != "in"]
        into = re.search(r"What the function returns goes to ((?:`\w+`(?:, )?)+)", asked)
        assert (into is None) == (returned == ", ".join(outputs))
        if into:
            assert re.findall(r"`(\w+)`", into[1]) == [plain_names(row)[o] for o in outputs]
            said += 1
    assert said
