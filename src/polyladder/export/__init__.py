"""Fitted estimators and ladders out of Python: source, ONNX, formulas, encrypted inference."""
