"""The program's start: ``prima-tui`` and ``python -m prima_tui`` are the same.

The frame of the screen comes first; all else is loaded while it stands there.
"""

import os
import sys

from prima_tui import first_frame


def main() -> None:
    """Run the program and exit with its code."""
    try:
        first_frame.show(sys.argv[1:], os.environ)
        from prima_tui.cli import main as run

        run()
    except KeyboardInterrupt:
        first_frame.leave()
        os._exit(130)
    finally:
        first_frame.leave()


if __name__ == "__main__":
    main()
