"""[003] dropout as a stabiliser, its theorems corrected and its experiments run again."""
