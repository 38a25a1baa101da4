"""Clients of platforms that name a thing and ask for it: GitHub, clouds, add-ons of clusters."""

from safety.commands.grammar import Parsed
from safety.commands.languages.escapes import refuse_escapes
from safety.commands.languages.jq import check_jq
from safety.commands.languages.queries import check_jq_choice
from safety.commands.policy import Entry, Group, Policy, Table, reads

_NAME = r"[\w.:/#@-]+"
_GH = (
    "-L=/\\d+/ --limit=/\\d+/ -R=/[\\w.\\/-]+/ --repo=/[\\w.\\/-]+/ -s=/\\w+/ --state=/\\w+/ "
    "--json=/[\\w,]+/ -q=- --jq=- --author=/[\\w-]+/ --label=- --branch=/[\\w.\\/-]+/ "
    "--workflow=/[\\w.-]+/ --status=/\\w+/ --log --log-failed --comments --exit-status --verbose"
)


def _asks(*verbs: str, options: str = "", words: tuple[int, int] = (0, 2)) -> Group:
    row = reads(
        options,
        word=_NAME,
        words=words,
        reaches_out=True,
        check=_check_query,
        parts="--max-width",
    )
    return Group(dict.fromkeys(verbs, row))


def _check_query(parsed: Parsed) -> None:
    """The programs in jq that some of them run themselves."""
    for program in parsed.values("-q", "--jq"):
        check_jq(program)
        check_jq_choice(program)
        refuse_escapes((program,))


def _things(names: str, *verbs: str, options: str = "") -> dict[str, Entry]:
    return {name: _asks(*verbs, options=options) for name in names.split()}


_DOCTL = "--format=/[\\w,]+/ --no-header -o=/json|text/ --output=/json|text/"
_HCLOUD = "-o=/[\\w=,]+/ --output=/[\\w=,]+/"
_OPENSTACK = (
    "-f=/\\w+/ -c=/[\\w-]+/ --all-projects --long --limit=/\\d+/ --name=/[\\w.-]+/ "
    "--status=/\\w+/ --host=/[\\w.-]+/ --max-width=/\\d+/"
)
_VELERO: Policy = reads("-o=/\\w+/ -n=/[\\w-]+/", word=r"[\w.-]+", words=(0, 3))

PLATFORMS: Table = {
    "gh": Group(
        {
            "pr": _asks("list", "view", "status", "checks", "diff", options=_GH),
            **_things("issue run workflow release repo", "list", "view", options=_GH),
        },
        bare=reads("--version", needs="--version"),
    ),
    "doctl": Group(
        {
            "account": _asks("get", options=_DOCTL),
            "compute": Group(
                _things(
                    "droplet volume image region size load-balancer firewall domain snapshot",
                    "list",
                    "get",
                    options=_DOCTL,
                )
            ),
            "kubernetes": Group({"cluster": _asks("list", "get", options=_DOCTL)}),
        }
    ),
    "hcloud": Group(
        _things(
            "server volume network load-balancer firewall image floating-ip primary-ip location "
            "datacenter server-type",
            "list",
            "describe",
            options=_HCLOUD,
        )
    ),
    "openstack": Group(
        {
            **_things(
                "server network subnet port router volume image flavor hypervisor aggregate stack",
                "list",
                "show",
                options=_OPENSTACK,
            ),
            "compute": Group(_things("service", "list", options=_OPENSTACK)),
            "floating": Group(_things("ip", "list", "show", options=_OPENSTACK)),
            "security": Group(_things("group", "list", "show", options=_OPENSTACK)),
        }
    ),
    "skopeo": Group(
        {
            "inspect": reads(
                "--raw --config --no-tags --format=-",
                words=(1, 1),
                word=r"docker://[\w./:@-]+",
                reaches_out=True,
            )
        }
    ),
    "velero": Group(
        {
            name: Group({"get": _VELERO})
            for name in ("backup", "restore", "schedule", "backup-location", "snapshot-location")
        }
    ),
    "calicoctl": Group(
        {
            "get": reads(
                "-o=/wide|yaml|json|name/ -n=/[\\w-]+/ -A --all-namespaces",
                words=(1, 5),
                word=r"[\w.-]+",
            ),
            "version": reads(words=(0, 0)),
            "node": Group({"status": reads(words=(0, 0))}),
        }
    ),
    "cilium": Group(
        {
            "status": reads("--brief --verbose -n=/[\\w-]+/", words=(0, 0)),
            **{
                name: Group({"list": reads("-o=/json/", words=(0, 0))})
                for name in ("endpoint", "service", "node", "identity")
            },
            "version": reads(words=(0, 0)),
        }
    ),
}
