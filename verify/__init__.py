"""The checker of Equipoise by itself: what a stranger needs to check a release, and nothing else."""
