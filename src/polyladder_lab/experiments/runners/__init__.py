"""What fits the models of a table, and where their rows come from."""
