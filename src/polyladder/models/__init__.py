"""Trainable models over a leading ``batch_shape``, and `merge`, which turns a trained ladder into its polynomial."""
