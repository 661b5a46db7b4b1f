"""How a description says what is stored where: "Set x to ..." in place of "x gets ..."."""

from __future__ import annotations

import re
from collections.abc import Collection

_CLAUSE = re.compile(r"(?<=[.;:])\s+")
_NAME = r"\w+(?:\[[^\]]*\])?"
_GETS = re.compile(rf"(?:^|(?<=, )|(?<=, and ))(?P<target>{_NAME}(?:(?:, | and ){_NAME})*) gets? ")
_SET = re.compile(r"Set (?P<what>[\w\[\], ]+ to (?P<value>.+))\.$", re.DOTALL)
_SHORT = 48
"""A value of more characters ends its sentence."""
_EACH = re.compile(r"(?P<target>(?P<name>\w+)) gets, (?P<each>for (?:each|every) [^,]+), ")
_GOES = re.compile(r"(?P<value>[^,:]{1,60}?) goes to (?P<name>\w+)(?=[.,;]|$)")
_PLAIN = re.compile(r"(it|them|the results?)(?=[.,;]|$)")
_QUESTION = re.compile(r"(?:how|which|whether|what|where) ")
_SAID = re.compile(r"(?:is|are|gets?|becomes?|being|grows?|keeps?|holds?|has|of|in|at|on)\b")
_GIVEN = "\0"


def imperative(text: str, outputs: Collection[str]) -> str:
    """A description whose clauses on what an output gets tell the reader to store it.

    ``outputs`` are the arrays that the kernel writes; a clause on anything else stays as it is.
    """
    marks = [""]
    told = []
    for clause in _CLAUSE.split(text):
        told.append(_told(clause, marks[-1] in ("", "."), outputs))
        marks.append(clause[-1:])
    whole = " ".join(_joined([clause for clause in told if clause])).replace(",,", ",")
    return f"{whole[:-1]}." if whole.endswith((";", ":")) else whole


def _joined(told: list[str]) -> list[str]:
    """Clauses, of which two in a row that set something, the first to a short value, are one."""
    found: list[str] = []
    for clause in told:
        before, now = _SET.match(found[-1]) if found else None, _SET.match(clause)
        short = before and " and " not in before["what"] and "," not in before["value"]
        if before and now and short and len(before["value"]) <= _SHORT:
            found[-1] = f"Set {before['what']} and {now['what']}."
        else:
            found.append(clause)
    return found


def without_twins(text: str, names: Collection[str]) -> str:
    """A description in which no word is followed by an argument of the same name."""
    return re.sub(
        r"\b([A-Za-z]{3,}) (?i:(\1))\b",
        lambda m: m[1] if m[2] in names else m[0],
        text,
    )


def _told(clause: str, begins: bool, outputs: Collection[str]) -> str:
    """One clause, which begins a sentence or goes on with one."""
    if (goes := _GOES.match(clause)) and goes["name"] in outputs:
        value = goes["value"][0].lower() + goes["value"][1:]
        return f"{_verb('store', begins)} {value} in {goes['name']}{clause[goes.end() :]}"
    if (each := _EACH.match(clause)) and each["name"] in outputs:
        lead = each["each"].capitalize() if begins else each["each"]
        rest = _others(clause[each.end() :], outputs, "to")
        return f"{lead}, set {each['target']} to {rest}"
    every = (m for m in _GETS.finditer(clause) if {*_names(m["target"])} <= {*outputs})
    found = next(every, None)
    if found is None:
        return clause
    lead, what = clause[: found.start()], clause[found.end() :]
    target = re.sub(r", (?=[^,]*$)", " and ", found["target"])
    begins = begins and not lead
    if what.rstrip(".;") == target:
        return ""
    lead = f"{lead.removesuffix(', and ')}; " if lead.endswith(", and ") else lead
    if plain := _PLAIN.match(what):
        held = "the result" if plain[0] == "it" and target != "result" else plain[0]
        rest = _others(what[plain.end() :], outputs, "in")
        return f"{lead}{_verb('store', begins)} {held} in {target}{rest}"
    if _QUESTION.match(what):
        return f"{lead}{_verb('store', begins)} in {target} {_others(what, outputs, 'in')}"
    return f"{lead}{_verb('set', begins)} {target} to {_others(what, outputs, 'to')}"


def _names(target: str) -> list[str]:
    """The arrays of a list such as ``a, b[i] and c``."""
    return re.findall(r"\w+", re.sub(r"\[[^\]]*\]| and ", " ", target))


def _verb(verb: str, begins: bool) -> str:
    return verb.capitalize() if begins else verb


def _others(text: str, outputs: Collection[str], link: str) -> str:
    """What follows, in which further outputs get something: ``..., b the index``."""
    names = "|".join(map(re.escape, sorted(outputs, key=len, reverse=True)))
    other = rf"(?:,? and|,) ({names})((?:\[[^\]]*\])?)"
    text = re.sub(rf"{other} gets? ", rf" and \1\2{_GIVEN}", text)
    for m in reversed(list(re.finditer(rf"{other} (?=\S)", text))):
        if not _SAID.match(text[m.end() :]):
            text = f"{text[: m.start()]} and {m[1]}{m[2]} {link} {text[m.end() :]}"
    return text.replace(_GIVEN, f" {link} ")
