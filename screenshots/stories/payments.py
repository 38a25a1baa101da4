"""5xx of a payment service: three agents side by side, a report, and a question about it."""

from datetime import timedelta

from screenshots.story import Agent, Call, Question, Story, Turn

ALERT = {
    "title": "payments-api: 5xx rate 11.8 % for 6 min",
    "alertname": "PaymentsApiHighErrorRate",
    "severity": "critical",
    "cluster": "prod-eu-1",
    "namespace": "payments",
    "service": "payments-api",
    "value": "11.8",
}
RUNBOOK = "https://github.com/example/runbooks/blob/main/payments/5xx.md"

_PODS = """\
NAME                            READY  RESTARTS  AGE    NODE
payments-api-7d9f6c5b8-2mwzn    1/1    3         72m    worker-eu-1a
payments-api-7d9f6c5b8-8hq4t    1/1    3         72m    worker-eu-1b
payments-api-7d9f6c5b8-kp9sv    0/1    4         72m    worker-eu-1c
payments-api-7d9f6c5b8-x2lqk    1/1    3         72m    worker-eu-1a
payments-api-7d9f6c5b8-zt7rn    1/1    0         11m    worker-eu-1b
payments-api-7d9f6c5b8-vv5cd    1/1    0         11m    worker-eu-1c
"""
_EVENTS = """\
02:44:18  Warning  OOMKilling  pod/payments-api-7d9f6c5b8-kp9sv  Memory cgroup out of memory: killed process 1 (payments-api)
02:46:02  Warning  OOMKilling  pod/payments-api-7d9f6c5b8-x2lqk  Memory cgroup out of memory: killed process 1 (payments-api)
02:58:40  Warning  OOMKilling  pod/payments-api-7d9f6c5b8-8hq4t  Memory cgroup out of memory: killed process 1 (payments-api)
03:03:11  Warning  OOMKilling  pod/payments-api-7d9f6c5b8-2mwzn  Memory cgroup out of memory: killed process 1 (payments-api)
03:03:12  Warning  BackOff     pod/payments-api-7d9f6c5b8-kp9sv  Back-off restarting failed container
"""
_POD = """\
restartCount: 3
lastState:
  terminated:
    reason: OOMKilled
    exitCode: 137
    startedAt: 02:41:52
    finishedAt: 03:02:57
resources:
  limits:   {cpu: "1", memory: 512Mi}
  requests: {cpu: 250m, memory: 384Mi}
"""
_MEMORY = """\
container_memory_working_set_bytes{namespace="payments"}
          02:30  02:40  02:50  03:00
kp9sv      208M   231M   452M   118M
x2lqk      211M   236M   447M   129M
8hq4t      206M   229M   441M   503M
limit      512M   512M   512M   512M
growth per pod since 02:41: 22 MiB/min
"""
_COMPARE = """\
v4.17.3...v4.18.0  5 commits, 11 files

internal/idempotency/cache.go  +84 -0
+// Store keeps the answer of each key for the life of the process.
+func (s *Store) Put(key string, answer []byte) { s.answers[key] = answer }
internal/http/charge.go        +21 -6
"""
_HISTORY = """\
ID  DATE              REVISION  AUTHOR      STATUS
42  02:41:07          v4.18.0   deploy-bot  Synced
41  Nov 24, 10:12:55  v4.17.3   deploy-bot  Synced
"""

_TRIAGE = Agent(
    turns=[
        Turn(
            thinking="What is wrong with the pods at this moment, and since when? Pods first, "
            "then the error rate of the last hour.",
            calls=[
                Call(
                    "kubernetes.pods_get",
                    {"namespace": "payments", "selector": "app=payments-api"},
                    _PODS,
                    "pods",
                    0.31,
                ),
                Call(
                    "prometheus.query_range",
                    {
                        "query": 'sum(rate(http_requests_total{job="payments-api",code=~"5.."}[1m]))',
                        "range": "1h",
                    },
                    "02:40 0.2 %\n02:50 4.9 %\n03:00 9.7 %\n03:04 11.8 %\n",
                    "errors",
                    0.62,
                ),
            ],
            seconds=9,
        ),
    ],
    finding="4 of 6 payments-api pods were restarted [pods], and errors rise from 02:40 on "
    "[errors]. Look at memory, at what was changed before and at the database.",
)

