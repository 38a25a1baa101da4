"""`python -m agents.rehearsal`: serve a script until interrupted."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.rehearsal.loading import BUILTIN_SCRIPTS, load_scripts
from agents.rehearsal.server import RehearsalServer, build_app, listen, spell_url
from tarsy.errors import ConfigError

PACE_VARIABLE = "TARSY_REHEARSAL_PACE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve; returns 2 when the script, the pace or the address cannot be used."""
    options = _parse(arguments)
    try:
        script = load_scripts(options.script or BUILTIN_SCRIPTS)
        pace = _read_pace(options.pace)
        listener = listen(options.host, options.port)
    except (ConfigError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, OverflowError) as error:
        print(f"cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 2

    def announce() -> None:
        print(f"rehearsal listening on {spell_url(listener)}", flush=True)

    with listener:
        try:
            asyncio.run(RehearsalServer(build_app(script, pace=pace), announce).serve([listener]))
        except KeyboardInterrupt:
            return 130
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m agents.rehearsal",
        description="An OpenAI-compatible server that plays a script instead of asking a model.",
    )
    parser.add_argument(
        "--script", type=Path, action="append", help="YAML file to play; of several the first fits"
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port (default)")
    parser.add_argument(
        "--pace",
        default=os.environ.get(PACE_VARIABLE, ""),
        help=f"tokens per second, 0 for as fast as possible (default: {PACE_VARIABLE})",
    )
    return parser.parse_args(arguments)


def _read_pace(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        pace = float(text)
    except ValueError:
        pace = -1.0
    if not 0 <= pace < float("inf"):
        raise ValueError(
            f"{PACE_VARIABLE} or --pace is {text!r}; give tokens per second, 0 for full speed"
        )
    return pace


if __name__ == "__main__":
    raise SystemExit(main())
