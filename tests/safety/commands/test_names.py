import pytest

from safety.commands import prove
from safety.commands.loopback import needs_no_lookup
from tests.cases import for_each
from tests.safety.commands.samples import lines
from tests.safety.commands.ways_of_names import NOT_RESOLVING, RESOLVING


@for_each(lines(RESOLVING))
def test_a_name_that_a_resolver_may_be_asked_for_reaches_out(command: str):
    proof = prove(command)

    assert proof.reaches_out or not proof.is_read


@for_each(lines(NOT_RESOLVING))
def test_a_command_that_asks_no_resolver_stays_on_the_machine(command: str):
    proof = prove(command)

    assert proof.may_run, proof.reason
    assert not proof.reaches_out


@pytest.mark.parametrize(
    "operand", ["10.0.0.1", "10.0.0.0/8", "[2001:db8::1]:443", "2001:db8::/32", ":443", "*:80",
                "inet:10.0.0.1:80", "127.1.2.3", "localhost:80", "443"]
)  # fmt: skip
def test_numbers_need_no_resolver(operand: str):
    assert needs_no_lookup(operand)


@pytest.mark.parametrize(
    "operand", ["db", "a.example", "a.example:443", "inet:a.example", "10.0.0.1.example", "0x7f.1",
                "[a.example]:80", "a.example/24", "fe80::1.example", "dead:beef:a.example"]
)  # fmt: skip
def test_a_name_needs_a_resolver(operand: str):
    assert not needs_no_lookup(operand)
