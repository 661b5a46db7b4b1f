"""Take the picture of ``pairsmith view`` that README.md shows: the page of the samples in Chromium.

Run: PYTHONPATH=. python scripts/author/take_picture.py [--browser chromium]. Needs playwright and
Pillow, which the dev extra brings, and a Chromium. What it shows is the row that README.md has as
text, with a line of its Python marked.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from scripts.author.write_example import SAMPLES, example
from synth.page.page import view

PICTURE = Path(__file__).resolve().parents[2] / "notes" / "measurements" / "images" / "view.png"
WIDTH, HEIGHT = 1760, 800
COLOURS = 128


def picture(browser: str, folder: Path) -> Image.Image:
    """The page of the samples, open at the row of the example."""
    out = Path(shutil.copytree(SAMPLES, folder / "samples"))
    file = view(out, quiet=True).file
    with sync_playwright() as playwright:
        # A page of ours, from a disk: the sandbox, which root may not have, guards nothing here.
        started = playwright.chromium.launch(
            executable_path=shutil.which(browser), args=["--no-sandbox", "--disable-gpu"]
        )
        page = started.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            reduced_motion="reduce",
        )
        page.goto(f"{file.as_uri()}#row={example()['id']}")
        page.wait_for_selector("body[data-ready]")
        page.locator("#pane-python code > *").last.hover()
        page.wait_for_selector("#pane-warp .mapped")
        taken = Image.open(io.BytesIO(page.screenshot()))
        started.close()
    return taken.convert("RGB").quantize(COLOURS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", default="chromium", help="Its command.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        picture(asked.browser, Path(scratch)).save(PICTURE, optimize=True)
    print(f"written: {PICTURE}, {PICTURE.stat().st_size / 1000:.0f} kB")
