"""[004] Hyland and Tople, "On the Intrinsic Privacy of Stochastic Gradient Descent"."""
