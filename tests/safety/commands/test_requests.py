import pytest

from safety.commands import prove
from safety.commands.addresses import read_operators_address
from tests.cases import for_each
from tests.safety.commands.samples import lines
from tests.safety.commands.ways_of_requests import ACTING, ASKING

ADDRESSES = (
    read_operators_address("http://localhost:8080/orders/*/state?verbose&page"),
    read_operators_address("http://10.0.0.7/report"),
)


@for_each(lines(ACTING))
def test_a_request_that_may_act_is_no_proven_read(command: str):
    assert not prove(command).is_read


@for_each(lines(ASKING))
def test_a_page_that_is_known_to_only_tell_something_is_fetched(command: str):
    proof = prove(command)

    assert proof.may_run, proof.reason
    assert not proof.reaches_out


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8080/orders/12/state",
        "localhost:8080/orders/a-b/state?verbose",
        "'http://localhost:8080/orders/12/state?page=2&verbose=1'",
        "http://10.0.0.7:80/report",
    ],
)
def test_what_the_operator_lists_is_fetched(address: str):
    assert prove(f"curl -s {address}", addresses=ADDRESSES).may_run
    assert not prove(f"curl -s {address}").is_read


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8081/orders/12/state",
        "http://localhost/orders/12/state",
        "http://localhost:8080/orders/12/state?act=x",
        "http://localhost:8080/orders/../state",
        "http://localhost:8080/orders/12/x/state",
        "http://localhost:8080/orders/12%2f..%2fx/state",
        "https://10.0.0.7/report",
    ],
)
def test_what_the_operator_lists_is_no_more_than_is_written(address: str):
    assert not prove(f"curl -s '{address}'", addresses=ADDRESSES).is_read


@pytest.mark.parametrize(
    "text", ["/orders", "ftp://h/x", "http://h", "http://h/../x", "http://h/a//b", "http://h/x?a=1"]
)
def test_an_operator_is_told_how_an_address_is_written(text: str):
    with pytest.raises(ValueError, match="write http://HOST:PORT/path"):
        read_operators_address(text)
