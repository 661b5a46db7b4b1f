"""Pairs from Warp modules that people wrote."""
