import pytest
pytestmark = pytest.mark.django_db


def test_get(viewer, chains):
    page = viewer.get("/submit-alert/").content.decode()
    assert "Will run 2 stages, 2 agents" in page
