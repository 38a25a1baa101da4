"""Releases of the web service: made, and put in force by a link, as is common."""

import json

from tarsy.shop.layout import Layout, Release, write_whole

FIRST = "41"
NEXT = "42"


def make_release(layout: Layout, release: Release) -> None:
    """Lay a release down beside the others. It is not in force by that."""
    directory = layout.releases / release["version"]
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    write_whole(directory / "release.json", json.dumps(release))


def put_in_force(layout: Layout, version: str) -> None:
    """Let the next start of the web service take this release."""
    new = layout.current.with_name(".current.new")
    new.unlink(missing_ok=True)
    new.symlink_to(version)
    new.replace(layout.current)


def find_previous(layout: Layout) -> str | None:
    """The newest release before the one in force; None where there is none."""
    current = layout.current.readlink().name
    versions = sorted(
        (each.name for each in layout.releases.iterdir() if each.name.isdecimal()), key=int
    )
    earlier = [each for each in versions if int(each) < int(current)]
    return earlier[-1] if earlier else None
