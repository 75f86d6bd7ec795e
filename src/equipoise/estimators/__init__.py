"""The faces: estimators that follow scikit-learn and show what the door returns."""
