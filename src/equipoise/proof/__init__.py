"""The proof wing: theorems, mechanisms, curves, certificates, the ledger. It never sees a private row."""
