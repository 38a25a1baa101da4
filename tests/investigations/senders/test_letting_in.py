"""Who comes in without an API token: by a secret, by where it comes from, or not at all."""

import pytest

from config.schema.alert_senders import FORMS, AlertSenderConfig
from config.senders import list_rules
from investigations.senders.letting_in import let_in
from investigations.senders.proofs import Knock, Refused
from investigations.sources.registry import SOURCES
from tests.investigations.senders.knocks import TOPIC, knock, roots

ENVIRON = {"NEW": "new-secret", "OLD": "old-secret", "BLANK": "  "}


def judge(sender: AlertSenderConfig | None, post: Knock, source: str = "zabbix") -> str | None:
    return let_in(
        source,
        sender,
        post,
        read_secret=lambda name: ENVIRON.get(name, ""),
        read_body=dict,
        fetch=lambda _address: b"",
        roots=roots,
    )


def refusal(sender: AlertSenderConfig | None, post: Knock) -> Refused:
    with pytest.raises(Refused) as caught:
        judge(sender, post)
    return caught.value


def test_each_source_has_a_usual_form():
    assert sorted(FORMS) == sorted(SOURCES)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_without_a_secret_this_machine_is_let_in(address):
    for sender in (None, AlertSenderConfig(), AlertSenderConfig(networks=("10.0.0.0/8",))):
        assert judge(sender, knock(address=address)) is None


@pytest.mark.parametrize("address", ["198.51.100.7", "", "unix:", "10.1.2.3.4", "128.0.0.1"])
def test_without_a_secret_nobody_else_is(address):
    assert refusal(None, knock(address=address)).code == "wrong_place"
    assert refusal(AlertSenderConfig(), knock(address=address)).code == "wrong_place"


def test_a_network_that_is_listed_is_let_in_without_a_secret():
    sender = AlertSenderConfig(networks=("10.0.0.0/8", "2001:db8::/32"))

    for address in ("10.200.3.4", "::ffff:10.0.0.1", "2001:db8::5"):
        assert judge(sender, knock(address=address)) is None
    for address in ("11.0.0.1", "2001:db9::5"):
        assert refusal(sender, knock(address=address)).code == "wrong_place"


def test_a_proxy_that_nobody_told_of_lends_its_address_to_nobody():
    behind = knock(address="127.0.0.1", came_straight=False)

    error = refusal(None, behind)

    assert error.code == "wrong_place"
    assert "TARSY_FORWARDING_PROXIES" in str(error)


def test_either_of_two_secrets_lets_in_from_anywhere():
    sender = AlertSenderConfig(secret_envs=("NEW", "OLD"))

    for secret in ("new-secret", "old-secret"):
        assert judge(sender, knock(headers={"authorization": f"Bearer {secret}"})) == "token"
    assert refusal(sender, knock(address="127.0.0.1")).code == "no_proof"


def test_networks_beside_a_secret_are_needed_as_well():
    sender = AlertSenderConfig(secret_envs=("NEW",), networks=("10.0.0.0/8",))
    headers = {"authorization": "new-secret"}

    assert judge(sender, knock(address="10.0.0.1", headers=headers)) == "token"
    assert refusal(sender, knock(address="127.0.0.1", headers=headers)).code == "wrong_place"
    assert refusal(sender, knock(address="10.0.0.1")).code == "no_proof"


@pytest.mark.parametrize("names", [("MISSING",), ("BLANK", "MISSING")])
def test_a_secret_that_is_not_set_closes_the_source(names):
    sender = AlertSenderConfig(secret_envs=names)

    for shown in ("", "Bearer ", "Bearer x"):
        error = refusal(sender, knock(address="127.0.0.1", headers={"authorization": shown}))
        assert error.code == "not_set_up"
        assert "MISSING" in str(error)


def test_the_rules_are_told_in_words():
    senders = {
        "pagerduty": AlertSenderConfig(secret_envs=("NEW", "MISSING")),
        "github": AlertSenderConfig(secret_envs=("BLANK",), networks=("192.0.2.0/24",)),
        "gcp_monitoring": AlertSenderConfig(secret_envs=("NEW",), query="auth_token"),
        "aws_sns": AlertSenderConfig(topics=(TOPIC,)),
        "zabbix": AlertSenderConfig(networks=("10.0.0.0/8",)),
    }

    rules = {rule.source: rule for rule in list_rules(senders, ENVIRON)}

    assert [rule.told for rule in rules.values()] == [
        "takes the signature of PagerDuty from anywhere",
        "takes the signature of GitHub from 192.0.2.0/24",
        "takes a token in the parameter auth_token from anywhere",
        f"takes the signature of Amazon SNS for {TOPIC} from anywhere",
        "open without a secret to this machine and 10.0.0.0/8",
    ]
    assert rules["pagerduty"].missing == ("MISSING",)
    assert not rules["pagerduty"].is_closed
    assert rules["github"].is_closed
