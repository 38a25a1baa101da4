"""Which addresses only tell something when they are fetched. What is not listed is not known.

A row is a path and the parameters that its query may have. In a path `*` is one step of any name
and `a|b` one of these; `~` in front also stands for the places where programs put such a page
(`/api`, `/v1`, ...). A parameter takes a plain value, `=*` any text (an expression of a language
that can only ask) and `=/re/` what the expression matches as a whole.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from urllib.parse import parse_qsl, urlsplit

_PLACES = ("", "/api", "/api/v*", "/v*", "/-", "/internal", "/system")
_NAME = r"[A-Za-z0-9][\w.,:@+*-]*"
_PLAIN_VALUE = re.compile(r"[\w.,:*/+@ -]{0,300}")
_ANY_VALUE = re.compile(r"[^\x00-\x1f\x7f]{0,4000}")
_STEPS = re.compile(r"(?:/[\w.,:@+*;$~-]*)+")
_ENCODED_PLAIN = re.compile(r"%(2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aAeE])")
_PARAMETER = re.compile(r"[\w.\[\]-]+")
_PORTS = {"http": 80, "https": 443}

_EVERYWHERE = """
    /
    ~/health|healthz|healthy|healthcheck|livez|readyz|live|ready|liveness|readiness|startupz \
        verbose pretty exclude format=/json|text/
    ~/health|healthz|healthcheck/live|ready|liveness|readiness|startup|started|alive|db|redis \
        verbose pretty format=/json|text/
    /livez|readyz|healthz/* verbose exclude
    /q/health verbose
    /q/health/live|ready|started|well
    ~/metrics name[] collect[] format=/prometheus|json|text/ usedonly
    ~/status|version|versionz|info|buildinfo|build-info|ping|statusz|uptime|_status pretty \
        format=/json|text/
    /favicon.ico
    /robots.txt
"""
_FRAMEWORKS = """
    /actuator
    /actuator/health|info|metrics|prometheus|mappings|scheduledtasks
    /actuator/health/*
    /actuator/health/*/*
    /actuator/metrics/* tag
    /management/health|info|metrics|prometheus
    /manager/text/list|serverinfo|vminfo
    /server-status auto refresh=/[0-9]+/ notable
    /server-info
    /nginx_status|stub_status|basic_status|fpm-status|php-fpm-status json full html xml
    /fpm-ping|nginx-health
    /status/format/json
    /stats|stats;csv|haproxy;csv|stats;json
    /haproxy stats
    /haproxy/stats|stats;csv
    /squid-internal-mgr/info|counters|5min|60min|utilization|mem|storedir
    /debug/vars
"""
_MONITORING = """
    /-/healthy|ready|healthz
    /api/v1/query query=* time timeout lookback_delta dedup partial_response stats limit
    /api/v1/query_range query=* start end step timeout dedup partial_response max_source_resolution
    /api/v1/query_exemplars query=* start end
    /api/v1/series match[]=* match=* start end limit
    /api/v1/labels match[]=* match=* start end limit
    /api/v1/label/*/values match[]=* match=* start end limit
    /api/v1/targets state=/active|dropped|any/ scrapePool
    /api/v1/targets/metadata match_target=* metric limit
    /api/v1/metadata metric limit limit_per_metric
    /api/v1/rules type=/alert|record/ rule_name[] rule_group[] file[] exclude_alerts match[]=*
    /api/v1/alerts|alertmanagers|scrape_pools
    /api/v1/status/tsdb|runtimeinfo|buildinfo|flags|walreplay limit
    /prometheus/-/healthy|ready
    /prometheus/api/v1/query query=* time timeout
    /prometheus/api/v1/query_range query=* start end step timeout
    /federate match[]=*
    /api/v2/alerts active silenced inhibited unprocessed receiver filter=*
    /api/v2/alerts/groups active silenced inhibited unprocessed receiver filter=*
    /api/v2/status|receivers
    /api/v2/silences filter=*
    /loki/api/v1/query query=* limit time direction=/forward|backward/
    /loki/api/v1/query_range query=* limit start end since step interval \
        direction=/forward|backward/
    /loki/api/v1/labels start end since query=*
    /loki/api/v1/label/*/values start end since query=*
    /loki/api/v1/series match[]=* match=* start end
    /loki/api/v1/index/stats|volume query=* start end
    /loki/api/v1/status/buildinfo
    /api/search|traces q=* tags start end limit minDuration maxDuration service lookback operation
    /api/traces/*
    /api/services
    /api/services/*/operations
    /render target=* from until format=/json|csv|raw/ maxDataPoints
    /metrics/find query
    /metrics/job/*
"""
_SEARCH_AND_DATA = """
    /_cluster/health|state|stats|pending_tasks|settings pretty human level local timeout \
        wait_for_status=/green|yellow|red/ flat_settings include_defaults filter_path format
    /_cluster/health/* pretty human level filter_path
    /_cluster/allocation/explain pretty human include_yes_decisions include_disk_info
    /_cat
    /_cat/* v h s format help bytes time pretty human health full_id index local active_only \
        expand_wildcards pri detailed
    /_cat/*/* v h s format help bytes time pretty human health active_only pri
    /_nodes|_stats|_mapping|_aliases|_alias|_settings|_segments|_recovery|_shard_stores|_tasks \
        pretty human level filter_path detailed active_only flat_settings format actions nodes \
        group_by status
    /_nodes/stats|info|hot_threads|usage|http|jvm|os|process|thread_pool|_local|_all|fs pretty \
        human level filter_path threads
    /_nodes/stats/* pretty human level filter_path
    /_nodes/*/stats|info|hot_threads pretty human level filter_path threads
    /_nodes/*/stats/* pretty human level filter_path
    /*/_stats|_count|_mapping|_settings|_segments|_recovery|_alias pretty human level q=* \
        filter_path active_only detailed flat_settings include_defaults
    /_count pretty q=*
    /_snapshot|_template|_index_template|_license|_xpack pretty human
    /_ilm/status pretty
    /_ingest/pipeline pretty
    /_snapshot/_status|_all pretty
    /_snapshot/*/_all|_current|_status pretty
    /_search q=* size from sort pretty _source filter_path
    /*/_search q=* size from sort pretty _source filter_path
    /*/_ilm/explain pretty human
    /_up|_all_dbs|_active_tasks|_membership
    /_node/*/_stats|_system
    /solr/admin/info/system|health|threads wt=/json|xml/ indent
    /solr/admin/cores action=/STATUS/ wt=/json|xml/ core indent
    /solr/admin/collections action=/LIST|CLUSTERSTATUS|OVERSEERSTATUS/ wt=/json|xml/ collection
    /solr/admin/ping wt=/json|xml/
    /solr/*/admin/ping wt=/json|xml/
    /solr/*/select q rows start wt=/json|xml|csv/ fl fq sort indent
    /replicas_status
    /query q=/(?i:show[\\x20a-z_]+)/ db pretty epoch
    /minio/health/live|ready|cluster
    /minio/health/cluster/read maintenance
    /minio/v2/metrics/cluster|node|bucket
