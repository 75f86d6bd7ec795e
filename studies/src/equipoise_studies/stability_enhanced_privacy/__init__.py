"""Watson, Rozemberczki and Sarkar, "Stability Enhanced Privacy and Applications in Private SGD", measured again."""
