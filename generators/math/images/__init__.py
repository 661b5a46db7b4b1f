"""Images: filters, features, resampling and the steps of variational methods."""
