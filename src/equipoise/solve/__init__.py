"""Which weights minimise? Every loss and penalty of the vocabulary has its partner here, which works on arrays."""
