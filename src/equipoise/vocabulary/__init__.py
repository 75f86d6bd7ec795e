"""The vocabulary: names of things and their constants. It sees no private row and makes no privacy claim."""
