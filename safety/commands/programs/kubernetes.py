"""kubectl, oc, helm and what else speaks to a cluster. The cluster is that of the environment."""

import re

from safety.commands.durations import waits, waits_for_cluster
from safety.commands.grammar import Parsed
from safety.commands.policy import Entry, Group, Table, reads, with_names
from safety.commands.refusal import Refused

# From level 8 on, the log shows what the server answers, secrets included.
# --kubeconfig, --server, --token, --as and their like choose another cluster or person.
_SHARED = """
    -n=/[\\w.-]+/ --namespace=/[\\w.-]+/ --context=/[\\w.:@\\/-]+/ --cluster=/[\\w.:@\\/-]+/
    --request-timeout=/\\w+/ -v=/[0-7]/ --v=/[0-7]/
"""
_OUTPUT = (
    r"/(?:name|wide|json|yaml|(?:jsonpath|jsonpath-as-json|custom-columns|go-template)=[\s\S]*)/"
)
_LIST = f"""
    -A --all-namespaces=? -l=- --selector=- --field-selector= -o={_OUTPUT} --output={_OUTPUT}
    --sort-by= --no-headers=? --show-labels=? -L= --label-columns= --show-kind=?
    --ignore-not-found=?
    --chunk-size= --subresource= --show-managed-fields=? --template= --allow-missing-template-keys=?
    --server-print=?
"""
_GET = f"-w --watch=? --watch-only=? --output-watch-events=? --raw= {_LIST}"
_WORD = r"[\w.:/,@-]+"
# Tokens of the login of OpenShift are secrets under another name.
_SECRET_KINDS = re.compile(
    r"(?:^|[,/.])(?:secrets?|oauth(?:access|authorize)tokens?)(?:$|[,/.])", re.IGNORECASE
)
_RAW = re.compile(
    r"/(?:healthz|livez|readyz|version|metrics)(?:[/?][\w/?=&-]*)?|/apis/metrics\.k8s\.io/(?!.*\.\.)[\w/.-]*"
)


def _names_secrets(parsed: Parsed) -> bool:
    return any(_SECRET_KINDS.search(word) for word in parsed.words)


def _check_get(parsed: Parsed) -> None:
    raw = parsed.values("--raw")
    if raw:
        if parsed.words or not all(_RAW.fullmatch(path) for path in raw):
            raise Refused("of raw paths only health, version and metrics are known to be reads")
        return
    if not parsed.words:
        raise Refused("it does not say what to get")
    formats = parsed.values("-o", "--output")
    shows_content = any(not re.fullmatch("name|wide", text) for text in formats)
    if _names_secrets(parsed) and (shows_content or parsed.has("--template", "-L", "--sort-by")):
        raise Refused("the values of secrets are not read out")


def _check_describe(parsed: Parsed) -> None:
    if not parsed.words:
        raise Refused("it does not say what to describe")
    # For tokens of service accounts it prints the value.
    if _names_secrets(parsed):
        raise Refused("the values of secrets are not read out")


def _watches(parsed: Parsed) -> bool:
    return _is_on(parsed, "-w", "--watch", "--watch-only")


def _follows(parsed: Parsed) -> bool:
    return _is_on(parsed, "-f", "--follow")


def _is_on(parsed: Parsed, *names: str) -> bool:
    return any(
        name in names and values not in (("false",), ("False",), ("0",), ("f",), ("F",), ("FALSE",))
        for name, values in parsed.options
    )


def _waits_for_ever(parsed: Parsed) -> bool:
    if ("--watch", ("false",)) in parsed.options:
        return False
    return not any(re.search("[1-9]", limit) for limit in parsed.values("--timeout"))


def _rollout_lasts(parsed: Parsed) -> float:
    return 0.0 if ("--watch", ("false",)) in parsed.options else waits_for_cluster(parsed)


