"""The history of the catalog's schema, applied by `crag.knowledge_base.database`."""
