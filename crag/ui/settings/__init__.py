"""The Settings page: one module for its groups, one for the fields, one each for keys, services and reopening."""
