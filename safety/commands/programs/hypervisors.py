"""Hypervisors, their storage and the cluster that they form: Proxmox, Ceph, Corosync."""

import re

from safety.commands.grammar import Parsed
from safety.commands.policy import Entry, Group, Table, reads
from safety.commands.refusal import Refused

# What follows `/nodes` is the name of a machine, which is looked up if it is none of the cluster.
_PVESH_PATH = r"/(?!/*nodes/+[\w-]*\.)[\w./-]*"


def _check_guest(parsed: Parsed) -> None:
    if not re.fullmatch(r"\d+", parsed.words[0]) or not re.fullmatch(
        r"get-[a-z-]+|network-get-interfaces|info|ping", parsed.words[1]
    ):
        raise Refused("this command of the guest agent is not known to be a read")


def _check_ceph(parsed: Parsed) -> None:
    words = " ".join(parsed.words)
    if not words and parsed.has("-s", "--status", "-w", "-v", "--version"):
        return
    if not re.fullmatch(
        r"status|health(?: detail)?|df(?: detail)?|versions?|quorum_status|fsid|report"
        r"|osd (?:tree|df|stat|perf|status|dump|ls|pool ls(?: detail)?|pool stats|utilization)"
        r"|osd df tree|mon (?:stat|dump)|pg (?:stat|dump|ls)|pg dump_stuck(?: \w+)?|mgr "
        "(?:stat|dump)"
        r"|mds stat|fs (?:ls|status|dump)|device ls|crash (?:ls|ls-new|stat)|balancer status"
        r"|orch (?:ps|ls|host ls|device ls|status)|time-sync-status|progress|log last(?: \d+)?",
        words,
    ):
        raise Refused("ceph with these words is not known to be a read")


def _guest_tool(names: str) -> dict[str, Entry]:
    return {
        name: reads("--current --verbose --full", word=r"[\w.-]+", words=(0, 2))
        for name in names.split()
    }


HYPERVISORS: Table = {
    "pct": Group(_guest_tool("list status config df listsnapshot pending cpusets")),
    "qm": Group(
        {
            **_guest_tool("list status config listsnapshot pending"),
            "guest": Group({"cmd": reads(words=(2, 2), check=_check_guest)}),
            "agent": reads(words=(2, 2), check=_check_guest),
        }
    ),
    "pvesh": Group(
        {
            name: reads(
                "--output-format= --noborder --noheader --human-readable= --type=/\\w+/",
                words=(1, 1),
                word=_PVESH_PATH,
            )
            for name in ("get", "ls")
        }
    ),
    "pvecm": Group({"status": reads(words=(0, 0)), "nodes": reads(words=(0, 0))}),
    "pvesm": Group(
        {
            name: reads("--storage= --content= --vmid= --enabled=", words=(0, 2), word=r"[\w.-]+")
            for name in ("status", "list", "path")
        }
    ),
    "pveversion": reads("-v --verbose", words=(0, 0)),
    "ha-manager": Group(
        {"status": reads("--verbose=?", words=(0, 0)), "config": reads(words=(0, 0))}
    ),
    "ceph": reads(
        "-s -w -v -f= --status --format= --version",
        word=r"[\w.-]+",
        endless="-w",
        check=_check_ceph,
    ),
    "rados": Group({"df": reads(words=(0, 0)), "lspools": reads(words=(0, 0))}),
    "rbd": Group(
        {
            name: reads("-p= --pool= -l --long --format=", words=(0, 1), word=r"[\w./@-]+")
            for name in ("ls", "list", "info", "du", "status", "showmapped")
        }
    ),
    "corosync-quorumtool": reads("-[slp]", words=(0, 0)),
    "crm_mon": reads("-1 -[rnfA]", words=(0, 0), needs="-1"),
    "pcs": Group({"status": reads("--full", words=(0, 2), word=r"resources|nodes|cluster|quorum")}),
}
