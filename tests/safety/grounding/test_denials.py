"""A report that denies a change which the trail has."""

import pytest

from safety.grounding.denials import Done, find_denials

ROLLBACK = Done('cluster rollout_undo {"deployment": "payments-api"}', "cluster.rollout_undo")
RESTART = Done('ops control {"action": "restart", "resource_id": "service:nginx"}', "ops.control")
SCALE = Done('k8s scale {"deployment": "web", "replicas": 4}', "k8s.scale")


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("The rollback was not done.", ROLLBACK),
        ("payments-api was not rolled back.", ROLLBACK),
        ("The service hasn't been restarted yet.", RESTART),
        ("No restart was needed and nothing was changed.", RESTART),
        ("The restart was never executed, so nginx is still down.", RESTART),
        ("No changes were made.", SCALE),
        ("web could not be scaled.", SCALE),
        ("The pods are fine; the deployment was not scaled up.", SCALE),
    ],
)
def test_what_denies_a_write_that_ran_is_found(text, done):
    (found,) = find_denials(text, [done])

    assert text[found.start : found.end].strip()


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("The rollback was done, and has not been verified.", ROLLBACK),
        ("The restart ran; its effect was not seen.", RESTART),
        ("nginx was restarted once.", RESTART),
        ("The database was not restarted by the deployment.", SCALE),
        ("Memory is not growing any more.", ROLLBACK),
        ("The config was not changed since Monday.", ROLLBACK),
        ("It was not the disk.", RESTART),
    ],
)
def test_what_says_something_else_is_left_alone(text, done):
    assert list(find_denials(text, [done])) == []


def test_where_nothing_was_done_nothing_is_denied():
    assert list(find_denials("Nothing was changed.", [])) == []
