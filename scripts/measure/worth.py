"""What a dataset is worth to a model: one trained from nothing on it writes CUDA that is scored.

    PYTHONPATH=. python scripts/measure/worth.py prepare OUT FOLDER [--view sft …] [--held-out 0.15]
    PYTHONPATH=. python scripts/measure/worth.py train FOLDER RUN [--minutes 5.5] [--ask 400]
    pairsmith score OUT RUN/answers.jsonl --workers 2 --report report.json
    PYTHONPATH=. python scripts/measure/worth.py table FOLDER report.json [--run RUN]

`prepare` keeps all rows of some idioms, chosen by their names and `--salt`, from training, trains a
byte-pair tokenizer on what is left and writes token files (the `views` extra has the tokenizer).
`train` needs torch, NumPy and tokenizers, no network and nothing else of the project's: a GPU, or
with a small `--width` and `--layers` a CPU. It asks rows of the split `test` whose idioms were
trained on, and rows of the idioms that were not. `table` prints what the scores say of both.
`notes/measurements/worth.md` has what was measured.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from synth.errors import SettingsError

_FOREIGN = ("torch", "tokenizers")
"""What only some of the commands need, and the project itself does not."""


def _prepare(args: argparse.Namespace) -> None:
    from scripts.measure.training.prepare import Settings, prepare
    from scripts.measure.training.tokens import TOKENS

    settings = Settings(
        tuple(dict.fromkeys(args.view or ["sft"])),
        args.salt,
        args.held_out,
        args.max_tokens,
        args.vocabulary,
        args.train_rows,
        tuple(args.also),
        args.fresh_names,
        args.brackets_apart,
    )
    index = prepare(args.out, args.folder, settings, args.workers)
    print(f"held out: {', '.join(index['held_out'])}")
    for part, told in index["parts"].items():
        too_long = told["conversations"] - told["fit"]
        print(
            f"{part:7} {told['rows']:6} rows of {told['idioms']:3} idioms; "
            f"{told['conversations']:6} conversations, {too_long} of over {args.max_tokens} tokens "
            f"({100 * too_long / told['conversations']:.1f} %) left out; "
            f"{told['tokens'] / 1e6:.1f} M tokens"
        )
    size_mib = (args.folder / TOKENS).stat().st_size / 2**20
    print(f"{index['vocabulary']} tokens in the vocabulary; {TOKENS} has {size_mib:.1f} MiB")


def _train(args: argparse.Namespace) -> None:
    from scripts.measure.training.train import Plan, train_and_ask

    plan = Plan(**{field.name: getattr(args, field.name) for field in fields(Plan)})
    train_and_ask(args.folder, args.results, plan)


def _table(args: argparse.Namespace) -> None:
    from scripts.measure.training.table import page

    print(page(args.folder, args.report, args.run))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    prepare = commands.add_parser("prepare", help="hold idioms out, write token files")
    prepare.set_defaults(command=_prepare)
    prepare.add_argument("out", type=Path)
    prepare.add_argument("folder", type=Path)
    prepare.add_argument(
        "--view", action="append", help="repeatable; questions of the first are asked [sft]"
    )
    prepare.add_argument("--salt", default="0", help="decides with its name on each idiom")
    prepare.add_argument("--held-out", type=float, default=0.15, help="share of the idioms")
    prepare.add_argument("--max-tokens", type=int, default=2048, help="of a conversation")
    prepare.add_argument("--vocabulary", type=int, default=4096, help="tokens of the tokenizer")
    prepare.add_argument("--train-rows", type=int, help="train on so many rows at most")
    prepare.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="FILE",
        help="train on its conversations of OUT's rows too: a view's file, Parquet; repeatable",
    )
    prepare.add_argument(
        "--fresh-names",
        action="store_true",
        help="write what the first view's conversations get other names from in each epoch",
    )
    prepare.add_argument(
        "--brackets-apart", action="store_true", help="each bracket is a token by itself"
    )
    prepare.add_argument("--workers", type=int, default=1, help="processes for fresh names")
    train = commands.add_parser("train", help="train a transformer, and ask it")
    train.set_defaults(command=_train)
    train.add_argument("folder", type=Path)
    train.add_argument("results", type=Path)
    train.add_argument("--minutes", type=float, default=5.5, help="of training")
    train.add_argument("--steps", type=int, help="so many instead: the same however fast")
    train.add_argument("--ask", type=int, default=400, help="rows of each part, at most")
    train.add_argument("--width", type=int, default=640)
    train.add_argument("--layers", type=int, default=12)
    train.add_argument("--batch-tokens", type=int, default=65536, help="with padding")
    train.add_argument("--learning-rate", type=float, default=1.2e-3, help="the highest")
    train.add_argument(
        "--parts", default="", help="what the model has beside, joined by commas: training/model.py"
    )
    train.add_argument("--matrix-rate", type=float, default=0.0, help="Muon's; 0 is AdamW alone")
    train.add_argument("--schedule", choices=("cosine", "stays"), default="cosine")
    train.add_argument("--question-weight", type=float, default=0.0, help="of a question's token")
    train.add_argument("--own-names", type=float, default=1.0, help="share that keeps its names")
    train.add_argument("--workers", type=int, default=8, help="who give fresh names")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--device", default="", help="cuda or cpu [cuda where there is one]")
    train.add_argument("--no-compile", dest="compiled", action="store_false")
    table = commands.add_parser("table", help="print what a report of scores says")
    table.set_defaults(command=_table)
    table.add_argument("folder", type=Path)
    table.add_argument("report", type=Path)
    table.add_argument("--run", type=Path, help="what `train` wrote, for its settings")
    return parser


def main() -> None:
    args = _parser().parse_args()
    try:
        args.command(args)
    except ModuleNotFoundError as error:
        if error.name not in _FOREIGN:
            raise
        print(f"worth: this needs {error.name}, which is not installed", file=sys.stderr)
        sys.exit(2)
    except SettingsError as error:
        print(f"worth: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
