"""The typed tree: types, ops and their signatures, expressions, statements, walking, keys, JSON."""