_LOGS = reads(
    """-f --follow=? -c= --container= --all-containers=? --tail=/-?\\d+/ --since=/\\w+/
    --since-time=
    --timestamps=? -p --previous=? -l=- --selector=- --prefix=? --limit-bytes=/\\d+/
    --max-log-requests=
    --ignore-errors=? --pod-running-timeout= --all-pods=?""",
    words=(0, 2),
    word=_WORD,
    is_endless=_follows,
)
_NOTHING = reads("--help", words=(0, 0))
_CONFIG = Group(
    {
        "view": reads(
            f"-o={_OUTPUT} --output={_OUTPUT} --minify=?", words=(0, 0), formats="-o --output"
        ),
        "current-context": _NOTHING,
        "get-contexts": reads("-o=/name/ --output=/name/ --no-headers=?", words=(0, 3)),
        "get-clusters": _NOTHING,
        "get-users": _NOTHING,
    },
    _SHARED,
)
_ROLLOUT = Group(
    {
        "status": reads(
            "-w --watch=? --timeout=/[\\w.]+/ --revision=",
            words=(1, 2),
            word=_WORD,
            is_endless=_waits_for_ever,
            lasts=_rollout_lasts,
        ),
        "history": reads("--revision=/\\d+/", words=(1, 2), word=_WORD),
    },
    _SHARED,
)
_COMMANDS: dict[str, Entry] = {
    "get": reads(
        _GET,
        word=_WORD,
        check=_check_get,
        is_endless=_watches,
        formats="-o --output --template",
    ),
    "describe": reads(
        "-A --all-namespaces=? -l=- --selector=- --show-events=?", word=_WORD, check=_check_describe
    ),
    "logs": _LOGS,
    "events": reads(
        f"-w --watch=? --for= --types= {_LIST}",
        words=(0, 0),
        is_endless=_watches,
        formats="-o --output --template",
    ),
    "top": Group(
        dict.fromkeys(
            ("pod", "pods", "po", "node", "nodes", "no"),
            reads(
                "-A --all-namespaces=? -l=- --selector=- --containers=? --sort-by= --no-headers=? "
                "--sum=? --field-selector=",
                words=(0, 1),
                word=_WORD,
            ),
        ),
        _SHARED,
    ),
    "api-resources": reads(
        "-o=/name|wide/ --output=/name|wide/ --namespaced=? --verbs= --api-group= "
        "--no-headers=? --cached=? --sort-by=",
        words=(0, 0),
    ),
    "api-versions": _NOTHING,
    "version": reads("--client=? --short=? -o=/json|yaml/ --output=/json|yaml/", words=(0, 0)),
    "cluster-info": Group(
        {"dump": reads("-A --all-namespaces=? --namespaces= -o=/json|yaml/", words=(0, 0))},
        _SHARED,
        bare=reads(_SHARED, words=(0, 0)),
    ),
    "explain": reads(
        "--recursive=? --api-version= --output=/plaintext\\w*/", words=(1, 1), word=_WORD
    ),
    "config": _CONFIG,
    "rollout": _ROLLOUT,
    "auth": Group(
        {
            "can-i": reads(
                "-A --all-namespaces=? --list=? -q --quiet=? --subresource= --no-headers=?",
                words=(0, 3),
                word=r"[\w.:/*,@-]+",
            ),
            "whoami": reads("-o=/json|yaml/", words=(0, 0)),
        },
        _SHARED,
    ),
    "wait": reads(
        "--for= --timeout=/-?[\\w.]+/ -l=- --selector=- --all=? -A",
        words=(1, 5),
        word=_WORD,
        lasts=waits_for_cluster,
    ),
}
_HELM_SHARED = "-n=/[\\w.-]+/ --namespace=/[\\w.-]+/ --kube-context=/[\\w.:@\\/-]+/ --debug"
_HELM_OUT = "-o=/table|json|yaml/ --output=/table|json|yaml/"

