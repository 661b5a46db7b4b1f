"""Convolutions, pooling and sampling of images, and their gradients."""
