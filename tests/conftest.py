"""What must be set before anything is imported."""

import os

# Without it scikit-learn skips its check of array-API input.
os.environ["SCIPY_ARRAY_API"] = "1"
