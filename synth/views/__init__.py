"""Training views: conversations beside the shards."""
