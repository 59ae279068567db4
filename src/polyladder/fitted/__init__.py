"""The fitted model as one frozen value: columns, steps, ladders, answer, card; and the features that learn its steps."""
