"""From a question to what else may be searched for."""
