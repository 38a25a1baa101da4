"""Interfaces, routes, sockets, firewalls, and questions to the network."""

import re

from safety.commands.durations import captures, every, looks_up, pings, traces, waits
from safety.commands.grammar import Parsed
from safety.commands.languages.filters import machines_of_pcap, machines_of_ss
from safety.commands.policy import Group, Policy, Table, reads, with_names
from safety.commands.refusal import Category, Refused

_WORD = r"[\w.:@/%+-]+"
_TABLE = "-t=/[a-z]+/ --table=/[a-z]+/"


def _check_nc(parsed: Parsed) -> None:
    if len(parsed.words) < 2:
        raise Refused("nc without a port waits for input", Category.INTERACTIVE_REPL)


def _check_certificate_files(parsed: Parsed) -> None:
    files = parsed.values("-in", "-CAfile", "-CApath", "-untrusted")
    if any(":" in file for file in (*files, *parsed.words)):
        raise Refused("openssl would fetch the file from another machine")


def _check_lookup(parsed: Parsed) -> None:
    if not parsed.words:
        raise Refused("without a name it waits for input", Category.INTERACTIVE_REPL)


def _check_dig(parsed: Parsed) -> None:
    if any(not re.fullmatch(r"[@+]?[\w.:=/@+-]+", word) for word in parsed.words):
        raise Refused("dig with these words is not known to be a read")


def _check_ethtool(parsed: Parsed) -> None:
    if len(parsed.options) > 1:
        raise Refused("ethtool with several options is not known to be a read")


def _check_conntrack(parsed: Parsed) -> None:
    if not parsed.has("-L", "-S", "-C", "-E", "--dump", "--stats", "--count", "--event"):
        raise Refused("conntrack is a read only with -L, -S, -C or -E")


def _show(options: str = "") -> Policy:
    return reads(options, word=_WORD, words=(0, 12), dashes=False)


def _nmcli(*names: str, options: str = "") -> dict[str, Policy]:
    return dict.fromkeys(names, reads(options, word=r"[\w.:@ -]+", words=(0, 3)))


def _check_wg(parsed: Parsed) -> None:
    if any(word.endswith(("key", "keys")) or word == "dump" for word in parsed.words):
        raise Refused("keys are not read out")


_NMCLI_SHOWS = _nmcli("show", "status")
_TC = dict.fromkeys(("show", "list", "ls"), _show())
_IPTABLES = reads(
    f"-[LSnvxw] --list --list-rules --numeric --verbose --exact --line-numbers {_TABLE}",
    word=r"[\w.-]+",
    words=(0, 2),
    needs="-L -S --list --list-rules",
)

