"""A WSGI application that answers with its process once as many requests are there as were asked
for, in whatever processes."""

import os
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.processes import wait_for


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    place, awaited = Path(os.environ["MEETING_PLACE"]), int(environ["QUERY_STRING"])
    (place / str(uuid.uuid4())).touch()
    wait_for(lambda: len(list(place.iterdir())) >= awaited, what="the other requests", every=0.01)
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
