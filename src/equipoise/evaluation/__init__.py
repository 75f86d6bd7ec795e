"""How good a release is: one paid histogram of scores by true class, and every figure that follows from it (N4)."""
