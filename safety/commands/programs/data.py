"""Databases, queues and their clients: questions only."""

import re

from safety.commands.durations import every, waits
from safety.commands.grammar import Parsed
from safety.commands.languages.mongo import check_mongo
from safety.commands.languages.redis import ENDLESS_COMMANDS, check_redis
from safety.commands.languages.sql import check_mysql, check_psql, check_sqlite
from safety.commands.policy import Group, Table, reads, with_names
from safety.commands.refusal import Category, Refused
from safety.word_lists import word_set

_NAME = r"[\w.-]+"
# Between these the masker finds the columns of a table.
_COLUMN_MARKS = ("|", ",", "\t", r"\t")
_HOST = "/[\\w.:\\/-]+/"


def _redis_is_endless(parsed: Parsed) -> bool:
    return parsed.has("--stat", "--latency", "--latency-history") or (
        bool(parsed.words) and parsed.words[0].upper() in ENDLESS_COMMANDS
    )


def _has_names(parsed: Parsed, *left_out_by: str) -> bool:
    """Whether columns are printed below their names, and so that both can be told apart."""
    marks = parsed.values("-F", "-separator", "--field-separator")
    return not parsed.has(*left_out_by) and all(mark in _COLUMN_MARKS for mark in marks)


def _check_psql(parsed: Parsed) -> None:
    has_names = _has_names(parsed, "-t", "--tuples-only", "--html", "-R")
    for statement in parsed.values("-c", "--command"):
        check_psql(statement, has_names=has_names)


def _check_mysql(parsed: Parsed) -> None:
    has_names = _has_names(parsed, "-N", "--skip-column-names")
    database = (*parsed.values("-D", "--database"), *parsed.words)
    for statement in parsed.values("-e", "--execute"):
        is_system = "mysql" in map(str.lower, database)
        check_mysql(statement, has_names=has_names, is_system=is_system)


def _check_mongo(parsed: Parsed) -> None:
    for text in parsed.values("--eval"):
        check_mongo(text)


def _check_sqlite(parsed: Parsed) -> None:
    if len(parsed.words) < 2:
        raise Refused("without a statement it waits for input", Category.INTERACTIVE_REPL)
    if parsed.words[0].startswith("file:"):
        raise Refused("the database is named by a URI with options")
    if "/" in parsed.words[0].lstrip("/") and not parsed.words[0].startswith("/"):
        raise Refused("the database is not named by its whole path")
    has_names = _has_names(parsed, "-noheader", "-html", "-box")
    for statement in parsed.words[1:]:
        check_sqlite(statement, has_names=has_names)


def _check_kafka(parsed: Parsed) -> None:
    if not parsed.has("--list", "--describe"):
        raise Refused("it is a read only with --list or --describe")


def _check_etcd_get(parsed: Parsed) -> None:
    if parsed.has("--keys-only", "--count-only") and not any(
        re.fullmatch(r"(?i)f.*|0", value) for value in parsed.values("--keys-only", "--count-only")
    ):
        return
    raise Refused("the values can be secrets; give --keys-only")


_ETCD = """
    --endpoints=/[\\w.:\\/,\\[\\]-]+/ --cacert=@ --cert= --key= --write-out=/\\w+/ -w=/\\w+/
    --command-timeout=
    --dial-timeout= --cluster=? --insecure-skip-tls-verify=? --hex=?
"""
_RABBIT = (
    "-p= -n= -q -s -t= --vhost= --node= --quiet --silent --formatter=/\\w+/ --timeout= "
    "--longnames -l"
)

