"""The languages that the printers of plain CUDA can write: tables of their words."""
