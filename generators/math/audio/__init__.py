"""Audio: filters that run in time, frames, levels and spectra."""
