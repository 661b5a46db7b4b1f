"""Prices of derivatives: lattices of their values."""
