"""Measurements, run by name; never part of the suite: ``python -m tests.benchmarks --help``."""
