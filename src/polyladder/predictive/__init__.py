"""What a set of draws says of a prediction: mixtures, diagnostics, calibration."""
