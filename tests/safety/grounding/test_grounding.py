"""True reports stay as they are; what nothing supports is found, where it stands."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.types import JSON
from safety.evidence import Evidence, SettledCall
from safety.grounding.judge import find_unsupported
from safety.grounding.unsupported import Unsupported
from tests.cases import for_each
from tests.safety.gate.calls import settled

LINES = (Path(__file__).parent / "cases" / "grounding.jsonl").read_text("utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]
ACTS = {
    "ground-act-phantom-01", "ground-act-phantom-02", "ground-act-phantom-03",
    "ground-phantom-action-01",
}  # fmt: skip
"""Where the recorded `phantom` is an act that is claimed and never was. Of states, looks, figures
and negations that nothing supports, which are phantoms there too, nothing is certain enough to hold
an answer back: they are marked."""


@dataclass
class Told:
    """What an agent saw: its runs, and the alert."""

    calls: list[SettledCall]
    alert: str = '{"alertname": "SomethingIsWrong"}'
    tools: tuple[str, ...] = field(default=("ops__read",))

    def find(self, answer: str) -> tuple[Unsupported, ...]:
        evidence = Evidence()
        for call in self.calls:
            evidence.add(call)
        return find_unsupported(answer, evidence, [("alert data", self.alert)], self.tools)


def marked(answer: str, found: tuple[Unsupported, ...]) -> list[str]:
    return [answer[each.start : each.end] for each in found]


def wrap(**data: JSON) -> str:
    return json.dumps({"ok": True, "data": data, "error": None, "meta": {"host": "web-7"}})


def test_an_article_is_nobody_who_did_something():
    told = Told([settled("ops__read", "read", "pod a-1 killed, exit code 137\nthe end", {})])

    assert told.find("1. a-1 was killed by the kernel (exit code 137) [T1].") == ()


@for_each(CASES, name=lambda case: case["id"])
def test_claims_are_told_from_facts_as_recorded(case):
    calls = [
        settled(each["tool"], each["kind"], each["result"], each["arguments"])
        for each in case["tool_results"]
    ]
    answer = case["answer"]

    found = Told(calls, case["alert"]).find(answer)

    wanted = [(answer.index(each), answer.index(each) + len(each)) for each in case["unsupported"]]
    for start, end in wanted:
        assert any(each.start < end and each.end > start for each in found)
    for each in found:
        assert any(each.start < end and each.end > start for start, end in wanted), each
    acts = [each for each in found if each.is_phantom]
    assert bool(acts) is (case["phantom"] and case["id"] in ACTS)


HEALTH = wrap(
    uptime_seconds=1036800,
    cpu={"used_percent": 34.2, "cores": 8, "load_1m": 3.41},
    memory={"total_bytes": 33554432000, "used_bytes": 27917287424, "used_percent": 83.2},
    filesystems=[
        {"path": "/", "size_bytes": 105089261568, "free_bytes": 5254463078, "used_percent": 95.0},
        {"path": "/var", "size_bytes": 52521566208, "used_percent": 22.8},
    ],
)
LARGEST = wrap(
    entries=[
        {"path": "/var/log/journal", "bytes": 42949672960},
        {"path": "/opt/app/cache", "bytes": 21474836480},
    ]
)
LOGS = wrap(
    unit="app.service",
    lines=[
        "2026-11-28T02:40:01Z app[812]: ERROR write failed: No space left on device",
        "2026-11-28T02:41:07Z app[812]: ERROR write failed: No space left on device",
        "2026-11-28T02:44:10Z systemd[1]: app.service: Main process exited, status=1/FAILURE",
    ],
)
DISK = Told(
    [
        settled("ops.query", "resolve", HEALTH, {"action": "health"}),
        settled("ops.storage", "read", LARGEST, {"action": "largest", "path": "/"}),
        settled("ops.read", "read", LOGS, {"action": "logs", "unit": "app"}),
        settled("ops.query", "resolve", wrap(id="service:web-7:app.service", status="failed")),
    ],
    '{"alertname": "DiskFull", "instance": "web-7:9100", "startsAt": "2026-11-28T02:35:00Z"}',
)
DISK_REPORT = """\
## Conclusion
The root file system of `web-7` is 95 % full: about 93 GiB of 98 GiB are used and roughly 4.9 GiB
are free [T1]. Because of that `app.service` could not write any more and stopped at 02:44 UTC [T3].
**Confidence:** high (90 %).

## Evidence
- `/` is at 95.0 %, `/var` at 22.8 % [T1].
- The two largest directories are `/var/log/journal` with 40 GiB and `/opt/app/cache` with 20 GiB;
  together they hold 60 GiB [T2].
