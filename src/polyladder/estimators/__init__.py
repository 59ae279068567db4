"""The scikit-learn face: estimators and batched grid search. Glue, no mathematics."""
