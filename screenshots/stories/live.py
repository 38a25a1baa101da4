"""What runs at the moment of the picture, and what waits."""

from datetime import timedelta

from screenshots.story import Agent, Call, Story, Turn

_CHECKOUT = {
    "title": "checkout-web: p99 latency 4.2 s for 10 min",
    "alertname": "CheckoutLatencyHigh",
    "severity": "critical",
    "cluster": "prod-eu-1",
    "namespace": "checkout",
    "service": "checkout-web",
    "value": "4.2",
}
_TRIAGE = Agent(
    turns=[
        Turn(
            thinking="Is it slow everywhere or in one place? Latency by route, then what the slow "
            "route calls.",
            calls=[
                Call(
                    "prometheus.query",
                    {
                        "query": 'topk(3, histogram_quantile(0.99, sum by (route, le) (rate(http_seconds_bucket{service="checkout-web"}[5m]))))'
                    },
                    "/cart/confirm  4.21 s\n/cart          0.31 s\n/              0.12 s\n",
                    "routes",
                    0.58,
                ),
            ],
            seconds=8,
        ),
    ],
    finding="Only /cart/confirm is slow, 4.21 s at p99 [routes]. It calls payments-api and "
    "inventory; look at both, at the pods and at what was changed.",
)

_EVENTS = """\
09:02:10  Normal   Scheduled         pod/inventory-5c9d7-rw8kd   Assigned to worker-eu-1b
09:02:44  Warning  Unhealthy         pod/inventory-5c9d7-rw8kd   Readiness probe failed: timeout
09:04:02  Warning  Unhealthy         pod/inventory-5c9d7-rw8kd   Readiness probe failed: timeout
"""
_INSPECTOR = Agent(
    turns=[
        Turn(
            thinking="Confirm calls inventory. Are its pods ready, and do the events of the last "
            "half hour say why not? After that the resources of the pod that is not.",
            calls=[
                Call(
                    "kubernetes.events_list",
                    {"namespace": "checkout", "since": "30m"},
                    _EVENTS,
                    "events",
                    0.44,
                ),
                Call(
                    "kubernetes.pods_get",
                    {"namespace": "checkout", "selector": "app=inventory"},
                    "inventory-5c9d7-rw8kd  0/1  Running  0  14m\n"
                    "inventory-5c9d7-l2x9p  1/1  Running  0  6d\n",
                    "pods",
                    0.29,
                ),
            ],
            seconds=12,
        ),
        Turn(
            text="One of two inventory pods has not become ready since it was scheduled [events], "
            "so the other one takes all of the load [pods]. I read its log to see what the probe "
            "waits for.",
            calls=[
                Call(
                    "kubernetes.pods_log",
                    {"namespace": "checkout", "name": "inventory-5c9d7-rw8kd", "tail": 200},
                    None,
                    "log",
                    2.0,
                ),
            ],
            seconds=17,
        ),
    ],
    end="",
)
_ANALYST = Agent(
    turns=[
        Turn(
            thinking="Latency of the two calls behind confirm, side by side, over two hours. Then "
            "CPU and connections of whichever is slow.",
            calls=[
                Call(
                    "prometheus.query_range",
                    {
                        "query": "histogram_quantile(0.99, sum by (upstream, le) (rate(upstream_seconds_bucket[5m])))",
                        "range": "2h",
                    },
                    "inventory     0.09 s .. 3.94 s\npayments-api  0.12 s .. 0.14 s\n",
                    "upstreams",
                    0.91,
                ),
                Call(
                    "prometheus.query",
                    {"query": "inventory_db_connections"},
                    "422: parse error: unknown metric",
                    "connections",
                    0.08,
                    is_error=True,
                ),
            ],
            seconds=11,
        ),
        Turn(
            calls=[
                Call(
                    "prometheus.query_range",
                    {
                        "query": 'rate(container_cpu_usage_seconds_total{pod=~"inventory.*"}[5m])',
                        "range": "2h",
                    },
                    "l2x9p  0.24 .. 1.00 (limit 1)\nrw8kd  0.01\n",
                    "cpu",
                    0.66,
                ),
            ],
            seconds=9,
        ),
        Turn(
            text="Payments is not the cause: it answers in 0.14 s as before [upstreams]. Inventory "
            "went from 0.09 s to 3.94 s at 09:02, the minute its second pod was replaced. The pod "
            "that is left runs at its CPU limit since then [cpu], and requests queue in front of",
            is_open=True,
        ),
    ],
    end="",
)
_HUNTER = Agent(
    turns=[
        Turn(
            thinking="Rollouts of inventory and checkout-web in the last hours, and whether the "
            "images differ.",
            calls=[
                Call(
                    "argocd.app_history",
                    {"app": "inventory", "limit": 3},
                    "18  09:01:52  v2.9.0  deploy-bot  Progressing\n"
                    "17  Nov 20    v2.8.4  deploy-bot  Synced\n",
                    "history",
                    0.35,
                ),
                Call(
                    "github.compare",
                    {"repo": "shop/inventory", "base": "v2.8.4", "head": "v2.9.0"},
                    "deploy/values.yaml  readinessProbe.path: /ready -> /ready/deep\n",
                    "diff",
                    1.04,
                ),
            ],
            seconds=10,
        ),
    ],
    finding="v2.9.0 of inventory is being rolled out since 09:01 [history]. It points the "
    "readiness probe at `/ready/deep` [diff], which is new.",
)

RUNNING = Story(
    "ServiceErrors",
    _CHECKOUT,
    "Alertmanager",
    timedelta(seconds=62),
    clock="09:16",
    is_live=True,
    stages=[[_TRIAGE], [_INSPECTOR, _ANALYST, _HUNTER]],
)

QUEUED = (
    Story(
        "PodOOMKilled",
        {"title": "search-indexer: container killed, out of memory", "namespace": "search"},
        "Alertmanager",
        timedelta(seconds=38),
    ),
    Story(
        "CertificateExpiry",
        {"title": "status.example.com: certificate expires in 6 days"},
        "ana",
        timedelta(seconds=11),
    ),
)