KUBERNETES: Table = {
    **with_names("kubectl", Group(_COMMANDS, _SHARED, equals=True)),
    "oc": Group(
        {
            **_COMMANDS,
            "status": reads("--suggest", words=(0, 0)),
            "projects": reads("-q --short", words=(0, 0)),
            "project": reads("-q --short", words=(0, 0)),
            "adm": Group({"top": _COMMANDS["top"]}, _SHARED),
            "whoami": reads("-c --show-context --show-server --show-console", words=(0, 0)),
        },
        _SHARED,
        equals=True,
    ),
    "helm": Group(
        {
            "version": reads("--short --template=", words=(0, 0)),
            **dict.fromkeys(
                ("list", "ls"),
                reads(
                    f"-[Aadqr] --all-namespaces --all --short --date --reverse --max= -m= "
                    f"--offset= "
                    f"-f= --filter= -l= --selector= --deployed --failed --pending {_HELM_OUT}",
                    words=(0, 0),
                ),
            ),
            "status": reads(
                f"--revision=/\\d+/ --show-resources --show-desc {_HELM_OUT}",
                words=(1, 1),
                word=_WORD,
            ),
            "history": reads(f"--max=/\\d+/ {_HELM_OUT}", words=(1, 1), word=_WORD),
            # A manifest holds the secrets that a release brings.
            "get": Group(
                {
                    name: reads(f"-a --all --revision=/\\d+/ {_HELM_OUT}", words=(1, 1), word=_WORD)
                    for name in ("values", "notes", "metadata")
                },
                _HELM_SHARED,
            ),
            "repo": Group({"list": reads(_HELM_OUT, words=(0, 0))}, _HELM_SHARED),
            "search": Group(
                {
                    "repo": reads(
                        f"-l --versions --version= --devel {_HELM_OUT}", words=(0, 1), word=_WORD
                    )
                },
                _HELM_SHARED,
            ),
            "env": reads(words=(0, 0)),
        },
        _HELM_SHARED,
        equals=True,
    ),
    "crictl": Group(
        {
            **{
                name: reads(
                    "-[aqv] -o=/json|yaml|table/ --name= --state= --label= --latest -l --last= "
                    "--image= --pod= -p= --namespace= --output=/json|yaml|table/ --no-trunc "
                    "--id= --digests --all --quiet",
                    words=(0, 1),
                    word=_WORD,
                )
                for name in ("ps", "pods", "images", "img", "info", "version", "imagefsinfo")
            },
            **{
                name: reads(
                    "-o=/json|yaml|table/ --output=/json|yaml|table/ -q", words=(1, 5), word=_WORD
                )
                for name in ("inspecti", "inspectp", "inspect")
            },
            "logs": reads(
                "-f --follow --tail=/\\d+/ --since= -t --timestamps -p --previous --limit-bytes=",
                words=(1, 1),
                word=_WORD,
                endless="-f --follow",
            ),
            "stats": reads(
                "-[aw] --all --watch --id= -o=/json|yaml|table/ -p= --label= -s=",
                lasts=waits("-s"),
                words=(0, 1),
                word=_WORD,
                endless="-w --watch",
            ),
            "statsp": reads(
                "-[w] --watch --id= -o=/json|yaml|table/",
                words=(0, 1),
                word=_WORD,
                endless="-w --watch",
            ),
        }
    ),
    "kubeadm": Group(
        {
            "version": reads("-o=/short|json|yaml/", words=(0, 0)),
            "certs": Group({"check-expiration": reads(words=(0, 0))}),
        }
    ),
    "argocd": Group(
        {
            "app": Group(
                {
                    name: reads(f"{_HELM_OUT} -o=/wide|name|json|yaml/", words=(0, 1), word=_WORD)
                    for name in ("list", "get", "history")
                }
            ),
            "version": reads("--client", words=(0, 0)),
        }
    ),
    "flux": Group(
        {
            "get": Group(
                {
                    name: reads("-A --all-namespaces", words=(0, 1), word=_WORD)
                    for name in ("all", "kustomizations", "helmreleases", "sources")
                },
                _SHARED,
            ),
            "version": _NOTHING,
        },
        _SHARED,
    ),
    "istioctl": Group(
        {
            "version": _NOTHING,
            "proxy-status": reads(words=(0, 1), word=_WORD),
            # Of the others one shows keys and one sets the level of a log.
            "proxy-config": Group(
                dict.fromkeys(
                    (
                        "cluster",
                        "clusters",
                        "listener",
                        "listeners",
                        "route",
                        "routes",
                        "endpoint",
                        "endpoints",
                    ),
                    reads("-o=/short|json|yaml/ --port=/\\d+/", words=(1, 1), word=_WORD),
                ),
                _SHARED,
            ),
            "analyze": reads("-A --all-namespaces", words=(0, 0)),
        },
        _SHARED,
    ),
}
