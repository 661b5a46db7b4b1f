"""How broad a dataset is, from its folder alone: distinctness, leaks, builtins, lengths, shares.

Run: PYTHONPATH=. python scripts/measure/rows/breadth.py OUT [--swap-rows K] [--json FILE]. With
`--swap-rows`, each builtin's call is replaced, in K rows, by another of the same type, and the
reference must give other outputs. Needs Warp for its list of builtins.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from generators.program.dtypes import SCALARS
from generators.program.keys import program_keys
from generators.program.serialise import from_json
from scripts.audit.swap_builtins import swaps_seen
from synth.dataset.manifest import read_manifest
from synth.dataset.stored import stored_rows
from validate.row.dtypes import parse

Row = dict[str, Any]

ENOUGH_ROWS = 20
_SHORT = {"float": "float32", "int": "int32"}
_BARE = {"len", "range", "float", "int", "bool", "min", "max", "abs", "round", "pow"}


def warp_builtins() -> dict[str, str]:
    """Warp's own list: name and group."""
    import warp._src.context as context

    return {name: function.group for name, function in context.builtin_functions.items()}


def called(python: str, builtins: Iterable[str]) -> set[str]:
    """Builtins that the functions of a module call by name, those without ``wp.`` too."""
    known, found = set(builtins), set()
    functions = [n for n in ast.parse(python).body if isinstance(n, ast.FunctionDef)]
    for node in (n for f in functions for s in f.body for n in ast.walk(s)):
        if not isinstance(node, ast.Call):
            continue
        head = node.func
        if isinstance(head, ast.Attribute) and ast.unparse(head.value) == "wp":
            found.add(head.attr)
        elif isinstance(head, ast.Name) and head.id in _BARE:
            found.add(head.id)
    return found & known


def kernel_of(python: str) -> ast.FunctionDef:
    functions = [n for n in ast.parse(python).body if isinstance(n, ast.FunctionDef)]
    return next(f for f in functions if ast.unparse(f.decorator_list[0]).startswith("wp.kernel"))


def body_lines(python: str) -> int:
    """Lines of the kernel's body as it is laid out, without docstring, comments and blank lines."""
    kernel = kernel_of(python)
    body = kernel.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    lines = python.splitlines()[body[0].lineno - 1 : kernel.end_lineno]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


def branches(python: str) -> bool:
    return any(isinstance(n, ast.For | ast.While | ast.If) for n in ast.walk(ast.parse(python)))