- The log of app.service shows "write failed: No space left on device" twice, at 02:40:01 and
  02:41:07 UTC, before the main process exited with status 1 [T3].
- CPU (34 %) and memory (83 %) are unremarkable; the load is 3.4 on 8 cores [T1].
- The host has been up for 12 days.

## Ruled out
- No memory pressure: 26 of 31.3 GiB are used.

## Next steps
1. Free space: `journalctl --vacuum-size=2G` brings back about 38 GiB.
2. Restart the service: `systemctl restart app`.
3. Set `SystemMaxUse=4G` in /etc/systemd/journald.conf and alert at 80 %.

## Not checked
- Whether uploads were lost between 02:40 and 02:50.
"""
PODS = Told(
    [
        settled(
            "k8s.pods_list",
            "read",
            "NAME                 READY  STATUS            RESTARTS       AGE\n"
            "api-7c9d8f6b5-2xkqp  0/1    CrashLoopBackOff  17 (3m ago)    58m\n"
            "api-7c9d8f6b5-9hjkl  0/1    CrashLoopBackOff  17 (2m ago)    58m\n"
            "api-64f9c7d9b-aaaaa  1/1    Running           0              5d2h\n"
            "redis-0              1/1    Running           0              41d",
            {"namespace": "prod"},
        ),
        settled(
            "k8s.pod_describe",
            "read",
            "Node: ip-10-0-3-17.eu-west-1.compute.internal/10.0.3.17\nLimits: cpu: 500m memory: "
            "512Mi\nLast State: Terminated\n  Reason: Error\n  Exit Code: 1\n"
            "  Started: Sat, 28 Nov 2026 02:47:58 +0000\n  Finished: Sat, 28 Nov 2026 02:48:01\n"
            "Warning  BackOff  3m (x201 over 57m)  kubelet  Back-off restarting failed container",
            {"name": "api-7c9d8f6b5-2xkqp"},
        ),
        settled(
            "k8s.pod_logs",
            "read",
            "2026-11-28T02:48:00Z INFO connecting to postgres at pg-main:5432\n"
            '2026-11-28T02:48:01Z FATAL migration 0042_add_index failed: relation "orders" does '
            "not exist",
            {"name": "api-7c9d8f6b5-2xkqp"},
        ),
    ],
    '{"alertname": "KubePodCrashLooping", "namespace": "prod", "deployment": "api"}',
)
PODS_REPORT = """\
## Root cause
Both new pods crash on start because migration `0042_add_index` fails with
`relation "orders" does not exist` [T3]. The old pod `api-64f9c7d9b-aaaaa` is still running [T1].

- `api-7c9d8f6b5-2xkqp` and `api-7c9d8f6b5-9hjkl` are in CrashLoopBackOff with 17 restarts each.
- The container ends about 3 seconds after it starts, with exit code 1, not 137 [T2].
- The kubelet reported BackOff 201 times in 57 minutes [T2].
- redis-0 is Running since 41 days and not involved.
- The pod runs with a limit of 512 MiB memory and half a core.
- The previous logs show that the api connects to postgres at pg-main:5432 before it fails.

One of three api pods is ready, so capacity is down to roughly 33 %.

