"""What must be set before anything is imported."""

import os

# Without it scikit-learn skips its check of array-API input.
os.environ["SCIPY_ARRAY_API"] = "1"

# Workers of pytest share the cores already; a second thread of linear algebra in each would only wait for its turn.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
