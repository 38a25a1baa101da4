"""`python -m benchmarks [NAME ...] [--quick]`: measure, and print tables and lines of JSON."""

import argparse
import importlib
import os
import time
from pathlib import Path

from benchmarks.figures import print_report
from benchmarks.incident_list import INCIDENTS
from benchmarks.lab import Lab, open_lab
from benchmarks.pages import FULL, SHORT

NAMES = (
    "intake",
    "deliveries",
    "stream_latency",
    "handoff",
    "iteration",
    "streaming",
    "report_stream",
    "cuts",
    "following",
    "waiting",
    "recovery",
    "masking",
    "classification",
    "prose",
    "findings",
    "rules",
    "pages",
    "incident_list",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter measurements")
    parser.add_argument(
        "--sessions", type=int, metavar="N",
        help=f"how many sessions `pages` looks through, with ten timeline events each; "
        f"{FULL:,} when it is asked for by name, some minutes to write; else {SHORT:,}. "
        f"`incident_list` as well; else {INCIDENTS:,}",
    )  # fmt: skip
    parser.add_argument(
        "--keep", type=Path, metavar="DIR",
        help="where the databases are and stay, so that the next run need not write a history",
    )  # fmt: skip
    parser.add_argument("--only", default="", metavar="WORDS",
                        help="`pages` measures pages with these words in their names")  # fmt: skip
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    sessions = options.sessions
    if sessions is None and not options.quick and options.names != ["incident_list"]:
        sessions = FULL if "pages" in options.names else SHORT
    began = time.monotonic()
    _print_speed()
    with open_lab(
        is_quick=options.quick, sessions=sessions, only=options.only, keep=options.keep
    ) as lab:
        failed = [name for name in options.names or NAMES if not _run(name, lab)]
    _print_speed()
    print(f"\n{time.monotonic() - began:.0f} s in all, on {os.cpu_count()} cores")
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _print_speed() -> None:
    """How fast this machine computes just now: CPU figures are to be read beside it."""
    before = time.process_time()
    sum(number * number for number in range(2_000_000))
    spent = (time.process_time() - before) * 1000
    load = os.getloadavg()[0]
    print(f"2,000,000 squares take {spent:.0f} ms of CPU; load average {load:.1f}", flush=True)


def _run(name: str, lab: Lab) -> bool:
    """Measure and print; False, with the reason printed, where that was not possible."""
    benchmark = importlib.import_module(f"benchmarks.{name}")
    load, began = os.getloadavg()[0], time.monotonic()
    try:
        report = benchmark.measure(lab)
    except (AssertionError, RuntimeError, OSError) as error:
        print(f"\n== {name} could not be measured: {error}", flush=True)
        return False
    seconds = time.monotonic() - began
    print_report(name, report, seconds=seconds, load=(load, os.getloadavg()[0]))
    return True


if __name__ == "__main__":
    raise SystemExit(main())
