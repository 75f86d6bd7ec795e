"""The learning wing: it reads rows, builds the objective and solves it. It never makes a privacy claim."""
