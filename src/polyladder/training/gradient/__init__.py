"""Adam on mini-batches over a batch of models."""
