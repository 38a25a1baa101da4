"""Every fault of the demo's shop, from the alert to the repair, as root and as an ordinary user.

Each takes half a minute, so these are apart from the rest: `make demo-check`.
"""

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from tarsy.embedded.accounts import Account
from tarsy.embedded.run_as import CAP_DAC_READ_SEARCH
from tests.demos import Demo

# Browsers and databases of others may take most of the machine meanwhile.
pytestmark = pytest.mark.timeout(1200)

# What the conclusion says of the cause, and the repair that mends it.
FAULTS = {
    "pool": ("takes connections to its database and gives none back", "roll-back"),
    "port": ("and everybody asks at port", "roll-back"),
    "spool": ("MiB that `shop-web` may keep there", "end-debug-log"),
    "poison": ("again and again at the same message", "set-message-aside"),
    "certificate": ("so nobody who checks it can connect", "renew-certificate"),
    "cache": ("may let go of nothing (`noeviction`)", "evict-old-carts"),
}
USERS = ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]


@pytest.fixture
def var_dir() -> Iterator[Path]:
    """A directory that every user can walk to."""
    directory = Path(tempfile.mkdtemp(prefix="tarsy-demo-", dir="/tmp"))
    directory.chmod(0o755)
    yield directory / "var"
    shutil.rmtree(directory, ignore_errors=True)


def wrap(user: str, var_dir: Path) -> Sequence[str]:
    """What stands before a program that this user is to run."""
    if user == "root" or os.geteuid() != 0:
        return ()
    nobody = pwd.getpwnam("nobody")
    os.chown(var_dir.parent, nobody.pw_uid, nobody.pw_gid)
    # The interpreter may lie where nobody else can look: reading is let through, writing is not.
    return Account(nobody.pw_uid, nobody.pw_gid, CAP_DAC_READ_SEARCH).command([])


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_cause_is_found_and_mended(fault: str, user: str, var_dir: Path, record_property):
    demo = Demo(var_dir, fault=fault)
    try:
        demo.start(wrap=wrap(user, var_dir), until=f"(FAULT={fault};")
        request = demo.wait_for_request()
        seconds = _seconds_to_the_cause(demo)
        record_property("seconds_to_the_cause", seconds)
        print(f"{fault} as {user}: {seconds:.1f} s from the alert to the cause")
        demo.approve(request)
        session = demo.wait_for_session("completed", "failed", "timed_out")
        demo.wait_until_all_is_well()
        incident = demo.wait_for_recovery()
        seen = demo.check_log()
    finally:
        demo.stop()

    cause, repair = FAULTS[fault]
    report = session["final_analysis"]
    conclusion = report.partition("## Conclusion")[2].partition("\n## ")[0]
    assert cause in conclusion, report
    assert "ran, and the cause is gone" in conclusion, report
    assert "approved by admin; verified" in report
    assert (session["status"], request["arguments"]["repair"]) == ("completed", repair)
    assert (incident["firing_count"], incident["reopened_at"]) == (0, None), seen
    assert [each["id"] for each in incident["sessions"]] == [session["id"]]
    demo.wait_until_gone()


def test_where_nothing_is_wrong_nothing_is_found_and_nothing_asked_for(var_dir: Path):
    demo = Demo(var_dir, fault="none")
    try:
        demo.start()
        session = demo.wait_for_session("completed", "failed", "timed_out")
        requests = demo.get("/api/v1/approvals").json()["approvals"]
    finally:
        demo.stop()

    assert session["status"] == "completed"
    assert "No rule found a cause" in session["final_analysis"]
    assert "declared services are well" in session["final_analysis"]
    assert requests == []


def test_a_demo_that_is_killed_leaves_no_process(var_dir: Path):
    demo = Demo(var_dir)
    demo.start(until="A small shop runs at")
    running = demo.find_processes()

    demo.kill()

    assert len(running) > 6
    demo.wait_until_gone()


def _seconds_to_the_cause(demo: Demo) -> float:
    """From the alert to the end of the first stage."""
    session = demo.wait_for_session("in_progress")
    ended = datetime.fromisoformat(session["stages"][0]["completed_at"])
    return (ended - datetime.fromisoformat(session["created_at"])).total_seconds()
