"""G of the paper: one Protocol (base), a file per generator, and the check of citations."""
