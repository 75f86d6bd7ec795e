"""`equipoise toy`: a toy."""


def command() -> None:
    """Say that a toy was run."""
    print("a toy was run")
