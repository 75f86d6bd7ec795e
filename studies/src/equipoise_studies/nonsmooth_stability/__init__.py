"""The study of R. Bassily, V. Feldman, C. Guzman and K. Talwar, "Stability of SGD on Nonsmooth Convex Losses"."""
