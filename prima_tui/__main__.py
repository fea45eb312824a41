"""``python -m prima_tui`` is the same program as ``prima-tui``."""

from prima_tui.cli import main

if __name__ == "__main__":
    main()
