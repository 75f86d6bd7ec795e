"""The numbers that the paper prints."""

# The introduction: how much more accurate dropout is than L2 on Atheist ("almost 3 %").
ATHEIST_GAIN = 0.03
# Section 5: how much more accurate a network with dropout is than without, on half of MNIST.
MNIST_GAIN = 0.16
# Theorem 1: the probability, and the factor 2 of equation (3).
PROBABILITY, FOURTH_MOMENT = 1 / 8, 2.0
# Theorems 3 and 10: excess risk like 1/n; Theorem 14: a distance like 1/n (all at T = n^2, up to logarithms).
RATE = -1.0

TOLERANCE_GAIN = 0.35
# Logarithms bend the rates over the sizes that are run.
TOLERANCE_RATE = 0.2
