"""`python -m bnlab`, and the program `bnlab`: the command in a process of its own."""

import signal
import sys
import threading
import traceback
from _thread import interrupt_main


def run() -> int:
    """Run the command; Ctrl-C at any moment ends it with code 130 and in one line."""
    sys.unraisablehook = _again
    try:
        try:
            from bnlab.cli import main

            return main()
        finally:  # there is nothing left to stop
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            exec("")  # Python ends by a signal if its last `exec` was interrupted; this one is not
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first call fails when one is pending
        exec("")
        if "--debug" in sys.argv:
            traceback.print_exc()
        print("bnlab: interrupted", file=sys.stderr)
        return 130


def _again(lost: "sys.UnraisableHookArgs") -> None:
    """An interrupt in the midst of cleaning up, where Python drops it, comes again a bit later."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, _interrupt).start()
    else:
        sys.__unraisablehook__(lost)


def _interrupt() -> None:
    """As a signal to the main thread, which may be asleep."""
    thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and thread is not None:
        signal.pthread_kill(thread, signal.SIGINT)
    else:
        interrupt_main()


if __name__ == "__main__":
    raise SystemExit(run())
