"""`investigate` says at once where nobody would answer."""

import fcntl
from pathlib import Path
from threading import Timer

import pytest
from django.core.management import call_command

from investigations.management.commands import investigate
from investigations.models import AlertSession
from tarsy.one_start import hold_start, is_started

pytestmark = pytest.mark.django_db


@pytest.fixture
def alert(tmp_path: Path, settings, monkeypatch) -> str:
    """An alert in a file, and servers of our own that run for somebody who does not work."""
    settings.VAR_DIR = tmp_path / "var"
    monkeypatch.setattr(investigate, "are_ours", lambda var_dir: var_dir == settings.VAR_DIR)
    monkeypatch.setattr(investigate, "live_workers", list)
    monkeypatch.setattr(investigate, "NOBODY_FOR", 0.0)
    monkeypatch.setattr(investigate, "NO_WORKER_AFTER", 0.0)
    monkeypatch.setattr(investigate, "GIVE_UP_AFTER", 0.0)
    path = tmp_path / "alert"
    path.write_text("the disk fills up", encoding="utf-8")
    return str(path)


def test_a_directory_in_which_nobody_works_is_refused_by_its_name(alert, settings, capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("investigate", data=alert)

    assert ended.value.code == investigate.EXIT_FAILED
    assert (
        f"nothing runs from {settings.VAR_DIR}, so nobody would answer" in capsys.readouterr().err
    )
    assert not AlertSession.objects.exists()


def test_where_tarsy_is_just_starting_the_alert_is_kept_and_the_wait_is_told(
    alert, settings, capsys
):
    with hold_start(settings.VAR_DIR), pytest.raises(SystemExit):
        call_command("investigate", data=alert)

    assert f"this command, which has {settings.VAR_DIR}" in capsys.readouterr().out
    assert AlertSession.objects.count() == 1


def test_servers_that_were_given_may_have_their_workers_anywhere(alert, monkeypatch):
    monkeypatch.setattr(investigate, "are_ours", lambda var_dir: False)

    with pytest.raises(SystemExit):
        call_command("investigate", data=alert)

    assert AlertSession.objects.count() == 1


def test_a_directory_is_started_from_while_its_start_is_held(tmp_path):
    assert not is_started(tmp_path / "nowhere")
    with hold_start(tmp_path):
        assert is_started(tmp_path)
        with pytest.raises(BlockingIOError), hold_start(tmp_path):
            pass
    assert not is_started(tmp_path)


def test_whoever_only_asks_keeps_nobody_from_starting(tmp_path):
    with hold_start(tmp_path):
        pass
    with (tmp_path / "quickstart.lock").open() as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        answered = Timer(0.2, fcntl.flock, (asking, fcntl.LOCK_UN))
        answered.start()
        with hold_start(tmp_path):
            assert is_started(tmp_path)
        answered.join()
