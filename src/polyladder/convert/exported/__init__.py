"""What a fitted model is outside of Python: columns, elementary steps, ladders and how outputs become answers."""
