"""What a process does before it serves."""

import subprocess
import sys

import pytest

from tests.processes import ROOT, child_environment

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("entry", ["tarsy.wsgi", "tarsy.asgi"])
@pytest.mark.django_db
def test_the_collector_is_spared_what_a_web_process_has_loaded(entry):
    code = (
        f"import gc, sys, {entry}; left = len(gc.get_objects()); "
        "print(gc.get_freeze_count() > 20 * left, 'investigations.views.sessions' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=child_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert done.stdout.split() == ["True", "True"]