_INSPECTOR = Agent(
    turns=[
        Turn(
            thinking="The triage says restarts. Read the events first, then the last state of one "
            "restarted container. If it says OOMKilled with 137, compare the limit with what the "
            "process used just before, and look whether the node is short as well.",
            calls=[
                Call(
                    "kubernetes.events_list",
                    {"namespace": "payments", "since": "1h"},
                    _EVENTS,
                    "events",
                    0.41,
                ),
            ],
            seconds=11,
        ),
        Turn(
            text="Four pods were killed by the kernel [events]. The last state of one of them "
            "shows the limit.",
            calls=[
                Call(
                    "kubernetes.pods_get",
                    {
                        "namespace": "payments",
                        "name": "payments-api-7d9f6c5b8-x2lqk",
                        "fields": "status.containerStatuses, spec.containers[].resources",
                    },
                    _POD,
                    "pod",
                    0.28,
                ),
                Call(
                    "kubernetes.nodes_describe",
                    {"name": "worker-eu-1c"},
                    'nodes "worker-eu-1c" is forbidden: user "tarsy" cannot get resource "nodes"',
                    "node",
                    0.06,
                    is_error=True,
                ),
            ],
            seconds=8,
        ),
    ],
    finding="All four restarted pods share exit code 137 and a limit of 512Mi [pod], about 21 "
    "minutes after their start [events]. The node's own memory could not be read [node].",
)

_ANALYST = Agent(
    turns=[
        Turn(
            thinking="Memory first. Working set per pod against the limit, from two hours before "
            "the alert, so that the time before the 02:41 rollout is in the picture. Then request "
            "rate per pod, to see whether load explains it.",
            calls=[
                Call(
                    "prometheus.query_range",
                    {
                        "query": 'container_memory_working_set_bytes{namespace="payments"}',
                        "range": "2h",
                    },
                    _MEMORY,
                    "memory",
                    0.88,
                ),
                Call(
                    "prometheus.query_range",
                    {
                        "query": "histogram_quantile(0.99, rate(pg_query_seconds_bucket[5m]))",
                        "range": "2h",
                    },
                    "p99 of payments-db: 7.9 ms .. 8.8 ms\n",
                    "database",
                    0.63,
                ),
            ],
            seconds=14,
        ),
        Turn(
            calls=[
                Call(
                    "prometheus.query",
                    {"query": "rate(container_memory_failcnt)"},
                    "422: range vector expected, got instant vector",
                    "failcnt",
                    0.09,
                    is_error=True,
                ),
                Call(
                    "prometheus.query_range",
                    {
                        "query": 'sum by (pod) (rate(http_requests_total{job="payments-api"}[5m]))',
                        "range": "2h",
                    },
                    "every pod: 138/s .. 142/s, flat since 01:00\n",
                    "load",
                    0.71,
                ),
            ],
            seconds=7,
        ),
    ],
    finding="The working set grows by 22 MiB per minute in every pod from the rollout at 02:41 on "
    "and never falls [memory], while requests stay between 138/s and 142/s [load]. The database "
    "answers in less than 9 ms [database].",
)

_HUNTER = Agent(
    turns=[
        Turn(
            thinking="Which changes fall into the hour before? Rollouts, config maps, feature "
            "flags. Compare the two image tags if there was a rollout.",
            calls=[
                Call(
                    "argocd.app_history",
                    {"app": "payments-api", "limit": 5},
                    _HISTORY,
                    "history",
                    0.37,
                ),
            ],
            seconds=9,
        ),
        Turn(
            calls=[
                Call(
                    "github.compare",
                    {"repo": "payments/api", "base": "v4.17.3", "head": "v4.18.0"},
                    _COMPARE,
                    "diff",
                    1.12,
                ),
            ],
            seconds=6,
        ),
    ],
    finding="One change fits: v4.18.0, rolled out at 02:41 [history], keeps idempotency keys in "
    "process and never evicts them [diff].",
)

