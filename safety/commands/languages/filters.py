"""The filters of `ss` and of `tcpdump`: which of their words name a machine.

Both ask a resolver for any word in the place of an address. What is no word of the language, no
number and not in the place of a port, a state or an interface is taken for a machine.
"""

import re
from collections.abc import Iterator

from safety.commands.grammar import Parsed
from safety.word_lists import word_set

_MARKS = re.compile(r"[\s()=!<>|&]+")
_SS_WORDS = word_set("""
    dst src sport dport and or not eq ne neq gt lt ge le geq leq autobound exclude
    fwmark cgroup dev state
""")
# What stands behind one of these is no machine.
_SS_OTHERS = word_set("state exclude dev fwmark cgroup")
_SS_PORTS = word_set("sport dport")
_PCAP_MARKS = re.compile(r"[\s()=!<>|&]+")
_IN_BRACKETS = re.compile(r"\[[\w:+ -]*\]")
_PCAP_WORDS = word_set("""
    host net mask port portrange proto protochain gateway broadcast multicast less greater
    src dst inbound outbound and or not ether fddi tr wlan ip ip6 arp rarp tcp udp icmp icmp6 sctp
    igmp igrp pim ah esp vrrp carp aarp decnet iso stp ipx netbeui atalk lat moprc mopdl vlan mpls
    pppoed pppoes geneve vxlan link ppp slip radio type subtype dir ra ta addr1 addr2 addr3 addr4
    len ifname on rnr rulenum reason rset ruleset srnr subrulenum action ifindex
    tcpflags icmptype icmpcode icmp6type icmp6code
    tcp-fin tcp-syn tcp-rst tcp-push tcp-ack tcp-urg tcp-ece tcp-cwr
    icmp-echo icmp-echoreply icmp-unreach icmp-redirect icmp-timxceed
""")
_PCAP_OTHERS = word_set(
    "port portrange proto protochain vlan mpls pppoes ifname on type subtype dir"
)
_PCAP_NUMBER = re.compile(
    r"(?:0x[0-9a-f]+|\d+|[\d.]+|[\d.]+/\d+|\d+-\d+|(?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2})"
)


def machines_of_ss(parsed: Parsed) -> Iterator[str]:
    before = ""
    for word in _tokens(_MARKS, parsed.words):
        is_port = before in _SS_PORTS and re.fullmatch(r"\w[\w-]*", word) is not None
        if before not in _SS_OTHERS and word not in _SS_WORDS and not is_port:
            yield word
        before = word


def machines_of_pcap(parsed: Parsed) -> Iterator[str]:
    """In brackets stand bytes of a packet: `tcp[13]`, `ip[2:2]`."""
    before = ""
    for word in _tokens(_PCAP_MARKS, (_IN_BRACKETS.sub(" ", " ".join(parsed.words)),)):
        is_number = _PCAP_NUMBER.fullmatch(word) is not None
        if before not in _PCAP_OTHERS and word not in _PCAP_WORDS and not is_number:
            yield word
        before = word


def _tokens(marks: re.Pattern[str], given: tuple[str, ...]) -> Iterator[str]:
    return (token for token in marks.split(" ".join(given)) if token)
