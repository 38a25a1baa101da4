"""`python -m tarsy.reference` prints the page; `--write` puts it in its place."""

import sys
from argparse import ArgumentParser

from tarsy.reference.page import write_page
from tarsy.reference.variables import ROOT

PAGE = ROOT / "docs" / "configuration.md"


def main() -> None:
    """Print the page, or write it with `--write`."""
    parser = ArgumentParser(prog="python -m tarsy.reference", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    if parser.parse_args().write:
        PAGE.write_text(write_page(), encoding="utf-8")
    else:
        sys.stdout.write(write_page())


if __name__ == "__main__":
    main()
