"""Control flow: tariffs, searches in sorted tables, integer loops, escape times, row machines."""

ABOUT = "loops, searches, state machines and branching rules"
