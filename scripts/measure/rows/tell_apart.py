"""Can a simple classifier tell our kernels from those that people wrote?

Run: PYTHONPATH=. python scripts/measure/rows/tell_apart.py OURS HARVESTED [--prefix MODULE] [--seed
S]. OURS is a generated dataset, HARVESTED one of `pairsmith harvest` over modules of people.
Identifiers of a kernel are replaced by what they are (a parameter, a local, a helper, a type name
stays), numbers by their kind, docstrings and comments left out; token 1- to 3-grams feed a logistic
regression. Prints the area under the ROC curve over five folds and the strongest features of either
side. 0.5 means that it cannot tell; needs scikit-learn.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from synth.dataset.stored import stored_rows

STRONGEST = 20
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_KEPT = {
    *("wp", "tid", "range", "float", "int", "bool", "len", "min", "max", "abs", "x", "y", "z", "w"),
    *("if", "elif", "else", "for", "in", "while", "return", "break", "continue", "pass"),
    *("and", "or", "not", "True", "False", "None", "def"),
}


class _Roles(ast.NodeVisitor):
    """What each name of a function is: a parameter or a local."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.roles = {a.arg: "PARAM" for a in function.args.args}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.roles.setdefault(node.id, "LOCAL")


def _number(text: str) -> str:
    if text in ("0", "1", "2", "0.0", "1.0", "2.0", "0.5"):
        return text
    return "FLOAT" if any(c in text for c in ".eE") and not text.startswith("0x") else "INT"


def tokens(function: ast.FunctionDef) -> Iterator[str]:
    """The function's tokens with its own names replaced by their roles."""
    if ast.get_docstring(function):
        function.body = function.body[1:] or [ast.Pass()]
    roles = _Roles(function).roles
    text = ast.unparse(function)
    previous = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _SKIPPED:
            continue
        word = token.string
        if token.type == tokenize.NUMBER:
            word = _number(word)
        elif token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE):
            word = tokenize.tok_name[token.type]
        elif token.type == tokenize.NAME and previous != ".":
            word = word if word in _KEPT else roles.get(word, "NAME")
        yield word
        previous = token.string


def kernel_text(row: dict[str, Any]) -> str:
    """The kernel's tokens, joined by blanks; helper functions and structs are left out."""
    functions = [n for n in ast.walk(ast.parse(row["python"])) if isinstance(n, ast.FunctionDef)]
    kernel = next(f for f in functions if f.name == row["kernel_name"])
    kernel.decorator_list = []
    return " ".join(tokens(kernel))


def main(args: argparse.Namespace) -> None:
    theirs = sorted(
        {
            kernel_text(row)
            for _, row in stored_rows(args.harvested)
            if row["provenance"]["module"].startswith(tuple(args.prefix))
        }
    )
    pool = sorted({kernel_text(row) for _, row in stored_rows(args.ours)})
    ours = random.Random(args.seed).sample(pool, min(len(pool), 6 * len(theirs)))
    texts, labels = [*ours, *theirs], np.array([1] * len(ours) + [0] * len(theirs))
    vectors = CountVectorizer(
        token_pattern=r"\S+", ngram_range=(1, 3), lowercase=False, binary=True, min_df=4
    )
    features = vectors.fit_transform(texts)
    model = LogisticRegression(C=0.05, max_iter=2000, class_weight="balanced")
    folds = StratifiedKFold(5, shuffle=True, random_state=args.seed)
    scores = cross_val_predict(model, features, labels, cv=folds, method="decision_function")
    print(f"{len(ours)} of ours, {len(theirs)} of theirs; AUC {roc_auc_score(labels, scores):.3f}")
    weights = model.fit(features, labels).coef_[0]
    names, order = vectors.get_feature_names_out(), np.argsort(weights)
    share = np.array([features[labels == k].mean(axis=0).A1 for k in (0, 1)])
    for title, chosen in (("ours", order[::-1]), ("theirs", order)):
        print(f"strongest for {title} (weight, share of theirs, share of ours):")
        for k in chosen[:STRONGEST]:
            print(f"  {weights[k]:+.3f} {share[0][k]:5.2f} {share[1][k]:5.2f}  {names[k]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours", type=Path)
    parser.add_argument("harvested", type=Path)
    parser.add_argument("--prefix", action="append", default=None)
    parser.add_argument("--seed", type=int, default=0)
    parsed = parser.parse_args()
    parsed.prefix = parsed.prefix or ["example_", "benchmark_", "warp.examples"]
    main(parsed)
