"""Small ladders that learn from a large model instead of noisy targets."""