**Recommendation:** roll back with `kubectl rollout undo deployment/api -n prod`, then fix the
migration: it should create the table first. The database may have been restored from a backup.
"""


@pytest.mark.parametrize(("told", "report"), [(DISK, DISK_REPORT), (PODS, PODS_REPORT)])
def test_a_true_report_is_not_marked_anywhere(told, report):
    assert marked(report, told.find(report)) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The disk is 95 percent full, 95% to be exact.",
        "27,917,287,424 bytes of memory are used.",
        "Memory: 26 GiB of 31 GiB, that is 83.2%.",
        "The journal takes 43 GB (decimal), which is 40 GiB.",
        "The journal is twice as large as the cache.",
        "The uptime is 288 hours.",
        "A write failed at 03:40:01 CET, which is 02:40:01 UTC.",
        "Between the two errors lie 66 seconds.",
        "Restart the service and check whether it stays up for 10 minutes.",
        "If 50 GiB are freed, the service will start again.",
        "You should delete /opt/app/cache-2 once it is known to be safe.",
        "I recommend scaling web-8 to 16 cores.",
        "According to the alert, web-7:9100 fired at 02:35 UTC.",
        "I did not restart anything, and nothing was changed.",
        "An exit with status 1 means that the program gave up by itself.",
        "Would you like me to restart it?",
        "The service probably stopped because 40 writes failed.",
        "```\nsystemctl restart web-99\n```",
    ],
)
def test_what_is_true_advised_or_guessed_is_let_be(sentence):
    assert marked(sentence, DISK.find(sentence)) == []


@pytest.mark.parametrize(
    ("sentence", "part", "kind"),
    [
        ("The disk is 59 % full.", "59 %", "number"),
        ("The journal takes 400 GiB.", "400 GiB", "number"),
        ("The cache holds 20 MiB.", "20 MiB", "number"),
        ("The last error came at 02:51:07 UTC.", "02:51:07", "time"),
        ("The host web-8 is affected.", "web-8", "name"),
        ("The log says \"permission denied on device\".", "permission denied", "quote"),
        ("I restarted app.service.", "I restarted app.service", "action"),
        ("The cache was emptied and I have deleted the old files.", "I have deleted", "action"),
        ("The nginx access log shows many 404s.", "The nginx access log shows", "look"),
        ("The replication lag is 12 minutes.", "12 minutes", "number"),
        ("Customers get correct answers again.", "answers again", "state"),
        ("There are no errors in the kubelet journal.", "no errors in the kubelet", "negation"),
        ("ops__read({\"action\": \"logs\"})", "ops__read(", "tool_call"),
        ("<tool_call>{\"name\": \"x\"}</tool_call>", "<tool_call>", "tool_call"),
    ],
)  # fmt: skip
def test_what_no_result_supports_is_marked_where_it_stands(sentence, part, kind):
    found = DISK.find(sentence)

    assert any(part in text or text in part for text in marked(sentence, found))
    assert kind in {each.kind for each in found}


def test_a_claim_after_an_unrelated_success_is_checked_all_the_same():
    told = Told([settled("ops.metrics", "read", wrap(load_1m=0.2))])

    (found, *_) = told.find("I stopped the mail service.")

    assert found.is_phantom


def test_what_earlier_agents_found_counts_as_looked_at():
    evidence = Evidence()
    history = "[T5] ops.read logs of app\n02:40:01 ERROR write failed; app.service is stopped"
    answer = "The logs show that a write failed at 02:40:01, and app.service is stopped."

    assert find_unsupported(answer, evidence, [("history", history)]) == ()
    assert find_unsupported(answer, evidence, [("alert data", "{}")]) != ()


@settings(max_examples=200)
@given(st.integers(1, 10**12), st.sampled_from(["KiB", "MiB", "GiB", "TiB"]), st.integers(0, 3))
def test_a_size_is_found_again_in_whatever_unit_it_is_told(size, unit, decimals):
    shown = size / 1024 ** (["KiB", "MiB", "GiB", "TiB"].index(unit) + 1)
    told = Told([settled("ops.storage", "read", wrap(used_bytes=size))])

    assert told.find(f"The storage holds {shown:.{decimals}f} {unit}.") == ()


@settings(max_examples=200)
@given(st.integers(0, 86399), st.integers(0, 86399))
def test_a_time_passes_if_and_only_if_it_was_logged(logged, told_at):
    def clock(seconds: int) -> str:
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"

    told = Told([settled("ops.read", "read", f"2026-01-05T{clock(logged)}Z ERROR disk", {})])

    found = told.find(f"The disk error came at {clock(told_at)} UTC.")

    assert bool(found) is (logged != told_at)


@settings(max_examples=150)
@given(st.text(max_size=400))
def test_any_text_is_judged_and_every_span_lies_within_it(text):
    found = DISK.find(text)

    ends = [0]
    for each in found:
        assert ends[-1] <= each.start < each.end <= len(text)
        ends.append(each.end)


@pytest.mark.parametrize(
    "sentence",
    [
        "The restart was denied: no reason was given.",
        "A person denied the restart, and no reason was given for that.",
    ],
)
def test_what_a_refusal_says_itself_is_no_claim_that_needs_a_look(sentence):
    stopped = settled("ops.read", "read", wrap(name="app", status="stopped"))
    denied = settled(
        "ops.control", "write",
        "Command denied: no reason was given. ops.control did not run.", is_error=True,
    )  # fmt: skip

    assert Told([stopped, denied]).find(sentence) == ()


def test_a_refusal_speaks_for_nothing_but_its_own_words():
    denied = settled(
        "ops.control", "write",
        "Command denied: no reason was given. ops.control did not run.", is_error=True,
    )  # fmt: skip

    (found, *_) = Told([denied]).find("There are no errors in the kubelet journal.")

    assert found.kind == "negation"
