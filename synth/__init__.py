"""How pairs are made."""