DATA: Table = {
    "psql": reads(
        f"""-[AtxqwX1eEln] -c=- -U=/[\\w.-]+/ -h={_HOST} -p=/\\d+/ -d=/[\\w.-]+/ -F= -R= --command=-
        --username=/[\\w.-]+/ --host={_HOST} --port=/\\d+/ --dbname=/[\\w.-]+/ --no-align
        --tuples-only
        --expanded --quiet --no-password --no-psqlrc --csv --html --list --version
        --field-separator=""",
        word=_NAME,
        words=(0, 2),
        needs="-c --command -l --list --version",
        is_conditional=True,
        reaches_out_with="-h --host",
        check=_check_psql,
        hardening=("-X",),
    ),
    **with_names(
        "mysql mariadb",
        reads(
            f"""-[NBstEr] -e=- -u=/[\\w.@-]+/ -h={_HOST} -P=/\\d+/ -D=/[\\w-]+/ -p=? -S= --execute=-
            --user=/[\\w.@-]+/ --host={_HOST} --port=/\\d+/ --database=/[\\w-]+/ --password=?
            --table
            --vertical --batch --silent --skip-column-names --raw --version --protocol=/\\w+/
            --ssl-mode=/\\w+/ --connect-timeout=/\\d+/ --default-character-set=/\\w+/""",
            word=_NAME,
            words=(0, 1),
            needs="-e --execute --version",
            is_conditional=True,
            reaches_out_with="-h --host",
            check=_check_mysql,
            hardening=("--init-command=SET SESSION TRANSACTION READ ONLY",),
        ),
    ),
    "sqlite3": reads(
        """-readonly -header -noheader -csv -json -column -line -list -table -box -markdown -html
        -bail
        -batch -separator= -nullvalue=""",
        clusters=False,
        dashes=False,
        mixes=False,
        words=(0, 5),
        is_conditional=True,
        check=_check_sqlite,
        contents=lambda parsed: parsed.words[:1],
        hardening=("-readonly", "-init", "/dev/null", "-header"),
    ),
    **with_names(
        "mongosh mongo",
        reads(
            f"""--eval=- --quiet --norc --host={_HOST} --port=/\\d+/ --json=? --username=/[\\w.-]+/
            -u=/[\\w.-]+/ -p= --password= --authenticationDatabase=/\\w+/ --tls --ssl""",
            clusters=False,
            dashes=False,
            words=(0, 1),
            word=r"\w+",
            needs="--eval",
            is_conditional=True,
            reaches_out_with="--host",
            check=_check_mongo,
            hardening=("--norc",),
        ),
    ),
    "redis-cli": reads(
        f"""-h={_HOST} -p=/\\d+/ -n=/\\d+/ -a= -s= -r=/\\d+/ -i=/[\\d.]+/ -2 -3 -c -e --user=
        --pass=
        --no-auth-warning --raw --no-raw --csv --json --tls --cacert=@ --insecure --scan --pattern=
        --count=/\\d+/ --bigkeys --memkeys --hotkeys --stat --latency --latency-history
        --version""",
        clusters=False,
        stops=True,
        dashes=False,
        is_endless=_redis_is_endless,
        lasts=every("-i", "-r", default=0.001),
        reaches_out_with="-h",
        check=check_redis,
        # Names and values of fields are numbered, which keeps them together.
        hardening=("--no-raw",),
    ),
    "mysqladmin": reads(
        f"-u=/[\\w.-]+/ -h={_HOST} -P=/\\d+/ -p=? --user=/[\\w.-]+/ --host={_HOST} --password=?",
        words=(1, 5),
        word="status|extended-status|processlist|ping|variables|version",
        reaches_out_with="-h --host",
    ),
    "pg_isready": reads(
        f"-q -d={_HOST} -h={_HOST} -p=/\\d+/ -t=/\\d+/ -U=/[\\w.-]+/ --host={_HOST} --port=/\\d+/",
        words=(0, 0),
        reaches_out_with="-h --host -d",
        lasts=waits("-t"),
    ),
    "pg_lsclusters": reads("-[hj]", words=(0, 0)),
    "pg_controldata": reads("-D=", words=(0, 1)),
    "etcdctl": Group(
        {
            "get": reads(
                "--prefix=? --keys-only=? --count-only=? --limit=/\\d+/ --from-key=? "
                "--sort-by= --order= --rev=",
                words=(1, 2),
                needs="--keys-only --count-only",
                check=_check_etcd_get,
                reaches_out_with="--endpoints",
            ),
            "watch": reads(
                "--prefix=? --rev= --prev-kv=?",
                words=(1, 2),
                dashes=False,
                mixes=True,
                is_endless=lambda parsed: True,
                reaches_out_with="--endpoints",
            ),
            "endpoint": Group(
                {
                    name: reads(words=(0, 0), reaches_out_with="--endpoints")
                    for name in ("health", "status", "hashkv")
                },
                _ETCD,
            ),
            "member": Group({"list": reads(words=(0, 0), reaches_out_with="--endpoints")}, _ETCD),
            "alarm": Group({"list": reads(words=(0, 0), reaches_out_with="--endpoints")}, _ETCD),
            "user": Group({"list": reads(words=(0, 0), reaches_out_with="--endpoints")}, _ETCD),
            "role": Group({"list": reads(words=(0, 0), reaches_out_with="--endpoints")}, _ETCD),
            "lease": Group({"list": reads(words=(0, 0), reaches_out_with="--endpoints")}, _ETCD),
            "version": reads(words=(0, 0), reaches_out_with="--endpoints"),
        },
        _ETCD,
        equals=True,
    ),
    "rabbitmqadmin": Group(
        {
            # Users are listed with the hashes of their passwords.
            "list": Group(
                dict.fromkeys(
                    word_set(
                        "queues exchanges bindings connections channels consumers nodes vhosts"
                    ),
                    reads(words=(0, 8), word=r"[a-z_.]+", dashes=False),
                )
            ),
            "show": reads(words=(1, 1), word="overview", dashes=False),
        },
        "-V=/[\\w.\\/-]+/ --vhost=/[\\w.\\/-]+/ -f=/\\w+/ --format=/\\w+/",
    ),
    "rabbitmqctl": Group(
        {
            name: reads("--local --online --offline", word=r"[\w.-]+", reaches_out_with="-n --node")
            for name in (
                "status",
                "list_queues",
                "list_exchanges",
                "list_bindings",
                "list_connections",
                "list_channels",
                "list_consumers",
                "list_users",
                "list_vhosts",
                "list_permissions",
                "list_policies",
                "list_unresponsive_queues",
                "cluster_status",
                "node_health_check",
                "ping",
                "version",
                "list_feature_flags",
            )
        },
        _RABBIT,
    ),
    **with_names(
        "rabbitmq-diagnostics rabbitmq-queues",
        Group(
            {
                name: reads(word=r"[\w.-]+", reaches_out_with="-n --node")
                for name in (
                    "status",
                    "ping",
                    "alarms",
                    "check_running",
                    "check_local_alarms",
                    "check_port_connectivity",
                    "check_virtual_hosts",
                    "check_alarms",
                    "listeners",
                    "memory_breakdown",
                    "cluster_status",
                    "server_version",
                    "erlang_version",
                    "runtime_thread_stats",
                    "quorum_status",
                    "check_if_node_is_quorum_critical",
                    "list_queues",
                    "log_location",
                )
            },
            _RABBIT,
        ),
    ),
    **with_names(
        "kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh",
        reads(
            """--bootstrap-server=/[\\w.:,-]+/ --list --describe --topic=/[\\w.-]+/
            --group=/[\\w.-]+/
        --all-groups --all-topics --members --offsets --state --verbose
        --under-replicated-partitions
        --unavailable-partitions --exclude-internal --version""",
            clusters=False,
            words=(0, 0),
            reaches_out_with="--bootstrap-server",
            check=_check_kafka,
        ),
    ),
    **with_names(
        "kafka-broker-api-versions kafka-broker-api-versions.sh",
        reads(
            "--bootstrap-server=/[\\w.:,-]+/ --version",
            clusters=False,
            words=(0, 0),
            reaches_out_with="--bootstrap-server",
        ),
    ),
    "consul": Group(
        {
            "kv": Group(
                {
                    "get": reads(
                        "-keys -separator=",
                        clusters=False,
                        words=(0, 1),
                        word=r"[\w./-]+",
                        needs="-keys",
                    )
                }
            ),
            "members": reads("-wan -detailed -status=", clusters=False, words=(0, 0)),
            "catalog": Group(
                {
                    name: reads("-service= -node= -tags -detailed", clusters=False, words=(0, 0))
                    for name in ("services", "nodes", "datacenters")
                }
            ),
            "info": reads(words=(0, 0)),
            "version": reads(words=(0, 0)),
            "operator": Group({"raft": Group({"list-peers": reads(words=(0, 0))})}),
        }
    ),
    "vault": Group(
        {
            "status": reads("-format=/\\w+/", clusters=False, words=(0, 0)),
            "version": reads(words=(0, 0)),
            "operator": Group({"raft": Group({"list-peers": reads(words=(0, 0))})}),
        }
    ),
    "nomad": Group(
        {
            name: reads(
                "-verbose -short -json -stats -allocs",
                clusters=False,
                words=(0, 1),
                word=r"[\w.-]+",
            )
            for name in ("status", "version")
        }
        | {
            part: Group(
                {
                    "status": reads(
                        "-verbose -short -json -stats -allocs",
                        clusters=False,
                        words=(0, 1),
                        word=r"[\w.-]+",
                    )
                }
            )
            for part in ("node", "job", "alloc", "deployment")
        }
    ),
}
