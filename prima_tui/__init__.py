"""prima-tui: find anything you ever said to, or heard from, a coding agent, and pick that work up again."""

__version__ = "0.1.0"
