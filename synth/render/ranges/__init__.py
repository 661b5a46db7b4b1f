"""Which values a program's expressions can have, for all inputs that its contract allows."""
