"""Where rows come from: schemas, files, frames, encoders, and rows mapped into their domain. It never makes a claim."""
