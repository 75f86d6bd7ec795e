"""Pictures: plain data in, charts and self-contained pages out."""
