"""The order and the blank lines of a module that is put together from pieces."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Built:
    """The text of a module, and which of its lines holds the first line of the kernel's body."""

    python: str
    body_line: int


@dataclass
class ModuleDraft:
    """The module so far: what each name stands for, and the definitions in order."""

    meanings: dict[str, Any] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    definitions: list[str] = field(default_factory=list)
    namespaces: dict[str, dict[str, str]] = field(default_factory=dict)

    def assemble(self, kernel_text: str, name: str) -> Built:
        """The whole text, the kernel last.

        Classes of constants come first, and before them what their constants name, as a struct.
        """
        spaces = [class_text(n, "", attributes) for n, attributes in self.namespaces.items()]
        needed = _needed(spaces, self.definitions)
        rest = [one for one in self.definitions if one not in needed]
        parts = ["\n".join(_sorted_imports(self.imports)) + "\n"]
        for part in (*needed, *spaces, *rest, kernel_text):
            simple = _is_simple(part) and _is_simple(parts[-1].rsplit("\n\n", 1)[-1])
            gap = "\n" if len(parts) == 1 and _is_simple(part) else "" if simple else "\n\n"
            parts.append(gap + part)
        python = "".join(parts)
        module = ast.parse(python)
        (kernel,) = (n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == name)
        return Built(python, kernel.body[0].lineno)


def _needed(texts: Sequence[str], definitions: Sequence[str]) -> list[str]:
    """Of the definitions, in their order, those of names that texts use, and what these use."""
    known = [(one, _defined(one), _used(one)) for one in definitions] if texts else []
    names = set().union(*map(_used, texts))
    while more := {n for _, own, uses in known if own & names for n in uses} - names:
        names |= more
    return [one for one, own, _ in known if own & names]


def _defined(text: str) -> set[str]:
    """The names that a definition binds."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def _used(text: str) -> set[str]:
    loads = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name))
    return {node.id for node in loads if isinstance(node.ctx, ast.Load)}


def class_text(name: str, base: str, attributes: dict[str, str]) -> str:
    head = f"class {name}({base}):" if base else f"class {name}:"
    body = "".join(f"    {label} = {text}\n" for label, text in attributes.items())
    return f"{head}\n{body or '    pass' + chr(10)}"


def _is_simple(text: str) -> bool:
    return not text.lstrip("\n").startswith(("@", "class ", "def ", "import ", "from "))


def _sorted_imports(lines: set[str]) -> list[str]:
    froms = sorted(line for line in lines if line.startswith("from "))
    plain = sorted(line for line in lines if not line.startswith(("from ", "import warp")))
    warp = sorted(line for line in lines if line.startswith("import warp"))
    standard = [*plain, *froms]
    return [*standard, *([""] if standard else []), *warp]


def quoted(text: str) -> str:
    if "\n" in text and '"""' not in text and "\\" not in text and not text.endswith('"'):
        return f'"""{text}"""'
    return repr(text)


def function_decorator(function: Any) -> str:
    """How a Warp function is decorated, native snippets written out."""
    if function.native_snippet is not None:
        snippets = {
            "snippet": function.native_snippet,
            "adj_snippet": function.adj_native_snippet,
            "replay_snippet": function.replay_snippet,
        }
        given = [f"{k}={quoted(v)}" for k, v in snippets.items() if v is not None]
        return f"@wp.func_native({', '.join(given)})"
    hint = getattr(function, "inline_hint", None)
    return f"@wp.func(inline={hint == 'forceinline'})" if hint else "@wp.func"
