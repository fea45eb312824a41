"""The DuckDB side: the catalog of parsed sessions, the table that keyword search reads, the semantic index."""
