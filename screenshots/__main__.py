"""`python -m screenshots`: make a world, take a picture of every page, leave nothing behind."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.lab import open_lab
from screenshots.camera import Camera, open_camera
from screenshots.sights import Sight
from screenshots.stage import set_stage
from tests.processes import ROOT, Process, find_free_port

CONFIG_DIR = Path(__file__).parent / "config"
FOLDER = ROOT / "docs" / "screenshots"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m screenshots", description=__doc__)
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder of the pictures")
    parser.add_argument("--only", default="", help="those whose name begins like this")
    options = parser.parse_args()
    folder: Path = options.into
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    port = find_free_port()
    os.environ.update(set_stage(port))
    with (
        open_lab(is_quick=True, config=CONFIG_DIR),
        _web() as url,
        open_camera(url, folder, options.only) as camera,
    ):
        count = _take(camera, port, url)
    print(f"{count} pictures in {folder}, {time.monotonic() - began:.0f} s")
    for complaint in camera.complaints:
        print(f"A page complained: {complaint}", file=sys.stderr)
    return 1 if camera.complaints else 0


def _take(camera: Camera, port: int, url: str) -> int:
    # Django is set up by now, which models need.
    from screenshots.world import PASSWORD, PERSON, World

    world = World()
    # Playwright keeps a loop in this thread, and Django's database refuses to be asked beside it.
    with ThreadPoolExecutor(1) as database:

        def find(sight: Sight) -> str:
            return database.submit(world.find, sight).result()

        database.submit(world.make_people).result()
        count = camera.take_all("before", find)
        camera.log_in(PERSON, PASSWORD)
        count += camera.take_all("empty", find)
        database.submit(world.play_sessions, port).result()
        database.submit(world.make_sessions).result()
        database.submit(world.check_models, port).result()
        _knock(url)
        count += camera.take_all("full", find)
        database.submit(world.leave).result()
    return count


def _knock(url: str) -> None:
    """Posts of alert sources that show no secret, or a wrong one: the product counts them."""
    for source, shown in (("alertmanager", "Bearer mistyped"), ("grafana", ""), ("grafana", "")):
        response = httpx.post(
            f"{url}/api/v1/webhooks/{source}",
            json={"alerts": []},
            headers={"Authorization": shown} if shown else {},
        )
        if response.status_code != 401:
            raise AssertionError(f"a post of {source} was answered {response.status_code}")


@contextmanager
def _web() -> Iterator[str]:
    """One web process of the product, as a team runs it: people log in."""
    os.environ["GEMINI_API_KEY"] = "nobody is asked"  # the lab has taken real ones away
    port = find_free_port()
    url = f"http://127.0.0.1:{port}"
    process = Process(
        *("-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "tarsy.asgi:application"),
        environment={**os.environ, "TARSY_AUTH": "login", "LOG_LEVEL": "INFO"},
        ready="Listening on TCP",
    )
    try:
        process.wait_until_ready()
        yield url
    finally:
        process.stop()


if __name__ == "__main__":
    sys.exit(main())
