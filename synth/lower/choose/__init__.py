"""Which schedule is taken where a spec names none, or parts of one: found, measured or modelled."""
