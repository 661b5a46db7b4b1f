"""Mutants of where control goes and of what is stored: loops, branches, jumps, stores, atomics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from validate.mutants.warp.text import Function, element_type, parse_call
from validate.mutants.warp.values import Rule

_IF = re.compile(r"if \((!?)(var_\w+)\) \{")
_WHILE = re.compile(r"if \(\((var_\w+)\) == false\) (goto \w+;)")
_RANGE = re.compile(r"if \(iter_cmp\(var_\w+\) == 0\) (goto \w+;)")
_JUMP = re.compile(r"continue;|goto \w+;")

_PLAIN = {
    "atomic_add": "wp::add({old}, {value})",
    "atomic_sub": "wp::sub({old}, {value})",
    "atomic_min": "wp::min({old}, {value})",
    "atomic_max": "wp::max({old}, {value})",
    "atomic_and": "wp::bit_and({old}, {value})",
    "atomic_or": "wp::bit_or({old}, {value})",
    "atomic_xor": "wp::bit_xor({old}, {value})",
    "atomic_exch": "{value}",
}


def loop_bound_moved(line: str, function: Function) -> Iterator[str]:
    """A range that ends one later or one earlier, or starts one later."""
    call = parse_call(line)
    if call is None or call.name != "range":
        return
    end = 0 if len(call.args) == 1 else 1
    steps = [(end, "+ 1"), (end, "- 1")] + ([(0, "+ 1")] if end else [])
    for position, step in steps:
        args = list(call.args)
        args[position] = f"{args[position]} {step}"
        yield call.text(args=args)


def branch_removed(line: str, function: Function) -> Iterator[str]:
    """A branch always taken or never, a loop never entered or never left by its condition.

    The condition's variable is overwritten, because what follows a branch selects by it.
    """
    branch = _IF.fullmatch(line)
    if branch and branch[2] not in function.constants:
        for value in ("true", "false"):
            # An else that is skipped would leave what follows to select values never computed.
            skips_else = branch[1] and value == "true"
            if not (skips_else and f"if ({branch[2]}) {{" in function.text):
                yield f"if ({branch[1]}({branch[2]} = {value})) {{"
    loop = _WHILE.fullmatch(line)
    if loop:
        yield f"if (({loop[1]} = true) == false) {loop[2]}"
        yield loop[2]
    counted = _RANGE.fullmatch(line)
    if counted:
        yield counted[1]


def jump_removed(line: str, function: Function) -> Iterator[str]:
    """An early return, `continue`, `break` or the jump back of a loop left out."""
    if _JUMP.fullmatch(line):
        yield ";"


def last_store_skipped(line: str, function: Function) -> Iterator[str]:
    """The last thread does not store."""
    call = parse_call(line)
    if call is None or not function.is_kernel:
        return
    if call.name == "array_store" or call.name.startswith("atomic_"):
        yield f"if (_idx + 1 < dim.size) {line}"


def atomic_made_plain(line: str, function: Function) -> Iterator[str]:
    """An atomic update made a load, an operation and a store."""
    call = parse_call(line)
    if call is None or call.name not in _PLAIN or not element_type(function.type_of(call.args[0])):
        return
    old = f"wp::load(wp::address({', '.join(call.args[:-1])}))"
    new = _PLAIN[call.name].format(old=call.target or old, value=call.args[-1])
    kept = f"{call.target} = {old}; " if call.target else ""
    yield f"{kept}wp::array_store({', '.join(call.args[:-1])}, {new});"


FLOW_RULES: dict[str, Rule] = {
    "loop_bound_moved": loop_bound_moved,
    "branch_removed": branch_removed,
    "jump_removed": jump_removed,
    "last_store_skipped": last_store_skipped,
    "atomic_made_plain": atomic_made_plain,
}
