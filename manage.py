#!/usr/bin/env python
"""Django's command line, with servers of our own where none are given."""

import io
import os
import sys


def print_anyway() -> None:
    """What the terminal's encoding has no sign for is written as an escape; it stops nothing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    from tarsy.embedded import EmbeddedError
    from tarsy.embedded.commands import servers_for
    from tarsy.errors import ConfigError

    print_anyway()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tarsy.settings")
    try:
        with servers_for(sys.argv[1:]):
            from django.core.management import execute_from_command_line

            execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)
    except EmbeddedError as error:
        sys.exit(f"The embedded servers cannot run: {error}")
    except ConfigError as error:
        sys.exit(f"TARSy does not start, this is wrong:\n{error}")


if __name__ == "__main__":
    main()
