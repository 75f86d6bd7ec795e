"""The toys belong to another house: only a copy of this one, with them in it, can import them."""

collect_ignore_glob = ["house/**"]
