"""What is proven to be a read, and above all what never is."""

from pathlib import Path

import pytest

from safety.commands import Category, Intent, Risk, prove
from safety.commands.policy import Group, Policy, Wrapper
from safety.commands.programs import all_programs
from safety.commands.script import Command, Pipeline, Sink
from tests.cases import for_each
from tests.safety.commands.samples import ENDLESS, READS, UNSAFE, lines

REACHING = [
    "getent ahosts secret.example", "ntpq -p 10.0.0.9", "rabbitmqctl -n rabbit@mq-1 status",
    "rabbitmqctl status -n rabbit@mq-1", "rabbitmq-diagnostics --node=rabbit@mq-1 status",
    "pg_isready -d db", "aws s3 ls s3://b", "curl http://127.0.0.1/ http://10.0.0.1/",
    "nc -z 10.0.0.9 80", "dig -q secret.example localhost", "dig @127.0.0.1 localhost",
    "psql -h db -c 'select 1'", "timeout 3 ping -c 1 db-1", "ls | xargs -r echo; host db-1",
]  # fmt: skip
STAYING = [
    "getent passwd root", "ntpq -pn", "rabbitmqctl status", "pg_isready -h localhost",
    "curl -s http://localhost:8080/health", "curl http://127.0.0.1:9090/metrics | head",
    "nc -z -w 3 localhost 80", "ping -c 1 127.0.0.1", "mysql -h 127.0.0.1 -e 'select 1'",
    "psql -h /var/run/postgresql -c 'select 1'",
]  # fmt: skip


@pytest.mark.parametrize("kind", READS)
def test_reads_are_accepted_and_may_run(kind: str):
    refused = [
        (command, proof.reason)
        for command in lines(READS[kind])
        if not (proof := prove(command)).may_run
    ]

    assert refused == []


@for_each(UNSAFE)
def test_what_could_change_anything_is_never_accepted(kind: str):
    accepted = [command for command in lines(UNSAFE[kind]) if prove(command).is_read]

    assert accepted == []


def test_reads_that_do_not_end_are_reads_but_may_not_run():
    proofs = [prove(command) for command in lines(ENDLESS)]

    assert [proof.command for proof in proofs if not proof.is_read or proof.bounded] == []
    assert [proof.command for proof in proofs if proof.may_run] == []


@for_each(
    [
        "",
        "   ",
        "\n",
        "ls\r\nrm x",
        "ls\0rm",
        "ls \\\n; rm x",
        "ls # a\nrm x",
        "uptime\u00a0;rm x",
        "ls \u202e",
        "ls 'a\u200bb'",
        "ls \ufeff",
        "cat " + "a" * 5000,
        "ls " + "(" * 200 + ")" * 200,
        "( " * 60 + "ls" + " )" * 60,
        "ls \ud800",
        'awk \'BEGIN{print "a",\n"b" > "/tmp/x"}\'',
        "sed 's/a/b/\nw /tmp/x' f",
        "mysql -e 'select 1;\nsystem id'",
        "psql -c 'select 1\n;drop table x'",
        "zgrep $'a\\nb' f",
        "cat <<'EOF'\nx\nEOF",
        "[ -f /x]",
        "![ -f /x ]",
        "{ls; }",
    ]
)
def test_strange_text_is_refused_and_not_an_error(text: str):
    assert prove(text).intent is Intent.WRITE_OR_UNKNOWN


@for_each(
    [
        "date | uptime",
        "cat /srv/names | ls /tmp",
        "cat /srv/manifest.yml | kubectl get pods",
        "cat /srv/orders | redis-cli info",
        "cat /srv/orders | timeout 5 systemctl status nginx",
    ]
)
def test_what_is_no_filter_is_fed_nothing(command: str):
    assert not prove(command).is_read


def test_a_tree_behind_a_link_is_judged_by_where_the_link_leads(tmp_path: Path):
    for name, target in (("settings", "/etc"), ("logs", "/var/log/nginx")):
        (tmp_path / name).symlink_to(target)

    assert prove(f"grep -r listen {tmp_path}/settings").is_sensitive
    assert prove(f"grep -r listen {tmp_path}/logs").may_run


def test_a_comment_hides_nothing_and_harms_nothing():
    assert prove("# rm -rf /\nuptime # rm").may_run
    assert not prove("uptime # a\nrm x").is_read


def test_the_proof_holds_the_words_that_will_run():
    proof = prove("""cat 'a b' "c\\"d" e'f'"g" 2>/dev/null | grep -c "x\\$y" """)

    assert proof.script == Pipeline(
        (
            Command(("cat", "a b", 'c"d', "efg"), stderr=Sink.NOWHERE),
            Command(("grep", "-c", "x$y")),
        )
    )