REPORT = """\
## Conclusion
payments-api v4.18.0 leaks memory in its new idempotency cache. Pods hit the 512Mi limit about 21 \
minutes after start and the kernel kills them. Confidence: high

## Evidence
1. Four of six pods were killed by the kernel for memory (exit code 137) between 02:44 and 03:03 \
[pod "exitCode: 137"] [events].
2. The working set grows by about 22 MiB per minute from pod start while the load of \
each stays flat [memory "growth per pod since 02:41: 22 MiB/min"] [load "flat since 01:00"].
3. The growth began with v4.18.0 at 02:41; before that, pods stayed below 237M [memory, history].
4. v4.18.0 keeps idempotency keys in process and never evicts them \
[diff "keeps the answer of each key for the life of the process"].
5. Retries from the mobile checkout made the growth faster.

## Next steps
1. Roll back to v4.17.3: `kubectl -n payments rollout undo deploy/payments-api --to-revision=41`
2. Until then a limit of 1Gi buys about 45 minutes per pod.
3. Ask team Payments to bound the cache before v4.18.1.

## Not checked
- Memory of node worker-eu-1c, forbidden for this account [node].

## Ruled out
- The database: its p99 stays below 9 ms [database].
- Load: requests per pod are flat [load].
"""
_SYNTHESIS = Agent(
    turns=[
        Turn(
            thinking="All three agree on memory; the hunter names the change that begins at the "
            "same minute. Nothing shows what retries had to do with it.",
            seconds=4,
        ),
    ],
    finding=REPORT,
)
_SUMMARY = Agent(
    turns=[],
    finding="A memory leak in payments-api v4.18.0, rolled out at 02:41, makes the kernel kill "
    "pods about 21 minutes after start. Rolling back to v4.17.3 ends it.",
)
_ANSWER = Agent(
    turns=[
        Turn(
            thinking="Requests that failed are counted by client. One query, grouped by the "
            "client label, since 02:41.",
            calls=[
                Call(
                    "prometheus.query",
                    {
                        "query": 'sum by (client) (increase(http_requests_total{job="payments-api",code=~"5.."}[30m]))'
                    },
                    "mobile  18204\nweb      9411\npartner   377\n",
                    "clients",
                    0.52,
                ),
            ],
            seconds=5,
        ),
    ],
    finding="Mostly people on the mobile app: 18,204 of the failed requests came from `mobile`, "
    "9,411 from `web` and 377 from `partner` [clients]. How many customers that are cannot be "
    "said: the metric counts requests.",
)
_RETRY_ANSWER = Agent(
    turns=[
        Turn(
            text="The rollback is not done yet, so I look at the figures of now.",
            calls=[
                Call(
                    "prometheus.query",
                    {
                        "query": 'max by (pod) (container_memory_working_set_bytes{namespace="payments"})'
                    },
                    "zt7rn  301M\nvv5cd  297M\n8hq4t  118M\n",
                    "now",
                    0.47,
                ),
            ],
            seconds=4,
        ),
    ],
    finding="In about 10 minutes: zt7rn and vv5cd are at 301M and 297M [now] and grow by 22 MiB "
    "per minute, with 512Mi as the limit [memory].",
)

FINISHED = Story(
    "ServiceErrors",
    ALERT,
    "Alertmanager",
    timedelta(minutes=28),
    clock="03:04",
    stages=[[_TRIAGE], [_INSPECTOR, _ANALYST, _HUNTER], [_SYNTHESIS], [_SUMMARY]],
    questions=[
        Question("ana", "Which customers saw errors?", _ANSWER),
        Question("ben", "When will the next pods reach their limit?", _RETRY_ANSWER, after=95),
    ],
    runbook=RUNBOOK,
)
