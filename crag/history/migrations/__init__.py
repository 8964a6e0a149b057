"""The history of the schema of people's own things, applied by `crag.database`."""
