"""Steps of parallel algorithms: scans, butterflies, sorts of places, changes of layout."""
