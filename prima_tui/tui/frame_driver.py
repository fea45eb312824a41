"""Taking the terminal over from the first frame without a blank picture in between."""

from __future__ import annotations

from typing import Any

from textual.drivers.linux_driver import LinuxDriver

from prima_tui import first_frame


class FrameDriver(LinuxDriver):
    """Textual's driver of a terminal on which the first frame may stand."""

    _stands = False

    def start_application_mode(self) -> None:
        """Textual's: begin to draw. The frame stays until the first picture is drawn over it."""
        before = first_frame.taken_over()
        self._stands = before is not None
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if before is not None:
            attributes: list[Any] = before
            # those that Textual found are the frame's: without echo
            self.attrs_before = attributes

    def write(self, data: str) -> None:
        """Textual's: write to the terminal; what would clear it before the first picture is left out."""
        if self._stands and data == first_frame.ALTERNATE:
            self._stands = False
            return
        super().write(data)
