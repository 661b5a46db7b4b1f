"""Wrong versions of texts, which a check must notice."""
