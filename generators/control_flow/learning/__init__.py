"""Decisions of models: routing, decoding, sampling, matching, replay."""
