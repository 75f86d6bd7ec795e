"""What must be set before anything is imported, and what tests of several rooms share."""

import os

# Without it scikit-learn skips its check of array-API input.
os.environ["SCIPY_ARRAY_API"] = "1"

# Workers of pytest share the cores already; a second thread of linear algebra in each would only wait for its turn.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest


@pytest.fixture
def plain_page(monkeypatch) -> None:
    """Leave the charts of a saved release out, which take seconds to plan: tests/test_report.py looks at pages."""
    monkeypatch.setattr(
        "equipoise.artifact.folder.page_of", lambda certificate, *_, **__: f"<p>{certificate.digest}</p>"
    )
