"""What a dataset wears in public: pictures, and a card that shows them and has its name."""

from __future__ import annotations

from pathlib import Path

from synth.card.page import write_card
from synth.dataset.manifest import Manifest
from synth.dataset.views_index import Views
from synth.errors import SettingsError

IMAGES = "images"


def dress(out: Path, manifest: Manifest, views: Views | None, name: str) -> None:
    """Draw the pictures and write the card for the repository ``name``.

    A harvested dataset keeps the card that it has. Raises SettingsError without matplotlib.
    """
    if manifest.is_harvested:
        return
    try:
        from synth.card.plots import draw_all
    except ImportError:
        raise SettingsError("pictures need matplotlib: pip install 'pairsmith[publish]'") from None
    drawn = draw_all(out, out / IMAGES, manifest.draws)
    write_card(out, manifest, views, name, [path.stem for path in drawn])
