import pytest

from safety.commands import prove_or_rewrite, suggest_rewrite


@pytest.mark.parametrize(
    ("command", "rewritten"),
    [
        ("tail -f file", "tail -n 200 file"),
        ("tail -n 5 -f file", "tail -n 5 file"),
        ("tail -f /var/log/a | grep -i 'b c'", "tail -n 200 /var/log/a | grep -i 'b c'"),
        ("journalctl -f", "journalctl -n 200 --since '10 min ago'"),
        ("journalctl -fu nginx", "journalctl -n 200 --since '10 min ago' -u nginx"),
        ("docker logs --follow x", "docker logs --tail=200 x"),
        ("docker stats", "docker stats --no-stream"),
        ("kubectl logs -f x", "kubectl logs --tail=200 --since=10m x"),
        ("kubectl logs -f --tail=10 x", "kubectl logs --tail=10 x"),
        ("kubectl get pods -w", "kubectl get pods"),
        ("dmesg -w", "dmesg | tail -200"),
        ("less /var/log/syslog", "cat /var/log/syslog | head -200"),
        ("nano '/etc/my hosts'", "cat '/etc/my hosts'"),
        ("top", "ps aux --sort=-%cpu | head -20"),
        ("htop", "ps aux --sort=-%cpu | head -20"),
        ("iotop", "iotop -b -n 1"),
        ("iftop", "ss -s"),
        ("watch -n 1 'df -h | tail -3'", "df -h | tail -3"),
        ("vmstat 1", "vmstat 1 3"),
        ("ping db-1", "ping db-1 -c 4"),
        ("docker events", "docker events --since=10m --until=0s"),
    ],
)
def test_what_does_not_end_is_rewritten_once_and_the_rewrite_may_run(command: str, rewritten: str):
    recovery = prove_or_rewrite(command)

    assert recovery.rewrite is not None
    assert recovery.rewrite.command == rewritten
    assert recovery.to_run is recovery.rewritten
    assert recovery.to_run is not None


@pytest.mark.parametrize(
    "command",
    [
        "watch rm x",
        "watch tail -f /tmp/x",
        "less /etc/shadow",
        "vim ~/.ssh/id_rsa",
        "docker exec -it web ls",
        "kubectl exec -it web -- ls",
    ],
)
def test_a_rewrite_that_is_not_proven_itself_does_not_run(command: str):
    assert prove_or_rewrite(command).to_run is None


@pytest.mark.parametrize("command", ["mysql", "psql -d shop", "redis-cli", "sqlite3 /tmp/x.db"])
def test_a_missing_statement_is_only_hinted_at(command: str):
    recovery = prove_or_rewrite(command)

    assert recovery.rewrite is not None
    assert not recovery.rewrite.is_automatic
    assert recovery.rewritten is None


def test_writes_are_not_rewritten():
    recovery = prove_or_rewrite("rm -rf /tmp/x")

    assert (recovery.rewrite, recovery.to_run) == (None, None)


def test_terminal_flags_are_named_even_where_the_rest_needs_approval():
    rewrite = suggest_rewrite("docker exec -i -t web ls")

    assert rewrite is not None
    assert rewrite.command == "docker exec web ls"
