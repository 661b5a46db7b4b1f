"""The dataset card: tables, examples, pictures."""