"""
_CLUSTERS = """
    /v1/status/leader|peers
    /v1/agent/members|self|checks|services|version|metrics wan segment format=/prometheus/
    /v1/catalog/services|nodes|datacenters dc near
    /v1/catalog/service|node/* dc near tag
    /v1/health/service|checks|node/* passing dc tag near filter=*
    /v1/health/state/any|passing|warning|critical dc
    /v1/operator/raft/configuration
    /v1/operator/autopilot/health
    /v1/sys/health|seal-status|leader|ha-status standbyok perfstandbyok sealedcode standbycode \
        uninitcode
    /v1/nodes|jobs|allocations|deployments|evaluations|regions|services prefix namespace
    /v1/node|job|allocation|deployment|evaluation/* namespace
    /v1/job/*/allocations|summary|evaluations|deployments namespace
    /v2/stats/self|leader|store
    /v2/members
    /healthz/*|log|ping|etcd
    /proxyMode
    /api|apis
    /version/openshift
    /apis/metrics.k8s.io/v*/nodes|pods
    /stats/summary
    /v2
    /v2/_catalog n last
    /v2/*/tags/list n last
    /_ping
    /images|containers/json all size
    /ws/v1/cluster/info|metrics|scheduler|nodes|apps state states limit queue user
    /ws/v1/node/info
    /jmx qry
    /overview|taskmanagers|jobs
    /jobs/overview
    /jobmanager|taskmanagers/metrics get
    /jobs/*
    /jobs/*/checkpoints|exceptions
    /connectors expand=/status|info/
    /connectors/*/status|tasks|topics
    /subjects
    /subjects/*/versions
    /v3/clusters
