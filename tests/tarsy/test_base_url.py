"""Where people open the dashboard is said once, and everything that goes by it follows."""

import json

import pytest

from tests.processes import Process, child_environment

pytestmark = pytest.mark.slow

NAMES = (
    "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE",
    "SECURE_CROSS_ORIGIN_OPENER_POLICY",
)  # fmt: skip


def start(**variables: str) -> tuple[int, str]:
    """The exit code of a process that prints these settings, and what it wrote."""
    process = Process(
        *("-m", "tests.tarsy.show_settings", *NAMES),
        environment={
            **child_environment(),
            "DJANGO_SETTINGS_MODULE": "tarsy.settings",
            **variables,
        },
        ready="",
        is_forked=True,
    )
    return process.child.wait(60), process.output


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("https://tarsy.example.com", "tarsy.example.com", "https://tarsy.example.com"),
        ("https://Tarsy.Example.com:443/", "tarsy.example.com", "https://tarsy.example.com"),
        ("HTTPS://tarsy.example.com", "tarsy.example.com", "https://tarsy.example.com"),
        ("http://tarsy.example.com:8080", "tarsy.example.com", "http://tarsy.example.com:8080"),
        ("https://[fd00::2]:8443", "[fd00::2]", "https://[fd00::2]:8443"),
        ("https://bücher.example", "xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
@pytest.mark.django_db
def test_one_address_is_enough_for_hosts_forms_and_cookies(url, host, origin):
    _, output = start(BASE_URL=url)

    read = json.loads(output)
    assert read["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]", host]
    assert read["CSRF_TRUSTED_ORIGINS"] == [origin]
    is_secure = url.lower().startswith("https://")
    assert (read["SESSION_COOKIE_SECURE"], read["CSRF_COOKIE_SECURE"]) == (is_secure, is_secure)
    # A browser would complain of it on every page that did not come by TLS.
    assert (read["SECURE_CROSS_ORIGIN_OPENER_POLICY"] == "same-origin") is is_secure


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("BASE_URL", "tarsy.example.com", "https://tarsy.example.com"),
        ("BASE_URL", "https://me:pw@tarsy.example.com", "https://tarsy.example.com"),
        ("BASE_URL", "https://*", "https://tarsy.example.com"),
        ("BASE_URL", "http://*.example.com", "https://tarsy.example.com"),
        ("BASE_URL", "https://tarsy.example.com.", "https://tarsy.example.com"),
        ("BASE_URL", "https://exa,mple.com", "https://tarsy.example.com"),
        ("BASE_URL", "https://tarsy.example.com:port", "https://tarsy.example.com"),
        ("CSRF_TRUSTED_ORIGINS", "tools.example.com", "https://tools.example.com"),
        ("TARSY_FORWARDING_PROXIES", "10.0.0.300", "10.0.0.0/8"),
        ("TARSY_TRUSTED_PROXIES", "nginx, 10.0.0.0/33", "names of hosts"),
    ],
)
@pytest.mark.django_db
def test_a_mistake_stops_the_start_and_says_what_would_be_right(name, value, right):
    code, output = start(**{name: value})

    assert code != 0
    assert f"{name} must be" in output
    assert right in output


@pytest.mark.parametrize(
    ("trusted", "forwarding", "is_refused"),
    [
        ("10.1.0.0/16", "10.1.0.2", True),
        ("10.9.0.1, 10.1.0.2", "nginx, 10.1.0.2", True),
        ("10.1.0.7", "10.1.0.0/16", True),
        ("fd00::/64", "fd00::2", True),
        ("oauth2-proxy, NGINX", "nginx", True),
        ("10.1.0.7", "10.1.0.2", False),
        ("10.1.0.0/16, oauth2-proxy", "fd00::2, nginx", False),
    ],
)
@pytest.mark.django_db
def test_what_forwards_may_not_be_trusted_to_name_people(trusted, forwarding, is_refused):
    code, output = start(
        TARSY_TRUSTED_PROXIES=trusted,
        TARSY_FORWARDING_PROXIES=forwarding,
        TARSY_IDENTITY_HEADERS="X-Forwarded-User",
    )

    assert (code != 0) is is_refused, output
    assert ("TARSY_TRUSTED_PROXIES must not cover" in output) is is_refused
    assert ("only the proxy that asks people who they are" in output) is is_refused


@pytest.mark.django_db
def test_a_trusted_proxy_without_a_header_stops_the_start_and_none_counts_by_itself():
    code, output = start(TARSY_TRUSTED_PROXIES="oauth2-proxy", TARSY_IDENTITY_HEADERS=" ")

    assert code != 0
    assert "TARSY_IDENTITY_HEADERS must name the header" in output
    assert "X-Forwarded-User for oauth2-proxy" in output
