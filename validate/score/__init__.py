"""Answers of others, judged on hidden inputs."""
