"""Ways to fit a ladder: mini-batch gradients and exact block solves, many models at once."""
