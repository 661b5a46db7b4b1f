"""Likelihoods on trees: what the leaves tell of the states at a node."""