def percentile(values: list[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def distinctness(rows: list[tuple[str, Row]]) -> dict[str, Any]:
    """Rows against distinct structures, over all and by category and level; duplicates; leaks."""
    cells: defaultdict[str, list[str]] = defaultdict(list)
    splits: defaultdict[str, set[str]] = defaultdict(set)
    renames: Counter[str] = Counter()
    for split, row in rows:
        keys = program_keys(from_json(row["program"]))
        assert keys.structure == row["structure"], row["id"]
        renames[keys.rename] += 1
        splits[keys.structure].add(split)
        for cell in ("all", row["category"], f"{row['category']}/{row['level']}"):
            cells[cell].append(keys.structure)
    return {
        "rename_duplicates": sum(c - 1 for c in renames.values()),
        "structures_in_two_splits": sum(len(s) > 1 for s in splits.values()),
        "distinct": {c: round(len(set(k)) / len(k), 4) for c, k in sorted(cells.items())},
    }


def shares(rows: list[tuple[str, Row]]) -> dict[str, Any]:
    """Lengths of kernel bodies and how many rows have what."""
    texts = [row["python"] for _, row in rows]
    lines = [body_lines(text) for text in texts]
    outside = [row["python"] for _, row in rows if row["category"] != "control_flow"]
    return {
        "lines": {
            "min": min(lines),
            "median": percentile(lines, 0.5),
            "p95": percentile(lines, 0.95),
            "max": max(lines),
        },
        "helper": _share("@wp.func" in text for text in texts),
        "struct": _share("@wp.struct" in text for text in texts),
        "more_than_one_launch_dim": _share(len(row["launch"]["dim"]) > 1 for _, row in rows),
        "loop_or_branch_outside_control_flow": _share(map(branches, outside)),
        "comment": _share("# " in text for text in texts),
        "docstring": _share('"""' in text for text in texts),
        "adjoint_agrees": _share(row["checks"]["adjoint"] == "agrees" for _, row in rows),
    }


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return round(sum(found) / len(found), 4)


def scalar_types(rows: list[tuple[str, Row]]) -> dict[str, int]:
    """Rows with an argument of each scalar type."""
    found: Counter[str] = Counter()
    for _, row in rows:
        found.update({name for arg in row["args"] for name in _scalars(arg)})
    return {name: found[name] for name in SCALARS}


def _scalars(arg: dict[str, Any]) -> Iterator[str]:
    if arg["fields"]:
        for field in arg["fields"]:
            yield parse(field["dtype"]).scalar
    else:
        yield parse(arg["dtype"]).scalar


def reject_rates(out: Path, rows: list[tuple[str, Row]]) -> list[tuple[float, str, dict[str, int]]]:
    """Share of draws that were not taken, by idiom, highest first, with the reasons."""
    manifest = read_manifest(out)
    if manifest is None:
        return []
    taken = Counter(f"{row['category']}/{row['idiom']}" for _, row in rows)
    rejects: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, count in manifest.draws["rejects"].items():
        idiom, _, reason = key.rpartition("/")
        rejects[idiom][reason] += count
    found = []
    for idiom in {*taken, *rejects}:
        lost = rejects[idiom].total()
        found.append((lost / (lost + taken[idiom]), idiom, dict(rejects[idiom].most_common(3))))
    return sorted(found, reverse=True)


def print_builtins(rows: list[tuple[str, Row]], swapped: dict[str, Any] | None) -> dict[str, int]:
    groups = warp_builtins()
    counts: Counter[str] = Counter()
    for _, row in rows:
        counts.update(called(row["python"], groups))
    often = sorted(name for name, count in counts.items() if count >= ENOUGH_ROWS)
    print(f"\nbuiltins called by name: {len(counts)} of {len(groups)}")
    print(f"in {ENOUGH_ROWS} rows or more: {len(often)}")
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        seen = "" if swapped is None else swapped.get(_SHORT.get(name, name), "not swapped")
        print(f"  {name:32} {count:6}  {seen}")
    by_group: defaultdict[str, list[str]] = defaultdict(list)
    for name, group in groups.items():
        if name not in counts:
            by_group[group].append(name)
    print("left out, by group:")
    for group, names in sorted(by_group.items()):
        print(f"  {group} ({len(names)}): {' '.join(sorted(names))}")
    return dict(counts)


def main(args: argparse.Namespace) -> None:
    rows = list(stored_rows(args.out))
    found: dict[str, Any] = {"rows": len(rows), **distinctness(rows), **shares(rows)}
    found["scalar_types"] = scalar_types(rows)
    found["idioms"] = dict(
        Counter(c for c, _ in {(row["category"], row["idiom"]) for _, row in rows})
    )
    print(json.dumps(found, indent=1))
    print("\nreject rates by idiom, highest first:")
    for rate, idiom, reasons in reject_rates(args.out, rows)[:25]:
        print(f"  {rate:6.1%}  {idiom:40} {reasons}")
    swapped = swaps_seen([row for _, row in rows], args.swap_rows) if args.swap_rows else None
    found["builtins"] = print_builtins(rows, swapped)
    if swapped is not None:
        blind = sorted(name for name, verdict in swapped.items() if not verdict.startswith("seen"))
        print(f"\nreplaced by another of the same type: {len(swapped)}; never noticed: {blind}")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--swap-rows", type=int, default=0)
    parser.add_argument("--json", type=Path)
    main(parser.parse_args())
