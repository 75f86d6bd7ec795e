"""How good a released model is: one noisy histogram, paid for once, and all that follows from it (N4)."""
