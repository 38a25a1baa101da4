"""Which addresses are opened: nothing that two parsers could read differently, nothing inside."""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network
from urllib.parse import urlsplit

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from investigations.runbooks.addresses import (
    Unavailable,
    check_host,
    is_public,
    read_address,
    read_next_address,
)
from tests.cases import for_each

ALLOWED = ("github.com", "Runbooks.Example.com", "www.wiki.example.com")


def is_opened(url: str) -> bool:
    try:
        check_host(read_address(url), ALLOWED)
    except Unavailable:
        return False
    return True


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://github.com/a/b.md", "https://github.com/a/b.md"),
        ("HTTPS://GitHub.COM/A.md", "https://github.com/A.md"),
        ("https://www.github.com/a", "https://www.github.com/a"),
        ("https://runbooks.example.com:443/a", "https://runbooks.example.com/a"),
        ("https://www.wiki.example.com", "https://www.wiki.example.com/"),
        ("https://github.com?x=1", "https://github.com/?x=1"),
        ("https://github.com/a?plain=1#step-2", "https://github.com/a?plain=1"),
        ("https://github.com#@evil.example.net/", "https://github.com/"),
        ("https://github.com/@team/a:b;c=d,e", "https://github.com/@team/a:b;c=d,e"),
        ("https://github.com/größe.md", "https://github.com/gr%C3%B6%C3%9Fe.md"),
        ("https://github.com/a%20b", "https://github.com/a%20b"),
        ("https://github.com/<b>", "https://github.com/%3Cb%3E"),
    ],
)
def test_plain_addresses_are_opened(url: str, read: str):
    assert is_opened(url)
    assert str(read_address(url)) == read


@for_each(
    [
        "",
        "github.com/a",
        "//github.com/a",
        "https:github.com/a",
        "https:/github.com/a",
        "https:///github.com/a",
        "http://github.com/a",
        "http\N{LATIN SMALL LETTER LONG S}://github.com/a",
        " https://github.com/a",
        "https://github.com/a b",
        "https://github.com/a\r\nHost: evil.example.net",
        "https://github.com/\x7f",
        "https://github.com/\u2028",
        "https://github.com/\ud800",
        "https://git\thub.com/a",
        "https://github.com\\@evil.example.net/a",
        "https://github.com:80/a",
        "https://github.com:/a",
        "https://github.com:0443/a",
        "https://github.com:+443/a",
        "https://github.com:４４３/a",
        "https://github.com:443:443/a",
        "https://github.com:65979/a",
        "https://@github.com/a",
        "https://user:word@github.com/a",
        "https://github.com@evil.example.net/a",
        "https://github.com./a",
        "https://github..com/a",
        "https://wiki.example.com/a",
        "https://www.www.github.com/a",
        "https://xgithub.com/a",
        "https://gist.github.com/a",
        "https://com/a",
        "https://runboo\N{KELVIN SIGN}s.example.com/a",
        "https://ｇithub.com/a",
        "https://github。com/a",
        "https://git%68ub.com/a",
        "https://git\N{SOFT HYPHEN}hub.com/a",
        "https://[::1]/a",
        "https://[github.com]/a",
        "https://2130706433/a",
        "https://127.0.0.1/a",
        f"https://github.com/{'a' * 2048}",
    ]
)
def test_everything_else_is_refused(url: str):
    assert not is_opened(url)


PIECES = st.one_of(
    st.sampled_from(
        ["@", ":", ":443", "\\", "/", "//", "?", "#", "[", "]", "%40", "%2e", ".", "\t"]
    ),
    st.sampled_from(["evil.example.net", "u:p@", "\r\n", "\0", "。", "．", "ſ", "\u212a", "\xad"]),
    st.characters(),
)


@given(st.lists(st.tuples(st.integers(0, 24), PIECES), min_size=1, max_size=3))
def test_an_address_that_is_opened_is_read_alike_by_another_parser(insertions):
    url = "https://github.com/a?b#c"
    for place, piece in insertions:
        url = url[:place] + piece + url[place:]
    if not is_opened(url):
        return

    parts = urlsplit(url)

    assert parts.scheme == "https"
    assert parts.hostname == read_address(url).host
    assert (parts.username, parts.password) == (None, None)
    assert re.fullmatch(r"[!-~]+", str(read_address(url)))


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/c.md", "https://github.com/c.md"),
        ("c.md", "https://github.com/a/c.md"),
        ("../c.md?x=1#y", "https://github.com/c.md?x=1"),
        ("//runbooks.example.com/c", "https://runbooks.example.com/c"),
        ("HTTPS://runbooks.example.com:443/c", "https://runbooks.example.com/c"),
    ],
)
def test_a_redirect_may_be_relative(location: str, expected: str):
    assert str(read_next_address(read_address("https://github.com/a/b.md"), location)) == expected


@pytest.mark.parametrize(
    "location",
    ["", "https:c.md", "file:///etc/passwd", "http://github.com/c", "/\\evil.example.net",
     "\\\\evil.example.net", "//u@github.com/", "///evil.example.net", "https://git\thub.com/",
     "javascript:alert(1)", "//[::1]/", "/a b", "/é\r"],
)  # fmt: skip
def test_a_redirect_to_anything_but_a_plain_address_is_refused(location: str):
    with pytest.raises(Unavailable):
        read_next_address(read_address("https://github.com/a/b.md"), location)


INSIDE_4 = [
    ip_network(text)
    for text in ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
                 "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15",
                 "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32")
]  # fmt: skip
INSIDE_6 = [
    "::", "::1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254",
    "ff02::1", "100::1", "2001::1", "2001:db8::1", "2002:5db8:d70e::1", "3fff::1", "5f00::1",
    "64:ff9b:1::1", "2606:2800::1%eth0",
]  # fmt: skip


@given(st.sampled_from(INSIDE_4).flatmap(lambda network: st.ip_addresses(network=network)))
def test_no_inner_address_is_public_however_it_is_wrapped(inside: IPv4Address):
    mapped = IPv6Address(int(IPv6Address("::ffff:0:0")) | int(inside))
    translated = IPv6Address(int(IPv6Address("64:ff9b::")) | int(inside))
    tunnelled = IPv6Address(int(IPv6Address("2002::")) | int(inside) << 80)

    assert not any(is_public(str(each)) for each in (inside, mapped, translated, tunnelled))


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_public_when_the_inner_one_is(inside: IPv4Address):
    expected = not any(inside in network for network in INSIDE_4)
    assume(inside not in ip_network("192.88.99.0/24"))

    assert is_public(str(inside)) is expected
    assert is_public(f"::ffff:{inside}") is expected
    assert is_public(f"64:ff9b::{inside}") is expected


@given(st.ip_addresses(v=6))
def test_ipv6_addresses_outside_of_global_unicast_are_not_public(address: IPv6Address):
    assume(address.ipv4_mapped is None and address not in IPv6Network("64:ff9b::/96"))
    assume(address not in IPv6Network("2000::/3"))

    assert not is_public(str(address))


@for_each([*INSIDE_6, "", "localhost", "127.1", "0x7f000001", "2130706433"])
def test_what_is_no_global_address_is_not_public(text: str):
    assert not is_public(text)


@pytest.mark.parametrize(
    "text", ["93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
)
def test_ordinary_addresses_are_public(text: str):
    assert is_public(text)
