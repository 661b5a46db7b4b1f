"""Rotations, rigid transforms and spatial vectors."""
