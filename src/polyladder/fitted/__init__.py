"""The fitted model as one frozen value: columns, steps, ladders, answer, card. All readers of models read this."""
