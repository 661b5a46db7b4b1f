"""Matrix products with several tiles in flight: by registers (`simt`) and tensor cores (`mma`)."""
