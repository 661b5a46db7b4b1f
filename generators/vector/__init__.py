"""Vectors: particles, rays, rotations, neighbourhoods and feature vectors."""

ABOUT = "vectors, rotations and structs: particles, rays, geometry"
