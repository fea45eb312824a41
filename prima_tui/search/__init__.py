"""From a query to hits: by word, by meaning, and both."""
