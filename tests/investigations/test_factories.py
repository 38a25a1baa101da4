"""Every factory makes a row that the database accepts, in each state it offers."""

import pytest

from tests import factories


@pytest.mark.django_db
@pytest.mark.parametrize(
    "factory",
    [value for name, value in vars(factories).items() if name.endswith("Factory")],
)
def test_factory_makes_two_rows(factory):
    first, second = factory.create_batch(2)

    assert first.pk != second.pk


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("factory", "state"),
    [
        (value, state)
        for name, value in vars(factories).items()
        if name.endswith("Factory")
        for state in value._meta.parameters
    ],
)
def test_factory_makes_each_state(factory, state):
    row = factory.create(**{state: True})

    row.refresh_from_db()
    assert row.pk