NETWORK: Table = {
    "ifconfig": reads("-[asv]", words=(0, 1), word=r"[\w.:@+-]{1,15}"),
    "route": reads(
        "-[neFCv46] -A=/\\w+/ --numeric --extend --inet6", words=(0, 0), hardening=("-n",)
    ),
    "arp": reads(
        "-[anev] -i=/[\\w.:@-]{1,15}/ -H=/\\w+/",
        words=(0, 1),
        word=_WORD,
        destinations=lambda parsed: parsed.words,
        hardening=("-n",),
    ),
    "netstat": reads(
        """-[aceFgilMnNoprsStTuUvwWxZ46] --all --continuous --extend --groups --interfaces
        --listening --numeric --numeric-hosts --numeric-ports --programs --route --statistics --tcp
        --timers --udp --unix --verbose --wide""",
        words=(0, 0),
        endless="-c --continuous",
    ),
    "ss": reads(
        """-[aeEhHilmnoOpQrsStTuUwxzZ046bgMd] -f=/\\w+/ -A=/[\\w,]+/ --all --extended --info
        --listening
        --memory --numeric --oneline --options --processes --resolve --summary --tcp --udp --unix
        --no-header --family=/\\w+/ --query=/[\\w,]+/ --socket=/[\\w,]+/ --ipv4 --ipv6 --raw
        --context""",
        word=r"[\w.:()=!<>*/|&\[\] -]+",
        endless="-E --events",
        destinations=machines_of_ss,
    ),
    "ethtool": reads(
        """-S -i -k -a -c -g -l -m -n -P -T -x -u --statistics --driver --show-features
        --show-offload
        --show-pause --show-coalesce --show-ring --show-channels --show-module --show-nfc
        --show-permaddr --show-time-stamping --show-rxfh --show-eee --show-fec --show-priv-flags""",
        clusters=False,
        dashes=False,
        mixes=False,
        words=(1, 1),
        word=r"[\w.@-]+",
        check=_check_ethtool,
    ),
    "bridge": Group(
        {
            name: Group(dict.fromkeys(("show", "list"), _show()), bare=_show())
            for name in ("link", "fdb", "vlan", "mdb")
        },
        "-s -d -j -p -o -statistics -details -json -pretty -c -color",
        clusters=False,
    ),
    "brctl": Group({"show": _show(), "showmacs": _show(), "showstp": _show()}),
    "tc": Group(
        {name: Group(_TC, bare=reads(words=(0, 0))) for name in ("qdisc", "class", "filter")},
        "-s -d -j -p -r -g -statistics -details -json -pretty",
        clusters=False,
    ),
    "nft": Group(
        {
            "list": reads(word=r"[\w.-]+", words=(1, 6), dashes=False),
            "monitor": reads(
                word=r"[\w.-]+", words=(0, 3), dashes=False, is_endless=lambda parsed: True
            ),
        },
        "-[anjsSty] --handle --json --numeric --stateless --terse",
        bare=reads("-v --version", needs="-v --version"),
    ),
    **with_names(
        "iptables ip6tables iptables-nft ip6tables-nft iptables-legacy ip6tables-legacy", _IPTABLES
    ),
    **with_names(
        "ebtables arptables",
        reads(f"-[Ln] --Ln --Lc {_TABLE}", word=r"[\w.-]+", words=(0, 1), needs="-L"),
    ),
    **with_names("iptables-save ip6tables-save", reads(f"-c --counters {_TABLE}", words=(0, 0))),
    "ipvsadm": reads(
        """-[Lln] --list --numeric --stats --rate --exact --connection --timeout --daemon --sort
        --persistent-conn""",
        words=(0, 0),
        needs="-L -l --list",
    ),
    "ipset": Group(
        {"list": reads("-[nt] -name -terse", clusters=False, words=(0, 1), word=r"[\w.:-]+")}
    ),
    "conntrack": reads(
        """-[LSCEn] --dump --stats --count --event -p=/\\w+/ -s=> -d=> -f=/\\w+/ -o=/[\\w,]+/
        --proto=/\\w+/
        --src=> --dst=> --sport= --dport= --state= --orig-src=> --orig-dst=> --orig-port-dst=
        -e=""",
        words=(0, 1),
        word=r"conntrack|expect",
        endless="-E --event",
        check=_check_conntrack,
    ),
    "firewall-cmd": reads(
        """--state --list-all --list-all-zones --get-active-zones --get-default-zone --get-zones
        --get-services --list-ports --list-services --list-rich-rules --list-interfaces
        --list-sources --zone=/\\w+/ --permanent --version""",
        words=(0, 0),
        needs="""--state --list-all --list-all-zones --get-active-zones --get-default-zone
        --get-zones --get-services --list-ports --list-services --list-rich-rules
        --list-interfaces --list-sources --version""",
    ),
    "ufw": Group(
        {"status": reads(words=(0, 1), word="verbose|numbered"), "version": reads(words=(0, 0))}
    ),
    "nmcli": Group(
        {
            **dict.fromkeys(
                ("device", "dev", "d"), Group({**_NMCLI_SHOWS}, bare=reads(words=(0, 0)))
            ),
            **dict.fromkeys(
                ("connection", "con", "c"),
                Group({**_nmcli("show", options="--active")}, bare=reads(words=(0, 0))),
            ),
            **dict.fromkeys(
                ("general", "g"),
                Group(
                    dict.fromkeys(("status", "permissions"), reads(words=(0, 0))),
                    bare=reads(words=(0, 0)),
                ),
            ),
            "monitor": reads(words=(0, 0), is_endless=lambda parsed: True),
        },
        "-[tp] -f= -m= -g= --terse --pretty --fields= --get-values= --mode= --colors=",
        bare=reads("-v --version -t -p", words=(0, 0)),
    ),
    "tcpdump": reads(
        "-[AaDefHKlLnNOpqStuUvxX#] -c=/\\d+/ -i=/[\\w.:@-]+/ -s=/\\d+/ -r=@ -B=/\\d+/ -y= -Q= "
        "--interface=/[\\w.:@-]+/ --snapshot-length= --count= --list-interfaces --number",
        word=r"[\w.:()=!<>*/|&\[\] -]+",
        endless="-i --interface",
        ends="-c -r --count",
        is_endless=lambda parsed: not parsed.has("-c", "-r", "-D", "--list-interfaces", "--count"),
        destinations=machines_of_pcap,
        lasts=captures,
        hardening=("-n",),
        # In numbers, and in pieces of sixteen.
        parts="-x -X",
    ),
    **with_names(
        "ping ping6",
        reads(
            "-[46nqvDarRU] -c=/\\d+/ -i=/[1-9][\\d.]*|0\\.[2-9]\\d*/ -W= -w=/\\d+/ -I= -s= "
            "-t= -M= -Q= -l=/[123]/",
            words=(1, 1),
            word=r"[\w.:%-]+",
            is_endless=lambda parsed: not parsed.has("-c", "-w"),
            lasts=pings,
            reaches_out=True,
        ),
    ),
    **with_names(
        "traceroute traceroute6 tracepath tracepath6",
        reads(
            "-[46nITUeDFAb] -m=/\\d+/ -q=/\\d+/ -w= -p=/\\d+/ -f= -i= -s= -N= -l=",
            words=(1, 2),
            word=r"[\w.:%-]+",
            reaches_out=True,
            lasts=traces,
        ),
    ),
    "mtr": reads(
        "-[46nbrwzuTjCxe] -c=/\\d+/ -i= -m= -s= --report --report-wide --report-cycles= --no-dns "
        "--json --csv --xml",
        words=(1, 1),
        word=r"[\w.:-]+",
        needs="-r -w -j -C -x --report --report-wide --json --csv --xml",
        lasts=every("-i", "-c --report-cycles"),
        reaches_out=True,
    ),
    "dig": reads(
        "-[46mruv] -t= -x= -p=/\\d+/ -q= -c= -b= -4 -6",
        check=_check_dig,
        reaches_out=True,
        lasts=looks_up,
    ),
    "host": reads(
        "-[aCdlrTv46sw] -t= -W= -c= -N= -R=",
        words=(1, 2),
        word=r"[\w.:-]+",
        reaches_out=True,
        lasts=waits("-W"),
    ),
    "nslookup": reads(
        "-type=/\\w+/ -query=/\\w+/ -port=/\\d+/ -timeout=/\\d+/ -debug",
        clusters=False,
        dashes=False,
        words=(0, 2),
        word=r"[\w.:-]*[\w.:]",
        check=_check_lookup,
        reaches_out=True,
        lasts=waits("-timeout"),
    ),
    **with_names(
        "nc netcat ncat",
        reads(
            "-[46nuvz] -w=/\\d+/",
            word=r"[\w.:-]+",
            needs="-z",
            check=_check_nc,
            reaches_out=True,
            lasts=waits("-w"),
        ),
    ),
    "openssl": Group(
        {
            "x509": reads(
                """-in=% -noout -text -dates -startdate -enddate -subject -issuer -fingerprint
                -serial
                -ext=/[\\w,]+/ -checkend=/\\d+/ -nameopt=/[\\w,]+/ -certopt=/[\\w,]+/ -inform=/\\w+/
                -hash -subject_hash -issuer_hash -sha256 -sha1 -md5 -pubkey -purpose -modulus -email
                -alias -ocsp_uri""",
                clusters=False,
                check=_check_certificate_files,
                dashes=False,
                mixes=False,
                words=(0, 0),
                is_filter=True,
            ),
            "crl": reads(
                "-in=% -noout -text -issuer -lastupdate -nextupdate -inform=/\\w+/",
                clusters=False,
                check=_check_certificate_files,
                dashes=False,
                words=(0, 0),
                is_filter=True,
            ),
            "req": reads(
                "-in=% -noout -text -subject -verify -inform=/\\w+/",
                clusters=False,
                check=_check_certificate_files,
                dashes=False,
                words=(0, 0),
                needs="-in",
            ),
            "verify": reads(
                "-CAfile=@ -CApath=@ -untrusted=@ -verbose -show_chain",
                clusters=False,
                check=_check_certificate_files,
                dashes=False,
                mixes=False,
                files_from=0,
            ),
            "version": reads("-[abdefmoprv]", words=(0, 0)),
            "ciphers": reads(
                "-v -V -s -tls1_2 -tls1_3", clusters=False, words=(0, 1), word=r"[\w:+!@=-]+"
            ),
            "dgst": reads(
                "-sha256 -sha1 -sha512 -sha384 -md5 -r -hex",
                clusters=False,
                dashes=False,
                mixes=False,
                files_from=0,
                is_filter=True,
            ),
        }
    ),
    "ipcalc": reads("-[bcnms]", word=r"[\d./]+"),
    "wg": Group(
        {"show": reads(words=(0, 2), word=r"[\w-]+", check=_check_wg)}, bare=reads(words=(0, 0))
    ),
    "iw": Group({"dev": reads(words=(0, 0)), "list": reads(words=(0, 0))}),
}
