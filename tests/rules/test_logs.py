# ruff: noqa: E501  # what programs write is as long as it is
"""What of a log tells why it ended, for the forms in which programs write."""

import pytest

from rules.log_entries import read_entries, tell
from rules.log_words import tells_of_limit
from rules.logs import cut_last_run, find_last_words, find_reason, list_complaints

JOURNAL = "2026-11-30T12:50:0{}+0100 app-2 {}\n"


def journal(program: str, *lines: str) -> str:
    own = (JOURNAL.format(min(n, 8), f"{program}[70]: {line}") for n, line in enumerate(lines))
    end = "x.service: Main process exited, code=exited, status=1/FAILURE"
    failed = "x.service: Failed with result 'exit-code'."
    return "".join((*own, *(JOURNAL.format(9, f"systemd[1]: {line}") for line in (end, failed))))


REASONS = {
    "logfmt, with errors that follow": (
        journal(
            "grafana",
            'level=info msg="Starting Grafana" version=10.4.2',
            'level=error msg="Failed to run migration" error="migration failed: database is locked"',
            'level=error msg="Stopped background service" reason="context canceled"',
            'level=info msg="Shutdown started" reason="System signal: terminated"',
        ),
        "Failed to run migration: migration failed: database is locked",
    ),
    "a configuration that is told of three times": (
        journal(
            "haproxy",
            "[ALERT]    (70) : config : parsing [/etc/haproxy/haproxy.cfg:42] : unknown keyword 'optio' in 'frontend' section",
            "[ALERT]    (70) : config : Error(s) found in configuration file : /etc/haproxy/haproxy.cfg",
            "[ALERT]    (70) : config : Fatal errors found in configuration.",
        ),
        "haproxy.cfg:42",
    ),
    "what aborts says so last": (
        journal(
            "mysqld",
            "2026-11-30T11:50:01.1Z 1 [ERROR] [MY-014061] [InnoDB] Invalid MySQL server downgrade: Cannot downgrade from 80400 to 80035.",
            "2026-11-30T11:50:01.2Z 1 [ERROR] [MY-010334] [Server] Failed to initialize DD Storage Engine",
            "2026-11-30T11:50:01.2Z 0 [ERROR] [MY-010119] [Server] Aborting",
            "2026-11-30T11:50:02.2Z 0 [System] [MY-010910] [Server] /usr/sbin/mysqld: Shutdown complete",
        ),
        "Cannot downgrade from 80400",
    ),
    "what aborts names its thread and its part": (
        "2026-11-30T11:50:01.0Z 0 [Warning] [MY-010139] [Server] Changed limits: max_open_files: 1048576 (requested 8161)\n"
        "2026-11-30T11:50:01.1Z 0 [ERROR] [MY-013236] [Server] The designated data directory /srv/mysql/ is unusable.\n"
        "2026-11-30T11:50:01.2Z 0 [ERROR] [MY-010119] [Server] Aborting\n",
        "/srv/mysql/ is unusable",
    ),
    "more than a minute of waiting for a lock": (
        "2026-11-30 12:48:30 0 [Note] Starting MariaDB 10.11.6 as process 7120\n"
        "2026-11-30 12:48:30 0 [ERROR] InnoDB: Unable to lock ./ibdata1 error: 11\n"
        "2026-11-30 12:50:10 0 [ERROR] InnoDB: Plugin initialization aborted with error Generic error\n"
        "2026-11-30 12:50:10 0 [ERROR] Aborting\n",
        "Unable to lock ./ibdata1",
    ),
    "a message that leads to the next one": (
        journal(
            "elasticsearch",
            "ERROR: [1] bootstrap checks failed. You must address the points described in the following [1] lines before starting Elasticsearch.",
            "bootstrap check failure [1] of [1]: max virtual memory areas vm.max_map_count [65530] is too low",
            "ERROR: Elasticsearch did not exit normally - check the logs at /var/log/elasticsearch/elasticsearch.log",
        ),
        "vm.max_map_count",
    ),
    "the deepest cause of Java, over two lines": (
        journal(
            "java",
            "2026-11-30 12:50:03.101 ERROR 70 --- [main] o.s.boot.SpringApplication : Application run failed",
            "org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'flyway'",
            "\tat org.springframework.beans.factory.Factory.initializeBean(Factory.java:1804)",
            "Caused by: org.flywaydb.core.api.exception.FlywayValidateException: Validate failed",
            "Migration checksum mismatch for migration version 12",
            "\t... 21 common frames omitted",
            "2026-11-30 12:50:03.301  INFO 70 --- [main] o.a.catalina.core.StandardService : Stopping service [Tomcat]",
        ),
        "FlywayValidateException: Validate failed Migration checksum mismatch",
    ),
    "the last of two exceptions of Python": (
        journal(
            "python3",
            "Traceback (most recent call last):",
            '  File "/srv/billing/settings.py", line 41, in load',
            "KeyError: 'stripe2'",
            "During handling of the above exception, another exception occurred:",
            "Traceback (most recent call last):",
            '  File "/srv/billing/main.py", line 12, in <module>',
            "billing.settings.SettingsError: PAYMENT_PROVIDER stripe2 is not one of stripe, adyen",
        ),
        "SettingsError: PAYMENT_PROVIDER",
    ),
    "the panic of Go and its stack": (
        journal(
            "prices",
            "panic: runtime error: invalid memory address or nil pointer dereference",
            "[signal SIGSEGV: segmentation violation code=0x1 addr=0x18]",
            "goroutine 1 [running]:",
            "main.loadPrices(0x0)",
            "\t/src/prices/load.go:88 +0x1d",
            "exit status 2",
        ),
        "nil pointer dereference",
    ),
    "the panic of Rust": (
        "thread 'main' panicked at src/main.rs:41:10:\ncalled `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }\nnote: run with `RUST_BACKTRACE=1`\n",
        "ParseIntError",
    ),
    "klog": (
        "I1130 11:57:01.101221       1 main.go:41] starting tuner v0.9.1\nF1130 11:57:01.221922       1 main.go:88] unable to build config: stat /etc/kubeconfig: no such file or directory\ngoroutine 1 [running]:\nk8s.io/klog/v2.stacks(0x1)\n",
        "unable to build config",
    ),
    "JSON with an object for its error": (
        '{"level":"INFO","message":"booting"}\n{"level":"ERROR","message":"startup failed","error":{"type":"ConfigError","message":"BROKER_URL must be an amqp:// address"}}\n{"level":"INFO","message":"bye"}\n',
        "startup failed: BROKER_URL must be",
    ),
    "an error without a level, then the end": (
        journal(
            "named",
            "/etc/bind/named.conf.local:12: missing ';' before '}'",
            "loading configuration: failure",
            "exiting (due to fatal error)",
        ),
        "named.conf.local:12",
    ),
    "the detail of PostgreSQL": (
        "2026-11-30 11:57:01.101 UTC [1] FATAL:  data directory \"/data\" has invalid permissions\n2026-11-30 11:57:01.101 UTC [1] DETAIL:  Permissions should be u=rwx (0700).\n2026-11-30 11:57:01.102 UTC [1] LOG:  database system is shut down\n",
        "has invalid permissions: Permissions should be u=rwx (0700)",
    ),
    "a message of PostgreSQL before its fatal one": (
        '2026-11-30 11:57:01.101 UTC [1] LOG:  invalid value for parameter "shared_buffers": "4 gigs"\n2026-11-30 11:57:01.102 UTC [1] FATAL:  configuration file "/etc/postgresql.conf" contains errors\n',
        "shared_buffers",
    ),
    "a file of Redis, then what follows": (
        "40:M 30 Nov 2026 11:59:01.120 * Loading RDB produced by version 7.2.4\n40:M 30 Nov 2026 11:59:01.121 # Can't handle RDB format version 11\n40:M 30 Nov 2026 11:59:01.121 # Fatal error loading the DB: Invalid argument. Exiting.\n",
        "Can't handle RDB format version 11",
    ),
    "the settings of Redis, over lines without a moment": (
        "40:C 30 Nov 2026 11:50:01.123 # Redis is starting\n*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\nReading the configuration file, at line 1203\n>>> 'maxmemory-polcy allkeys-lru'\nBad directive or wrong number of arguments\n",
        "maxmemory-polcy",
    ),
    "the run before, where the last one has only begun": (
        journal("mailer", "smtp relay: 535 5.7.8 Error: authentication failed")
        + JOURNAL.format(9, "systemd[1]: Started mailer.service - Mailer.")
        + JOURNAL.format(9, "mailer[88]: reading the queue"),
        "535 5.7.8",
    ),
    "what is told in fewer figures, before what follows from it": (
        journal(
            "rsync",
            "Host key verification failed.",
            "rsync: connection unexpectedly closed (0 bytes received so far) [sender]",
            "rsync error: unexplained error (code 255) at io.c(231) [sender=3.2.7]",
        ),
        "Host key verification failed",
    ),
    "an end that is told with its reason": (
        "40:M 30 Nov 2026 11:51:01.123 # Aborting Redis startup because of ACL errors: /etc/redis/users.acl:4: Unknown command\n",
        "users.acl:4",
    ),
    "what fails, not what may": (
        "40:M 30 Nov 2026 11:51:01.123 # WARNING Without overcommit a save may fail under low memory condition. See 'vm.overcommit_memory'\n40:M 30 Nov 2026 11:51:01.124 # Can't open the append-only file: Permission denied\n",
        "append-only file",
    ),
    "an option that is named as a level": (
        '2026-11-30 11:58:01 ERROR invalid setting level=info error="no such key"\n2026-11-30 11:58:01 INFO cannot find optional plugin "x" in /opt/plugins\n',
        "ERROR invalid setting level=info",
    ),
    "pairs that are quoted": (
        'ERROR [cfg] cannot parse "level=info msg=hello" in /etc/app.conf:12\n',
        "/etc/app.conf:12",
    ),
    "an exception of Python by any name": (
        'Traceback (most recent call last):\n  File "/a.py", line 1, in <module>\n    x()\nshop.rates.NoRate: XAU\n',
        "shop.rates.NoRate: XAU",
    ),
    "an exception of Python by any name, behind a message": (
        '2026-11-30 11:58:00,123 ERROR task failed\nTraceback (most recent call last):\n  File "/a.py", line 1, in <module>\n    x()\nshop.rates.NoRate: XAU\n',
        "shop.rates.NoRate: XAU",
    ),
    "the last of two exceptions by any name": (
        'Traceback (most recent call last):\n  File "/a.py", line 1, in <module>\nKeyError: \'x\'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "/a.py", line 1, in <module>\ndjango.core.exceptions.ImproperlyConfigured: Set DB_URL\n',
        "ImproperlyConfigured: Set DB_URL",
    ),
    "an exception of Java by any name": (
        "shop.rates.KeinKurs: XAU\n\tat shop.Rates.find(Rates.java:3)\n\tat shop.Main.main(Main.java:1)\n",
        "shop.rates.KeinKurs: XAU",
    ),
    "an exception of Elixir, behind a moment without a day": (
        "11:58:01.123 [error] GenServer Shop.Rates terminating\n** (ArgumentError) no rate for XAU\n    (shop 0.1.0) lib/rates.ex:10: Shop.Rates.init/1\n",
        "no rate for XAU",
    ),
    "a stack whose begin is cut off": (
        "\tat a.b.C.d(C.java:1)\n\tat a.b.C.e(C.java:2)\nCaused by: java.net.BindException: Address already in use\n",
        "Caused by: java.net.BindException",
    ),
    "an end of a long line": ("ERROR payload " + "x" * 50_000 + " disk full\n", "disk full"),
    "a level of pino": (
        '{"level":50,"msg":"listen EADDRINUSE: address already in use :::3000"}\n{"level":30,"msg":"cannot count failed jobs in /var/lib/x"}\n',
        "EADDRINUSE",
    ),
    "the compact form of Serilog": (
        '{"@t":"2026-11-30T11:58:01Z","@l":"Fatal","@mt":"{App} ended","App":"rates","@x":"System.IO.IOException: No space left on device\\n   at System.IO.X()"}\n',
        "rates ended: System.IO.IOException: No space left on device",
    ),
    "OpenTelemetry": (
        '{"severityNumber":9,"body":"cannot find plugin"}\n{"severityNumber":21,"body":{"stringValue":"cannot open /data/db"}}\n',
        "cannot open /data/db",
    ),
    "a stack in a field of its own": (
        '{"level":"error","message":"task ended","exc_info":"Traceback (most recent call last):\\n  File \\"/a.py\\", line 1\\nshop.NoRate: XAU"}\n',
        "task ended: shop.NoRate: XAU",
    ),
    "an error that was not got over, behind one that was": (
        "2026-11-30 11:58:00 ERROR connect to 10.0.0.1:5672 refused, retrying\n2026-11-30 11:58:01 INFO connected to 10.0.0.1:5672\n2026-11-30 11:58:02 ERROR migration 42 failed\n",
        "migration 42",
    ),
    "a kill for memory, behind an error that was harmless": (
        JOURNAL.format(1, "app[70]: ERROR could not send mail to a@b.c: timeout, will retry")
        + JOURNAL.format(2, "systemd[1]: x.service: A process of this unit has been killed by the OOM killer.")
        + JOURNAL.format(2, "systemd[1]: x.service: Failed with result 'oom-kill'."),
        "killed by the OOM killer",
    ),
    "a kill, behind an error that was harmless": (
        JOURNAL.format(1, "app[70]: ERROR could not send mail to a@b.c: timeout, will retry")
        + JOURNAL.format(2, "systemd[1]: x.service: Main process exited, code=killed, status=9/KILL"),
        "status=9/KILL",
    ),
    "what a program died of, though it was killed in the end": (
        JOURNAL.format(1, "app[70]: FATAL cannot open /data/db: permission denied")
        + JOURNAL.format(2, "systemd[1]: x.service: Main process exited, code=killed, status=9/KILL"),
        "/data/db",
    ),
    "a reason that says at its end where to read more": (
        journal(
            "entry",
            "ERROR: search did not exit normally - check the logs at /var/log/search/prod.log",
            "bootstrap check failure [1] of [1]: vm.max_map_count [65530] is too low; for more information see [https://docs.acme.test/maps]",
        ),
        "vm.max_map_count",
    ),
    "a message over lines that are framed": (
        "2026-11-30T11:50:01Z [ERROR] agent: error authenticating:\n  | Error making API request.\n  | \n  | URL: PUT https://vault.acme.test:8200/v1/login\n",
        "error authenticating: Error making API request.: URL: PUT https://vault.acme.test:8200/v1/login",
    ),
    "what .NET says behind the line that says who says it": (
        "info: Microsoft.Hosting.Lifetime[14]\n      Now listening on: http://[::]:8080\n"
        "fail: Microsoft.Hosting.Internal.Host[11]\n      Hosting failed to start\n"
        "crit: Acme.Shop.Startup[0]\n      Cannot read the key ring in /keys\n"
        "info: Microsoft.Hosting.Lifetime[0]\n      Application is shutting down...\n",
        "Cannot read the key ring in /keys",
    ),
    "what only systemd can tell": (
        JOURNAL.format(1, "systemd[77]: geo.service: Failed at step NAMESPACE spawning /usr/bin/geo: No such file or directory")
        + JOURNAL.format(1, "systemd[1]: geo.service: Main process exited, code=exited, status=226/NAMESPACE"),
        "Failed at step NAMESPACE",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_the_message_that_tells_why_is_found_before_those_that_follow_from_it(name):
    text, wanted = REASONS[name]

    reason = find_reason(text)

    assert reason is not None
    assert wanted in reason.line


def test_the_end_of_the_last_run_is_every_line_near_it_but_what_was_called_no_trouble():
    text = (
        "2026-11-30 08:00:00 INFO Starting\n2026-11-30 08:00:01 ERROR first run\n"
        "2026-11-30 09:00:00 INFO Starting\n2026-11-30 09:00:01 ERROR long before\n"
        "2026-11-30 11:58:00 INFO not found, using the default\n"
        "2026-11-30 11:58:01 WARN address already in use\n"
        "2026-11-30 11:58:02 FATAL server failed\nCaused by: code 7\n"
    )

    assert cut_last_run(text).splitlines() == [
        "2026-11-30 11:58:01 WARN address already in use",
        "2026-11-30 11:58:02 FATAL server failed",
        "Caused by: code 7",
    ]


def test_what_an_exception_comes_from_is_read_behind_a_long_stack():
    stack = "".join(f"\tat a.b.C.d(C.java:{n})\n" for n in range(90))
    text = f"ERROR startup\njava.lang.RuntimeException: x\n{stack}Caused by: java.net.BindException: Address already in use\n"

    reason = find_reason(text)

    assert reason is not None
    assert "Address already in use" in reason.line
    assert "Address already in use" in cut_last_run(text)


def test_a_log_that_tells_of_no_failure_has_no_reason():
    text = "INFO sync done errors=0 failed: 0\nINFO 0 errors, no failures\nGET / 200\n"

    assert find_reason(text) is None
    assert list(list_complaints(text)) == []


def test_a_reason_is_over_once_all_went_well_after_it():
    failed = "2026-11-30 11:49:01 UTC [1] FATAL:  could not load /etc/ssl/server.crt\n"
    ready = "2026-11-30 11:52:01 UTC [2] LOG:  database system is ready to accept connections\n"

    before, after = find_reason(failed), find_reason(failed + ready)

    assert before is not None
    assert not before.is_over
    assert after is not None
    assert after.is_over


def test_an_error_is_counted_by_its_kind_whatever_its_numbers():
    text = "".join(f"ERROR no rate for order {n}\n" for n in range(4)) + "WARN slow\n"

    (told,) = list_complaints(text)

    assert (told.times, told.level, told.is_over) == (4, "error", False)


ERRORS = "".join(
    f'2026-11-30 11:5{n}:00 ERROR password authentication failed for user "shop"\n'
    for n in range(8)
)
PROBES = "".join(f"2026-11-30 11:57:0{n} INFO GET /healthz 200\n" for n in range(1, 9))
CLIENT = "2026-11-30 11:57:01 INFO client 4 connected\n"
NOT_OVER = {
    "probes of its health within seconds": ERRORS + PROBES,
    "another client that connects": ERRORS + CLIENT,
    "another one that is up": "[ALERT] proxy 'be_cart' has no server available!\n[WARNING] Server be_mail/m1 is UP, reason: Layer4 check passed.\n",
    "something else that connects": ERRORS + "2026-11-30 11:57:01 INFO redis connected\n",
    "lines without a moment": "ERROR no rate for order 7\nINFO priced\n" * 3 + "INFO priced\n" * 50,
    "a replica that follows, of a server that cannot save": (
        "40:M 30 Nov 2026 11:57:01.120 # Can't save in background: fork: Cannot allocate memory\n"
        "40:M 30 Nov 2026 11:57:09.120 * Synchronization with replica 10.0.0.3:6379 succeeded\n"
    ),
    "callers that are let in": "40:M 30 Nov 2026 11:57:01.120 # Background saving error\n"
    + "".join(f"40:M 30 Nov 2026 11:57:1{n}.120 - Accepted 10.0.0.9:400{n}\n" for n in range(6)),
    "callers of a broker": "2026-11-30 11:50:01.000+00:00 [error] <0.812.0> msg_store write failed: no space left on device\n"
    + "".join(
        f"2026-11-30 11:58:1{n}.000+00:00 [info] <0.9{n}.0> accepting AMQP connection <0.9{n}.0> (10.0.0.21:4124{n} -> 10.0.0.11:5672)\n"
        for n in range(6)
    ),
    "a job that comes every hour": "".join(
        f"2026-11-30 0{n}:00:00 ERROR backup failed: no space left\n" for n in range(3)
    )
    + "".join(f"2026-11-30 02:{n}0:00 INFO GET / 200\n" for n in range(6)),
    "an end that is only begun": "2026-11-30 11:50:01 ERROR cannot open /data/a\n2026-11-30 11:50:02 INFO is now ready to exit, bye\n",
    "other words that are a sentence": "ERROR could not write to the disk\nINFO connected to the broker\n",
    "another one of its kind": "ERROR service cart not available\nINFO connected to service mail\n",
    "advice to look after it": "ERROR cannot reach broker mq-1:5672\n" * 3
    + "INFO check that broker mq-1:5672 is up.\n",
    "a figure that is up": "ERROR charge of card failed: gateway latency\nINFO gateway latency is up, 900 ms\n",
    "a queue that is up to a length": "ERROR mails queue overflow\nINFO mails queue is up: 9000 waiting\n",
    "a time that is up": "ERROR order 55123-a could not be paid\nINFO order 55123-a: its time is up.\n",
}
OVER = {
    "it stayed away": ERRORS + "2026-11-30 12:40:00 INFO GET / 200\n",
    "the same address": "ERROR connect to 10.0.0.1:5672 refused, retrying\nINFO connected to 10.0.0.1:5672\n",
    "the same thing by its name": "ERROR redis: dial tcp: connection refused\nINFO redis connected\n",
    "the same thing that was tried again": "ERROR db locked, retry\nINFO retry succeeded\n",
    "the whole program is up": "ERROR no answer of orders-db\nINFO Application startup complete.\n",
    "another start that took seconds": "ERROR no answer of orders-db\nINFO Started App in 3.2 seconds\n",
    "one of those it lacked is up": "[ALERT] proxy 'be_cart' has no server available!\n[WARNING] Server be_cart/c1 is UP, reason: Layer4 check passed, check duration: 0ms.\n",
    "an address that is up": "ERROR cannot reach broker mq-1:5672\nINFO broker mq-1:5672 is up.\n",
    "its connection": "ERROR broker unreachable\nINFO connection to broker re-established\n",
    "its server": "ERROR database unreachable\nINFO Successfully connected to database server\n",
    "a part of it": "ERROR cache cluster unreachable\nINFO cache connection recovered\n",
    "its name beside its kind": "ERROR lost connection to postgres\nINFO connected to postgres database\n",
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_OVER)
def test_an_error_is_not_over_by_what_proves_nothing_of_it(name):
    told = list(list_complaints(NOT_OVER[name]))

    assert [each.is_over for each in told] == [False]


@pytest.mark.parametrize("name", OVER)
def test_an_error_is_over_once_it_stays_away_or_its_subject_is_well(name):
    told = list(list_complaints(OVER[name]))

    assert [each.is_over for each in told] == [True]


OLD_RUN = "2026-11-30 11:40:00 INFO Starting app\n2026-11-30 11:40:01 FATAL cannot open /data/db: permission denied\n"
NO_REASON = {
    "a run that lasted long came after it": OLD_RUN
    + "2026-11-30 11:41:00 INFO Starting app\n2026-11-30 11:58:00 INFO GET / 200\n",
    "days lie between them": OLD_RUN.replace("-30", "-28")
    + "2026-11-30 11:50:00 INFO Starting app\n2026-11-30 11:50:02 INFO GET / 200\n",
    "it was said hours before the end": "2026-11-30 09:00:00 INFO starting\n"
    "2026-11-30 09:00:01 ERROR connect to 10.0.0.1:5672 refused, retrying in 1s\n"
    "2026-11-30 09:00:02 INFO reading the queue\n"
    "2026-11-30 11:54:58 INFO GET /a 200\n2026-11-30 11:54:59 INFO GET /b 200\n",
}


@pytest.mark.parametrize("name", NO_REASON)
def test_what_was_said_long_before_an_end_is_not_why_it_came(name):
    assert find_reason(NO_REASON[name]) is None


def test_the_cause_by_which_several_runs_ended_is_told_while_the_next_one_lasts():
    runs = OLD_RUN + OLD_RUN.replace("11:40:", "11:45:")
    told = find_reason(
        runs + "2026-11-30 11:46:00 INFO Starting app\n2026-11-30 11:49:00 INFO GET / 200\n"
    )

    assert told is not None
    assert "/data/db" in told.line


def test_a_program_that_sets_all_its_lines_in_says_each_of_them_by_itself():
    text = "".join(f"  811:1250{n} query failed: [1205] Lock wait timeout\n" for n in range(3))

    (told,) = list_complaints(text)

    assert told.times == 3


def test_what_is_skipped_or_ignored_is_no_complaint():
    assert list(list_complaints("skipping /a: already exists\nignoring unknown key x\n")) == []


def test_what_a_level_in_numbers_or_of_another_form_calls_no_trouble_is_none():
    lines = (
        '{"level":30,"msg":"cannot count failed jobs"}',
        '{"level":6,"short_message":"cannot count failed jobs"}',
        '{"severityNumber":9,"body":"cannot count failed jobs"}',
        '{"@t":"2026-11-30T11:58:01Z","@l":"Information","@mt":"cannot count failed jobs"}',
    )

    assert list(list_complaints("\n".join(lines))) == []


def test_the_last_words_of_a_program_are_its_own_in_whatever_language():
    text = journal(
        "billing",
        "INFO Dienst startet",
        "FEHLER Datei /etc/app.conf kann nicht geöffnet werden: Zugriff verweigert",
        "INFO Dienst beendet",
    )

    told = find_last_words(text)

    assert find_reason(text) is None
    assert told is not None
    assert "Zugriff verweigert / INFO Dienst beendet" in told.line
    assert "systemd" not in told.line


def test_a_log_of_nobody_but_who_watches_has_no_last_words():
    watched = JOURNAL.format(1, "systemd[1]: x.service: Main process exited, code=exited, status=1")

    assert find_last_words(watched) is None
    assert find_last_words("") is None


def test_a_hint_is_kept_with_the_message_it_is_for():
    text = "2026-11-30 11:49:01 UTC [1] a@b ERROR:  out of shared memory\n2026-11-30 11:49:01 UTC [1] a@b HINT:  You might need to increase max_locks_per_transaction.\n"

    (told,) = list_complaints(text)

    assert told.hint == "You might need to increase max_locks_per_transaction."


def test_limits_and_what_callers_do_are_told_apart_from_other_errors():
    text = "ERROR too many open connections\nERROR read: connection reset by peer\nERROR no rate\n"
    text += "ERROR sshd: Invalid user admin from 10.0.0.9\nERROR cache: invalid username-password pair\n"

    told = {each.line: (each.is_limit, each.is_foreign) for each in list_complaints(text)}

    assert list(told.values()) == [
        (True, False),
        (False, True),
        (False, False),
        (False, True),
        (False, False),
    ]


@pytest.mark.parametrize(
    "served",
    [
        '10.0.0.9 - "GET /api/items?limit=20&error=none HTTP/1.1" 200 512',
        '"POST /failed-orders HTTP/1.1" 303',
        "GET /errors 200",
    ],
)
def test_a_request_that_was_served_is_no_error_whatever_it_asks_for(served):
    assert list(list_complaints(f"{served}\n" * 5)) == []
    assert find_reason(f"{served}\n" * 5) is None


def test_a_request_that_failed_is_told_by_its_answer():
    assert [each.times for each in list_complaints('"GET /items" 500 internal error\n' * 3)] == [3]


@pytest.mark.parametrize(
    ("line", "is_own"),
    [
        ("WARN upstream said 429 Too Many Requests, throttling, will retry", False),
        ("WARN geocoder: 429 Too Many Requests, rate limited, retry in 1s", False),
        ("WARN Waited for 1.1s due to client-side throttling", False),
        ("WARN too many requests: the API returned 429 Too Many Requests", False),
        ("WARN rate limit exceeded", False),
        ('limiting requests, excess: 5.2 by zone "one", client: 10.0.0.9', True),
        ("WARN rate limit: turned tenant=7 away", True),
        ("WARN server reached max_workers, dropping connections", True),
        ("ERROR too many connections", True),
        ('"GET /throttled?client=7 HTTP/1.1" 200', False),
    ],
)
def test_a_limit_of_its_own_is_told_from_being_turned_away_by_another(line, is_own):
    assert tells_of_limit(line) == is_own


def test_the_moment_that_a_keeper_of_containers_puts_in_front_parts_no_message():
    stamp = "2026-11-30T11:59:00.123456789Z "
    lines = ("java.lang.IllegalStateException: no seat", "\tat shop.Main.main(Main.java:3)")

    (entry,) = read_entries("\n".join(stamp + line for line in lines))

    assert tell(entry) == "java.lang.IllegalStateException: no seat"


def test_a_long_hostile_line_is_read_in_no_time_that_grows_with_its_square():
    for part in ("(", "a-", 'a="', "pool", "/a", "[", "a."):
        assert find_reason("\n".join([part * 8_000] * 50)) is None
