"""A dataset goes to the Hub."""
