"""Searches in structures that lie in arrays: trees of decisions, hash tables, ordered layouts."""
