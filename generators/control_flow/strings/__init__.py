"""Texts as rows of codes: automata, matching, counting, coding."""
