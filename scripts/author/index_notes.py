"""Write ``notes/README.md``: every page of ``notes/`` by folder, with its title and first sentence.

Run: python scripts/author/index_notes.py. A test asks that the index is what this writes.
"""

from __future__ import annotations

import re
from pathlib import Path

NOTES = Path(__file__).resolve().parents[2] / "notes"
INDEX = "README.md"
ABOUT = """# Notes

`scripts/author/index_notes.py` writes this page. Decisions are numbered and follow
`notes/decisions/template.md`; the other pages describe how things are. Paths in notes are those of
the present; figures are those of their day.
"""
_SENTENCE = re.compile(r"(.+?[.?!])(?=\s|$)")
_NOT_TEXT = ("#", "|", "- Status:", "- Date:", "```", "!")


def title_and_sentence(text: str) -> tuple[str, str]:
    """The heading of a page and the first sentence of its first paragraph, maybe empty."""
    title, _, rest = text.partition("\n")
    for block in rest.split("\n\n"):
        if block.strip() and not block.strip().startswith(_NOT_TEXT):
            words = " ".join(block.split()).replace("|", "\\|")
            first = _SENTENCE.match(words)
            return title.lstrip("# "), first[1] if first else words
    return title.lstrip("# "), ""


def index(notes: Path = NOTES) -> str:
    """The text of the index."""
    sections = [ABOUT]
    for folder in [notes, *sorted(path for path in notes.iterdir() if path.is_dir())]:
        pages = [page for page in sorted(folder.glob("*.md")) if page != notes / INDEX]
        if not pages:
            continue
        name = "The notes themselves" if folder == notes else folder.name.capitalize()
        lines = [f"## {name}", "", "| page | what it says first |", "|---|---|"]
        for page in pages:
            title, sentence = title_and_sentence(page.read_text())
            where = page.relative_to(notes).as_posix()
            lines.append(f"| [{title}]({where}) | {sentence} |")
        sections.append("\n".join(lines) + "\n")
    return "\n".join(sections)


if __name__ == "__main__":
    (NOTES / INDEX).write_text(index())
