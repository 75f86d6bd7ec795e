"""The released folder: model, certificate, schema, report and manifest, as plain text that anyone can read."""
