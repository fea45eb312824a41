"""A project's own texts: finding them, reading them, splitting them into chunks."""
