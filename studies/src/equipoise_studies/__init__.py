"""Papers, reproduced: one folder a paper, with its claims as data, its runner and its figures."""