"""
_PROXIES_AND_QUEUES = """
    /ready|clusters|server_info|listeners|runtime|memory|hot_restart_version format=/json|text/
    /stats/prometheus usedonly filter
    /stats usedonly filter format=/json|prometheus|text|html/
    /healthz/ready
    /api/http/routers|services|middlewares page per_page search status
    /api/http/routers|services|middlewares/*
    /api/tcp|udp/routers|services
    /api/overview|nodes|queues|exchanges|connections|channels|consumers|vhosts|bindings|whoami \
        page page_size columns sort sort_reverse name disable_stats enable_queue_totals
    /api/nodes/*
    /api/queues|exchanges|connections|consumers/* columns page page_size
    /api/queues/*/*
    /api/healthchecks/node
    /api/health/checks/alarms|local-alarms|virtual-hosts|node-is-quorum-critical
    /api/aliveness-test/*
    /varz|connz|routez|subsz|jsz|healthz|gatewayz|leafz|accountz|accstatz subs limit offset sort \
        streams consumers accounts js-enabled-only
    /api/v1/nodes|overview|brokers|stats
    /status/metrics
    /api/2|3|4|5|6|7|8|9
    /api/2|3|4|5|6|7|8|9/nginx|connections|processes
    /api/2|3|4|5|6|7|8|9/http/upstreams
"""


@dataclass(frozen=True, slots=True)
class KnownAddress:
    """One row. `host` and `port` are there only where an operator has named them."""

    path: re.Pattern[str]
    parameters: dict[str, re.Pattern[str]]
    host: str = ""
    port: int = 0

    def allows(self, asked: "Asked") -> bool:
        is_there = not self.host or (self.host, self.port) == (asked.host, asked.port)
        return (
            is_there
            and self.path.fullmatch(asked.path) is not None
            and all(
                name in self.parameters and self.parameters[name].fullmatch(value) is not None
                for name, value in asked.query
            )
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """One address, with nothing in it that two servers would read in two ways."""

    host: str
    port: int
    path: str
    query: tuple[tuple[str, str], ...]


def read_address(url: str, fields: Iterable[tuple[str, str]] = ()) -> Asked | None:
    """The address that is asked with these further fields; None where servers could disagree."""
    if re.search(r"[\x00-\x20\x7f-\U0010ffff\\#]", url):
        return None
    text = url if re.match(r"https?://", url, re.IGNORECASE) else f"http://{url}"
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS[parts.scheme]
        query = parse_qsl(parts.query, keep_blank_values=True)
    except (ValueError, KeyError):
        return None
    path = _plain_path(parts.path)
    if path is None or "@" in parts.netloc or not parts.hostname or ";" in parts.query:
        return None
    every = (*query, *fields)
    is_whole = not parts.query or all(parts.query.split("&"))
    if not is_whole or not all(_PARAMETER.fullmatch(name) for name, _ in every):
        return None
    return Asked(parts.hostname.rstrip("."), port, path, every)


def is_known(asked: Asked, of_operator: Iterable[KnownAddress] = ()) -> bool:
    return any(row.allows(asked) for row in (*_rows(), *of_operator))


def read_operators_address(text: str) -> KnownAddress:
    """`http://HOST:PORT/path/*?name&name`. Raises `ValueError` for anything else."""
    match = re.fullmatch(
        r"(https?)://([\w.-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?((?:/[\w.,:@*|~-]*)+)"
        r"(?:\?([\w.\[\]-]+(?:&[\w.\[\]-]+)*))?",
        text,
    )
    if match is None or re.search(r"/\.{1,2}(?:/|$)|//", match[4]):
        raise ValueError(
            f"{text!r} is no address that may be read: write http://HOST:PORT/path with `*` for a "
            "step of any name, and the parameters as ?name&name"
        )
    return KnownAddress(
        _path(match[4].rstrip("/") or "/"),
        dict.fromkeys((match[5] or "").split("&"), _PLAIN_VALUE),
        match[2].strip("[]").lower(),
        int(match[3] or _PORTS[match[1]]),
    )


def _plain_path(path: str) -> str | None:
    """The path with letters that need no escape written plainly, or None."""
    plain = _ENCODED_PLAIN.sub(lambda match: chr(int(match[1], 16)), path) or "/"
    if not _STEPS.fullmatch(plain) or re.search(r"/\.{1,2}(?:[/;]|$)|//", plain):
        return None
    return plain if plain == "/" else plain.removesuffix("/")


@cache
def _rows() -> tuple[KnownAddress, ...]:
    tables = (_EVERYWHERE, _FRAMEWORKS, _MONITORING, _SEARCH_AND_DATA, _CLUSTERS,
              _PROXIES_AND_QUEUES)  # fmt: skip
    lines = "".join(tables).replace("\\\n", " ").splitlines()
    return tuple(row for line in lines if line.split() for row in _read_row(*line.split()))


def _read_row(path: str, *parameters: str) -> Iterable[KnownAddress]:
    allowed = dict(map(_read_parameter, parameters))
    places = _PLACES if path.startswith("~") else ("",)
    for place in places:
        yield KnownAddress(_path(place + path.removeprefix("~")), allowed)


def _read_parameter(text: str) -> tuple[str, re.Pattern[str]]:
    name, _, value = text.partition("=")
    if not value:
        return name, _PLAIN_VALUE
    return name, _ANY_VALUE if value == "*" else re.compile(value[1:-1])


def _path(row: str) -> re.Pattern[str]:
    steps = (
        "|".join(_NAME if each == "*" else re.escape(each).replace(r"v\*", r"v\d{1,2}\w{0,6}")
                 for each in step.split("|"))
        for step in row.strip("/").split("/")
    )  # fmt: skip
    return re.compile("".join(f"/(?:{step})" for step in steps))
