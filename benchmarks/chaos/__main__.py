"""`python -m benchmarks.chaos [--seed N] [--minutes M]`: exits 1 when a promise was broken."""

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType

from benchmarks.chaos.outcome import print_outcome
from benchmarks.chaos.run import PACES, run_chaos


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long faults come")
    parser.add_argument("--leases", choices=PACES, default="short", help="short, or as shipped")
    parser.add_argument("--logs", type=Path, metavar="DIR", help="keep the processes' logs here")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _leave)
    print(f"seed {options.seed}, {options.minutes:g} min, {options.leases} leases", flush=True)
    try:
        outcome = run_chaos(options.seed, options.minutes, options.leases, options.logs)
    except AssertionError as error:
        print(f"The stack did not start: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted; everything that was started is stopped", file=sys.stderr)
        return 130
    print_outcome(outcome, seed=options.seed)
    return 0 if outcome.is_kept else 1


def _leave(_number: int, _frame: FrameType | None) -> None:
    """As Ctrl-C does, so that everything that was started is stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
