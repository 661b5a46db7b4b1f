"""Systems that change in time: differential equations and rules applied step by step."""
