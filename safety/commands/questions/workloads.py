"""What is asked of container engines, hypervisors and clusters: they name what runs in them."""

from collections.abc import Mapping
from dataclasses import replace

from safety.commands.grammar import Parsed
from safety.commands.questions.question import (
    CONTAINER,
    GUEST,
    Ask,
    Asked,
    Named,
    Question,
    name_things,
    plain_pattern,
    prints_what_it_reads,
)

# ---- Containers and guests -----------------------------------------------------------------------

_NO_CONTAINER = r"(?i:no such \w+: ?){name}\s*$"
_ROWS_OF = {"ps": (0, -1), "ls": (0, -1), "list": (0, -1), "stats": (0, 1)}


def _ask_container(asked: Asked) -> Question | None:
    templates = asked.parsed.values("--format", "--template")
    if asked.verbs[-1] == "inspect":
        templates += asked.parsed.values("-f")
    if not all(map(prints_what_it_reads, templates)):
        return None
    return replace(_ask_containers(asked), engine=asked.program)


def _ask_containers(asked: Asked, kinds: frozenset[str] = CONTAINER) -> Question:
    parsed, verb = asked.parsed, asked.verbs[-1]
    chosen = [
        plain_pattern(value.partition("=")[2]).removeprefix("/")
        for value in parsed.values("-f", "--filter", "--name", "--id")
        if value.partition("=")[0] in ("name", "id")
    ]
    if verb in ("ps", "ls", "list"):
        is_shaped = parsed.has("--format", "-q", "--quiet")
        return Question(
            named=name_things(kinds, chosen) if is_shaped else (),
            lists=kinds, columns=_ROWS_OF[verb], needs_row=not (is_shaped and chosen),
        )  # fmt: skip
    if verb == "stats" and not parsed.words:
        return Question(lists=kinds, columns=_ROWS_OF[verb], needs_row=True)
    # Behind the container of `top` stands what `ps` is asked.
    words = parsed.words[:1] if verb == "top" else parsed.words
    return Question(
        named=name_things(frozenset(parsed.values("--type")) or kinds, words),
        gone=1, gone_says=_NO_CONTAINER, tells_by_code=True,
    )  # fmt: skip


def _ask_compose(asked: Asked) -> Question:
    kinds = frozenset({"service", "container"})
    if not asked.parsed.words:
        return Question(lists=kinds, columns=(0, 3), needs_row=True)
    return Question(named=name_things(kinds, asked.parsed.words))


def _ask_swarm(asked: Asked) -> Question:
    kinds = frozenset({"service"})
    if not asked.parsed.words:
        return Question(lists=kinds, columns=(0, 1), needs_row=True)
    return Question(named=name_things(kinds, asked.parsed.words), gone=1, gone_says=_NO_CONTAINER)


def _ask_guest(asked: Asked) -> Question:
    return Question(
        named=name_things(GUEST, asked.parsed.words[:1]), lists=GUEST, columns=(0, 1, -1),
        needs_row=not asked.parsed.words, tells_by_code=True,
    )  # fmt: skip


# ---- Clusters ------------------------------------------------------------------------------------

_SHORT = {
    "po": "pod", "pods": "pod", "deploy": "deployment", "deployments": "deployment",
    "sts": "statefulset", "statefulsets": "statefulset", "ds": "daemonset",
    "daemonsets": "daemonset", "rs": "replicaset", "replicasets": "replicaset", "svc": "service",
    "services": "service", "no": "node", "nodes": "node", "jobs": "job", "cj": "cronjob",
    "cronjobs": "cronjob", "ns": "namespace", "namespaces": "namespace",
}  # fmt: skip
_NO_OBJECT = r'\(NotFound\): \S+ "{name}" not found'


def _ask_cluster(asked: Asked) -> Question | None:
    parsed = asked.parsed
    templates = parsed.values("-o", "--output", "--template")
    if not all(map(prints_what_it_reads, templates)):
        return None
    scope, cluster = _read_place(parsed)
    kinds, named = _read_objects(parsed.words, _default_kind(asked))
    if named:
        return Question(
            named=tuple(replace(each, scope=scope) for each in named),
            gone=1,
            gone_says=_NO_OBJECT,
            tells_by_code=not parsed.has("--ignore-not-found"),
            cluster=cluster,
        )
    is_everywhere = parsed.has("-A", "--all-namespaces")
    return Question(
        lists=kinds, columns=(1,) if is_everywhere else (0,), scope="*" if is_everywhere else scope,
        needs_row=True, cluster=cluster,
    )  # fmt: skip


def _read_place(parsed: Parsed) -> tuple[str, str]:
    """The namespace and the cluster that were chosen; of several the last one holds."""
    contexts = parsed.values("--context", "--kube-context")
    clusters = parsed.values("--cluster") or contexts
    return "".join(parsed.values("-n", "--namespace")[-1:]), "".join(clusters[-1:])


def _default_kind(asked: Asked) -> str:
    return asked.verbs[1] if asked.verbs[0] == "top" else ""


def _read_objects(given: tuple[str, ...], kind: str) -> tuple[frozenset[str], tuple[Named, ...]]:
    """`TYPE NAME...`, `TYPE/NAME...` or only types: the kinds, and what is named."""
    if kind:
        kinds = frozenset({_kind(kind)})
        return kinds, name_things(kinds, given)
    if any("/" in word for word in given):
        pairs = [word.partition("/") for word in given]
        return frozenset(), tuple(
            Named(frozenset({_kind(kind)}), name) for kind, _, name in pairs if name
        )
    kinds = frozenset(_kind(each) for each in "".join(given[:1]).split(","))
    return kinds, name_things(kinds, given[1:])


def _kind(word: str) -> str:
    plain = word.partition(".")[0].lower()
    return _SHORT.get(plain, plain)


def _ask_release(asked: Asked) -> Question:
    kinds = frozenset({"release"})
    scope, cluster = _read_place(asked.parsed)
    if not asked.parsed.words:
        return Question(lists=kinds, columns=(0,), needs_row=True, scope=scope, cluster=cluster)
    named = tuple(Named(kinds, name, scope) for name in asked.parsed.words[:1])
    return Question(named=named, cluster=cluster)


# ---- The table -----------------------------------------------------------------------------------

WORKLOADS: Mapping[str, Ask] = {
    **{
        f"{program}{group} {verb}": _ask_container
        for program in ("docker", "podman", "nerdctl")
        for group in ("", " container")
        for verb in ("ps", "ls", "list", "inspect", "top", "port", "stats")
    },
    **{f"crictl {verb}": _ask_container for verb in ("ps", "inspect", "stats")},
    **{
        f"{program} {verb}": _ask_compose
        for program in ("docker compose", "docker-compose")
        for verb in ("ps", "top")
    },
    **{f"docker service {verb}": _ask_swarm for verb in ("ls", "ps", "inspect")},
    **{f"{program} {verb}": _ask_guest for program in ("pct", "qm") for verb in ("list", "status")},
    **{f"virsh {verb}": _ask_guest for verb in ("list", "dominfo", "domstate", "domstats")},
    **{
        f"{program} {verb}": _ask_cluster
        for program in ("kubectl", "oc")
        for verb in (
            "get", "describe", "wait", "rollout status",
            *(f"top {kind}" for kind in ("pod", "pods", "po", "node", "nodes", "no")),
        )
    },
    **{f"helm {verb}": _ask_release for verb in ("list", "ls", "status")},
}  # fmt: skip
