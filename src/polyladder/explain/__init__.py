"""One reader of fitted models: columns in original units, strengths, curves, terms, quality. Others draw them."""
