"""The fitted model as one frozen value: columns, steps, ladders, answer, card; and features, which learn its steps."""
