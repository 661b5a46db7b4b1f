"""Gradients of products, as autograd has them: several products in one text."""
