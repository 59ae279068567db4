"""Ways to fit models, many at once: gradients on mini-batches, exact solves, and posteriors."""
