"""Keeps a process of the shop running: starts it again whenever it ends, and says so.

python -m tarsy.shop.keep --home DIR worker
"""

import signal
import subprocess
import sys
import time

from tarsy.shop.layout import PROJECT_ROOT, Layout
from tarsy.shop.lifeline import begin, say

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 2.0
_SETTLED_SECONDS = 20.0


def main() -> None:
    options = begin("Keeps a process running.", None, "module")
    layout: Layout = options.layout
    argv = [sys.executable, "-m", f"tarsy.shop.{options.module}", "--home", str(layout.home)]
    pause, restarts = _FIRST_PAUSE, 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        started = time.monotonic()
        with subprocess.Popen(argv, cwd=PROJECT_ROOT, stdin=subprocess.DEVNULL) as process:
            try:
                code = process.wait()
            except SystemExit:
                process.terminate()
                raise
        if time.monotonic() - started > _SETTLED_SECONDS:
            pause, restarts = _FIRST_PAUSE, 0
        restarts += 1
        say(f"ERROR the {options.module} ended with exit code {code}; restart {restarts} "
            f"in {pause:.1f} s")  # fmt: skip
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


if __name__ == "__main__":
    main()
