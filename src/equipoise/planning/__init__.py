"""Which claim is worth making? Searches that hand what they find to `certify`: a bad one wastes accuracy."""
