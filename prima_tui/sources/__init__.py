"""One module per source: find its files, read one into transcripts. Strictly read-only."""
