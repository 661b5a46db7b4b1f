"""scripts/measure/worth_model.py and worth_train.py, where torch is installed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scripts.measure.worth_answers import Draw, answers  # noqa: E402
from scripts.measure.worth_model import PARTS, Transformer  # noqa: E402
from scripts.measure.worth_plan import Plan, rate_at  # noqa: E402
from scripts.measure.worth_tokens import (  # noqa: E402
    ANSWER,
    END,
    QUESTION,
    Documents,
    Part,
    conversation_of,
)
from scripts.measure.worth_train import Training, batch_of  # noqa: E402

VOCABULARY, CONTEXT = 40, 70


@pytest.fixture(scope="module", params=[(), PARTS], ids=["plain", "all parts"])
def model(request: pytest.FixtureRequest) -> Transformer:
    torch.manual_seed(3)
    found = Transformer(VOCABULARY, 128, 3, CONTEXT, request.param).eval()
    for name, weight in found.named_parameters():
        # Weights of a model that says something: at the usual spread it repeats one token, and
        # some parts begin at zero.
        if weight.ndim > 1 and "gains" not in name:
            weight.data = 0.16 * torch.randn_like(weight)
        elif name.endswith("mix"):
            weight.data += 0.3 * torch.randn_like(weight)
    return found


def question(length: int, seed: int) -> np.ndarray:
    inner = np.random.default_rng(seed).integers(4, VOCABULARY, length)
    return np.array([QUESTION, *inner, ANSWER], np.uint16)


@torch.inference_mode()
def said_slowly(model: Transformer, asked: np.ndarray) -> list[int]:
    """Greedy, with the whole conversation read again for each token."""
    tokens = asked.tolist()
    while len(tokens) < model.context and tokens[-1] != END:
        last = model(torch.tensor([tokens]))[0, -1]
        tokens.append(int(model.scores(last).argmax()))
    return tokens[len(asked) :]


def test_answers_with_kept_keys_are_those_without(model: Transformer) -> None:
    asked = [question(length, length) for length in (1, 60, 7, 67, 30, 2)]
    found = answers(model, asked)
    assert found == [said_slowly(model, one) for one in asked]
    assert len({token for one in found for token in one}) > 5
    assert all(
        len(a) + len(q) == CONTEXT or a[-1] == END for q, a in zip(asked, found, strict=True)
    )


def test_answers_do_not_depend_on_who_is_asked_beside(model: Transformer) -> None:
    asked = [question(length, length) for length in (5, 50, 25)]
    assert answers(model, asked) == [answers(model, [one])[0] for one in asked]


def test_no_answer_is_longer_than_asked(model: Transformer) -> None:
    asked = [question(length, length) for length in (1, 60, 7, 30)]
    whole, short = answers(model, asked), answers(model, asked, 9)
    assert short == [one[:9] for one in whole]
    assert max(map(len, whole)) > 9


def test_tokens_are_drawn_by_their_chances() -> None:
    chances = torch.tensor([0.5, 0.3, 0.2])
    scores = chances.log().expand(6000, 3)
    drawn = Draw(1.0, torch.Generator().manual_seed(1))(scores)
    found = torch.bincount(drawn, minlength=3) / 6000
    assert torch.allclose(found, chances, atol=0.03)
    cold = torch.bincount(Draw(0.5, torch.Generator().manual_seed(1))(scores), minlength=3) / 6000
    assert torch.allclose(cold, chances**2 / (chances**2).sum(), atol=0.03)


def test_a_conversation_of_two_turns_is_learnt_by_its_last_answer() -> None:
    part = Part()
    part.add(conversation_of([5], [6, 7], [8], [9]))
    documents = Documents(**part.arrays())
    first = [QUESTION, 5, ANSWER, 6, 7, END, QUESTION, 8, ANSWER]
    assert documents.question(0).tolist() == first == conversation_of([5], [6, 7], [8]).tolist()
    assert batch_of(documents, np.array([0]), 64, torch.device("cpu")).wanted.tolist() == [9, END]


def test_the_answer_alone_is_learnt_and_padding_counts_for_nothing() -> None:
    part = Part()
    part.add(conversation_of([5, 6, 7], [8, 9]))
    part.add(conversation_of([10], [11]))
    documents = Documents(**part.arrays())
    batch = batch_of(documents, np.array([0, 1]), 64, torch.device("cpu"))
    assert batch.wanted.tolist() == [8, 9, END, 11, END]
    flat = batch.tokens.flatten()
    assert flat[batch.before].tolist() == [ANSWER, 8, 9, ANSWER, 11]
    assert flat[batch.before + 1].tolist() == batch.wanted.tolist()


def test_a_small_model_learns_to_copy() -> None:
    part = Part()
    draw = np.random.default_rng(0)
    for _ in range(64):
        word = draw.integers(4, 12, draw.integers(1, 6)).tolist()
        part.add(conversation_of(word, word))
    documents = Documents(**part.arrays())
    plan = Plan(
        steps=150, width=64, layers=2, batch_tokens=2048, learning_rate=3e-3, compiled=False
    )
    training = Training(documents, 12, 16, plan)
    training.run()
    assert training.steps == 150
    losses = [told["loss"] for told in training.told]
    assert losses[0] > 2 > 0.5 > losses[-1]
    some = [documents.question(at) for at in range(20)]
    right = sum(
        documents[at].tolist() == [*some[at], *said]
        for at, said in enumerate(answers(training.model, some))
    )
    assert right > 15
    assert answers(training.model, some) == [said_slowly(training.model, one) for one in some]


def test_rates_rise_and_fall() -> None:
    rates = [rate_at(share, 1.0) for share in (0.0, 0.01, 0.02, 0.5, 1.0)]
    assert rates[0] == 0
    assert rates[0] < rates[1] < rates[2] > rates[3] > rates[4] == pytest.approx(0.05)