def test_what_a_client_would_do_on_its_own_is_taken_away_before_it_runs():
    def arguments(command: str) -> tuple[str, ...]:
        script = prove(command).script
        assert isinstance(script, Pipeline)
        return script.commands[0].argv

    assert arguments("psql -c 'select 1'")[:2] == ("psql", "-X")
    assert "-readonly" in arguments("sqlite3 /tmp/x.db 'select 1'")
    assert "--no-ext-diff" in arguments("git -C /srv/app log -p")
    assert arguments("curl localhost:80/health")[:2] == ("curl", "-q")
    assert arguments("/usr/bin/ls -l") == ("ls", "-l")


def test_the_shell_s_own_words_run_as_programs():
    scripts = [prove(command).script for command in ("[[ -r /etc/hosts ]]", "time ls", "type ls")]

    assert [script.commands[0].argv for script in scripts if isinstance(script, Pipeline)] == [
        ("test", "-r", "/etc/hosts"),
        ("ls",),
        ("which", "ls"),
    ]


@pytest.mark.parametrize(
    ("command", "intent"),
    [
        ("ls -la", Intent.READ_ONLY_CERTAIN),
        ("psql -c 'select 1'", Intent.READ_ONLY_CONDITIONAL),
        ("ls; find /tmp -empty", Intent.READ_ONLY_CONDITIONAL),
        ("rm x", Intent.WRITE_OR_UNKNOWN),
    ],
)
def test_the_intent_says_whether_arguments_had_to_be_understood(command: str, intent: Intent):
    assert prove(command).intent is intent


@pytest.mark.parametrize(
    ("command", "category"),
    [
        ("docker exec -it web sh", Category.TTY_FLAG),
        ("kubectl exec -ti web -- sh", Category.TTY_FLAG),
        ("less /var/log/syslog", Category.PAGER),
        ("vim /etc/hosts", Category.PAGER),
        ("htop", Category.UNBOUNDED_STREAM),
        ("tail -f /var/log/syslog", Category.UNBOUNDED_STREAM),
        ("mysql -u root", Category.INTERACTIVE_REPL),
        ("redis-cli -h cache", Category.INTERACTIVE_REPL),
        ("ssh db-1", Category.INTERACTIVE_REPL),
        ("openssl s_client -connect h:443", Category.INTERACTIVE_REPL),
        ("ls -f /tmp", None),
        ("cut -f 1 /etc/passwd", None),
        ("ssh db-1 ls", None),
    ],
)
def test_the_category_says_in_which_way_a_command_would_not_end(
    command: str, category: Category | None
):
    assert prove(command).category is category


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("df -h", Risk.READ_ONLY),
        ("cp /a /b", Risk.MEDIUM_WRITE),
        ("sed -i s/a/b/ /x", Risk.MEDIUM_WRITE),
        ("curl -X POST http://api", Risk.MEDIUM_WRITE),
        ("rm -rf /var", Risk.HIGH_WRITE),
        ("sudo reboot", Risk.HIGH_WRITE),
        ("service nginx restart", Risk.HIGH_WRITE),
        ("echo a > /tmp/x", Risk.HIGH_WRITE),
        ("rmx 2>/dev/null", Risk.MEDIUM_WRITE),
    ],
)
def test_the_risk_tells_people_how_much_could_break(command: str, risk: Risk):
    assert prove(command).risk is risk


def test_reads_that_name_another_machine_say_so():
    assert prove("ping -c 1 db-1").reaches_out
    assert prove("redis-cli -h cache PING").reaches_out
    assert not prove("redis-cli PING").reaches_out
    assert not prove("kafka-topics.sh --bootstrap-server localhost:9092 --list").reaches_out
    assert prove("kafka-topics.sh --bootstrap-server localhost:9092x --list").reaches_out
    assert prove("kafka-topics.sh --bootstrap-server kafka-1:9092 --list").reaches_out
    for command in REACHING:
        assert prove(command).reaches_out, command
    for command in STAYING:
        proof = prove(command)
        assert proof.is_read, proof.reason
        assert not proof.reaches_out, command
    assert not prove("ls | wc -l").reaches_out


def test_every_row_of_the_tables_can_be_used():
    def visit(entry: Policy | Group | Wrapper) -> int:
        match entry:
            case Group():
                bare = 1 if entry.bare else 0
                return bare + sum(visit(inner) for inner in entry.commands.values())
            case Policy():
                known = {*entry.grammar.options, "-#"}
                assert entry.needs <= known or not entry.needs.isdisjoint(known)
                assert entry.words[0] <= entry.words[1]
        return 1

    assert sum(map(visit, all_programs().values())) > 300
