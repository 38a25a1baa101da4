"""The command proof: microseconds for one command, on ordinary and on hostile text."""

import time

from benchmarks.figures import Report
from benchmarks.lab import Lab
from safety.commands import prove

ORDINARY = (
    "df -h",
    "ps aux --sort=-%mem | head -n 20",
    "journalctl -u nginx --since '1 hour ago' -n 200 --no-pager",
    "grep -rn 'connection refused' /var/log/nginx 2>/dev/null | tail -50",
    "kubectl -n shop get pods -o wide",
    "docker logs --tail 100 api 2>&1 | grep -i exception",
    "find /var/log -name '*.log' -mtime -1 -print0 | xargs -0 ls -l",
    "awk -F: '$3 >= 1000 {print $1}' /etc/passwd",
    "psql -d shop -c \"SELECT count(*) FROM orders WHERE state = 'open'\"",
    "if [ -f /etc/hosts ]; then wc -l /etc/hosts; fi",
    "systemctl restart nginx",
    "curl -X POST http://localhost/x",
    "rm -rf /var/lib/app",
)
HOSTILE = {
    "open parentheses": "(" * 4000,
    "quotes": "'\"" * 2000,
    "many words": "ls " + "a " * 2000,
    "many paths": "cat " + "/a/b " * 800,
    "pipes": "cat" + "|cat" * 1000,
    "chained": "ls" + "&&ls" * 1000,
    "dollar signs": 'echo "' + "$" * 4000,
    "SQL": 'psql -c "select ' + "1," * 1900 + '1"',
    "awk": "awk '{print " + "$1/2," * 700 + "1}'",
    "sed": "sed '" + "s/a/b/;" * 550 + "'",
}


def measure(lab: Lab) -> Report:
    rounds = lab.choose(200, 20)
    for command in ORDINARY:
        prove(command)  # The grammar and the option tables are read at first use.
    rows: list[list[str | float]] = []
    took = sorted(_microseconds(command) for _ in range(rounds) for command in ORDINARY)
    figures: dict[str, float | int | None] = {
        "ordinary_mean_us": round(sum(took) / len(took), 1),
        "ordinary_p99_us": round(took[int(len(took) * 0.99)], 1),
    }
    rows.append(["ordinary, mean, µs", figures["ordinary_mean_us"] or 0.0])
    rows.append(["ordinary, p99, µs", figures["ordinary_p99_us"] or 0.0])
    for name, command in HOSTILE.items():
        worst = min(_microseconds(command[:4096]) for _ in range(lab.choose(5, 2)))
        rows.append([f"4 KiB of {name}, µs", worst])
        figures[f"hostile_{name.replace(' ', '_')}_us"] = round(worst, 1)
    notes = ("CPU time of one core. The goal is 1,000 µs for an ordinary command.",)
    return Report(("command", "measured"), rows, figures, notes)


def _microseconds(command: str) -> float:
    began = time.process_time()
    prove(command)
    return (time.process_time() - began) * 1_000_000
