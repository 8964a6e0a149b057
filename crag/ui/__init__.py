"""The page: it starts jobs, follows their events and draws traces; it decides nothing."""
