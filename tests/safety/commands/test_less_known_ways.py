"""Ways of harmless programs to write, run, connect or tell secrets that few people know, and the
reads next to them that stay reads."""

import pytest

from safety.commands import Category, prove
from safety.commands.script import Pipeline
from tests.safety.commands.samples import lines
from tests.safety.commands.ways_of_clients import WAYS_OF_CLIENTS
from tests.safety.commands.ways_of_content import WAYS_OF_CONTENT
from tests.safety.commands.ways_to_files import WAYS_TO_FILES_AND_TERMINALS

# Kind: what is refused, and what of the same programs is not.
WAYS: dict[str, tuple[str, str]] = {
    "of two modes the last one holds": (
        """
        xz -t -d /tmp/x.xz
        xz --test --decompress /tmp/x.xz
        bzip2 -td /tmp/x.bz2
        zstd -l --decompress /tmp/x.zst
        gzip -tf -d /tmp/x.gz
        """,
        """
        xz -l /tmp/x.xz
        zstd -t /tmp/x.zst
        gzip -cd /tmp/x.gz
        xz -dc /tmp/x.xz
        """,
    ),
    "readers disagree where brackets end": (
        """
        sed 's,[],],;y,w /tmp/x,abcdefgh,' f
        sed 's/[^]/]/;y/w o/abc/' f
        sed 's/[[.].]/]/;y/w o/abc/' f
        sed -n '/[^]/p;s,]/w x,a,' f
        awk '/[]/ ~ "]/{print > $1}#"' f
        awk '/[[:alpha:]/ ~ "]/{print > $1}#"' f
        """,
        r"""
        sed 's/[^0-9]//g' f
        sed -E 's/[[:space:]]+/ /g' f
        sed -n '/\[mysqld\]/,/^\[/p' f
        sed 's/[.\t]x//' f
        awk '/[[:digit:]]+ms/ {n++} END {print n}' f
        awk -F'[][]' '{print $2}' f
        """,
    ),
    "arguments are read from a file or a pipe": (
        """
        strings @/tmp/x
        sort --files0-from=/tmp/list
        jq -nf /tmp/program
        echo '--files0-from=/etc/shadow' | xargs wc
        echo '--files0-from=/etc/shadow' | xargs du
        find /var/log -name x | xargs -d/ cat
        """,
        """
        strings -n 8 /usr/bin/ls
        find /var/log -name '*.log' | xargs wc -l
        find /var/log -name '*.log' -print0 | xargs -0 du -ch
        """,
    ),
    "directories are compared or searched as a whole": (
        """
        diff -N /etc /tmp
        diff /root /tmp/empty
        git diff /etc /tmp
        git diff root tmp
        git diff etc/shadow dev/null
        git -C /tmp diff ../root ../tmp
        grep -r . /proc/1
        grep -R . /proc/self/task
        rg token /root/.config
        grep -r x /var/lib/docker/containers
        """,
        """
        diff -r /etc/nginx/sites-available /etc/nginx/sites-enabled
        diff -u /etc/hosts /etc/hosts.bak
        git diff main feature
        git -C /srv/app diff HEAD -- src/app.py
        grep -rn x /etc/nginx
        """,
    ),
    "options in front of a sub-command": (
        """
        git -C /root/.ssh log
        git -C root/.ssh log
        git -Croot/.ssh log
        etcdctl --cacert=root/.ssh/x member list
        docker compose -f /root/.kube/x.yml ps
        docker compose -f oci://example.com/x ps
        docker compose -f https://example.com/x.git ps
        """,
        """
        git -C /srv/app log -n 5
        docker compose -f /srv/app/compose.yaml ps
        """,
    ),
    "environments of processes": (
        """
        ps -e -u ax
        ps -eg x
        ps -eo args -O p
        docker top api auxe
        docker top api -e -u ax
        docker top api -o pid,environ
        jq -n env
        jq -n '$ENV.PATH'
        jq -n '"\\(env)"'
        """,
        """
        ps -ef --forest
        ps -eo pid,args --sort=-pcpu
        ps -fu www-data
        docker top api aux
        docker top api -eo pid,comm
        jq '.spec.containers[].env' /tmp/x.json
        jq '{env: .environment}' /tmp/x.json
        """,
    ),
    "logs that show the answer": (
        """
        kubectl get secret x -o name -v=8
        kubectl -v 9 get secret x
        kubectl get --raw /apis/metrics.k8s.io/../../api/v1/secrets
        """,
        """
        kubectl get pods -v=6
        kubectl get --raw /apis/metrics.k8s.io/v1beta1/nodes
        """,
    ),
    "a file name that is an address": (
        """
        openssl x509 -noout -text -in http://example.com/x
        openssl crl -noout -in http://example.com/x
        openssl verify http://example.com/x
        awk 1 /inet/tcp/0/example.com/80
        tcpdump -c 1 -i rpcap://example.com/eth0
        """,
        """
        openssl x509 -noout -dates -in /etc/nginx/ssl/site.crt
        openssl verify -CAfile /etc/ssl/certs/ca.pem /etc/nginx/ssl/site.crt
        tcpdump -c 1 -i eth0.100
        """,
    ),
    "a request that is an order or asks for credentials": (
        """
        curl 'http://[fd00:ec2::254]/latest/meta-data/'
        curl http://instance-data/latest/
        curl http://localhost:8080/jolokia/exec/x/y
        curl 'http://localhost:8080/manager/text/stop?path=/x'
        curl 'http://localhost/admin/cores?action=UNLOAD'
        curl 'http://localhost/%73hutdown'
        curl -H 'X-HTTP-Method-Override: DELETE' http://localhost/x
        curl http://localhost:8080/actuator/heapdump
        curl http://localhost:8001/api/v1/secrets
        """,
        """
        curl -s http://localhost:9200/_cluster/health?pretty
        curl -s 'http://localhost:9090/api/v1/query?query=up'
        curl -s -H 'Accept: application/json' http://localhost:8080/status
        curl -s http://localhost:8080/actuator/metrics/jvm.memory.used
        """,
    ),
    "questions that are told by what is meant": (
        r"""
        psql -c 'select public.now()'
        psql -c 'select evil.count(1) from x'
        psql -c 'select subconninfo from pg_subscription'
        mysql -D mysql -e 'select * from user'
        mysql mysql -e 'select * from global_priv'
        mysql -e 'show create user root'
        sqlite3 root/.mozilla/x.sqlite 'select 1'
        redis-cli CONFIG GET 'require\pass'
        redis-cli CONFIG GET 'requirepas[^x]'
        az webapp config appsettings list -n x
        aws ec2 describe-instance-attribute --attribute userData --instance-id i-1
        yq 'strload("x")' f
        """,
        """
        psql -c "select pg_catalog.pg_size_pretty(pg_catalog.pg_database_size('app'))"
        psql -c 'select count(*) from public.orders'
        mysql app -e 'select count(*) from users'
        mysql -e 'show create table app.orders'
        redis-cli CONFIG GET 'max*'
        """,
    ),
    "programs that a repository names": (
        """
        git log --pretty=%GK
        git show --format='%h %GS'
        git stash list --format=%GK
        git for-each-ref --format='%(signature)'
        git branch --list --format='%(signature:grade)'
        """,
        """
        git log --format='%h %an' -n 5
        git stash show -p
        git reflog -n 5
        git blame -L 1,5 app.py
        """,
    ),
    "what steers a terminal": (
        r"""
        printf '\033[2J'
        printf '%b' '\e[1m'
        printf -v x y
        echo -ne '\033c'
        echo -e '\0033c'
        echo -e '\0433c'
        echo -e '\x9b2J'
        printf '\433[2J'
        printf '\0100'
        echo -e "\e]0;t\a"
        """,
        r"""
        printf '%s\t%s\n' a b
        echo -e 'a\tb\nc'
        printf '\101\x42\u00e9\n'
        echo '\e'
        """,
    ),
    "small things": (
        """
        lspci -q
        inxi -i
        getent -s ../x passwd
        ping -i 0 -c 100000 10.0.0.1
        rabbitmqctl list_queues --formatter=../x
        """,
        """
        lspci -nnk
        getent -s files passwd root
        ping -i 0.5 -c 3 10.0.0.1
        pvesh get /cluster/resources --type vm
        """,
    ),
    **WAYS_TO_FILES_AND_TERMINALS,
    **WAYS_OF_CLIENTS,
    **WAYS_OF_CONTENT,
}


@pytest.mark.parametrize("kind", WAYS)
def test_the_less_known_way_is_refused(kind: str):
    refused, _ = WAYS[kind]

    assert [command for command in lines(refused) if prove(command).is_read] == []


@pytest.mark.parametrize("kind", WAYS)
def test_the_read_next_to_it_stays_a_read(kind: str):
    _, accepted = WAYS[kind]
    proofs = [prove(command) for command in lines(accepted)]

    assert [(proof.command, proof.reason) for proof in proofs if not proof.is_read] == []


@pytest.mark.parametrize(
    "command",
    [
        "kubectl rollout status deploy/api --timeout=0s",
        "zpool status tank 5",
        "inotifywait -t 0 /var/log",
        "awk 'BEGIN{while(1) print 1}'",
        "awk 'BEGIN{for(;;) print 1}'",
        "sed ':a;s/^/x/;ta' /tmp/x",
        "sed ':a;ba' /tmp/x",
        "jq -n 'repeat(1)'",
        "jq -n '[range(infinite)]'",
        "jq -n 'def f: f; f'",
        "shuf -r /tmp/x",
        "docker events --until 2099-01-01",
    ],
)
def test_what_has_no_limit_of_its_own_does_not_end(command: str):
    proof = prove(command)

    assert (proof.is_read, proof.bounded) == (True, False)


@pytest.mark.parametrize(
    "command",
    [
        "awk '{for(i=1;i<=NF;i++) s+=$i} END {print s}' /tmp/x",
        "awk '{while (n<3) n++; print n}' /tmp/x",
        r"sed ':a;N;$!ba;s/\n/ /g' /tmp/x",
        "jq 'def pct(a;b): a*100/b; pct(.used;.total)' /tmp/x",
        "shuf -r -n 3 /tmp/x",
        "docker events --since 10m --until 0s",
    ],
)
def test_a_loop_with_a_limit_ends(command: str):
    assert prove(command).bounded


def test_mongodb_without_a_question_waits_for_one():
    assert prove("mongosh shop").category is Category.INTERACTIVE_REPL


def test_a_loop_without_a_condition_is_a_read_that_does_not_end():
    proof = prove("while :; do uptime; sleep 5; done")

    assert (proof.is_read, proof.bounded) == (True, False)


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("blkid", ("blkid", "-c", "/dev/null")),
        (
            "wget -qO- http://localhost/",
            ("wget", "--no-config", "--no-hsts", "--max-redirect=0", "-qO-", "http://localhost/"),
        ),
        (
            "mongosh --eval 'rs.status()'",
            ("mongosh", "--norc", "--eval", "rs.status()"),
        ),
    ],
)
def test_what_would_leave_something_or_read_settings_is_told_not_to(
    command: str, argv: tuple[str, ...]
):
    script = prove(command).script

    assert isinstance(script, Pipeline)
    assert script.commands[0].argv == argv


def test_another_etcd_is_another_machine():
    assert prove("etcdctl --endpoints=http://etcd-9:2379 endpoint health").reaches_out
    assert prove("etcdctl member list --endpoints etcd-9:2379").reaches_out
    assert not prove("etcdctl endpoint health").reaches_out


@pytest.mark.parametrize(
    ("command", "whole"),
    [
        (
            "aws lambda list-functions --query 'Functions[].Environment' --output text",
            ("aws", "lambda", "list-functions", "--output", "json"),
        ),
        (
            "az webapp show -g a -n b --query=siteConfig.adminPassword -o tsv",
            ("az", "webapp", "show", "-g", "a", "-n", "b", "--output", "json"),
        ),
        (
            "gcloud compute instances list '--format=value(name)'",
            ("gcloud", "compute", "instances", "list", "--format=json"),
        ),
        (
            "gh pr list --json title -q '.[].title'",
            ("gh", "pr", "list", "--json=title"),
        ),
        (
            "git -C /srv/app grep -n -A1 --cached name v1 -- src",
            tuple(
                [
                    "git",
                    "-C",
                    "/srv/app",
                    "grep",
                    "--no-textconv",
                    "-h",
                    "-C",
                    "1000000",
                    "--cached",
                    "-e",
                    "name",
                    "v1",
                    "--",
                    "src",
                ]
            ),
        ),
        ("git -C /srv -C app blame -L 3,3 x.yaml", ("cat", "--", "/srv/app/x.yaml")),
        ("docker compose ls --format json", ()),
        ("git grep -c name", ()),
        ("git show --stat", ()),
        ("git cat-file -p HEAD:x.yaml", ()),
    ],
)
def test_what_is_chosen_is_held_against_the_whole(command: str, whole: tuple[str, ...]):
    script = prove(command).script

    assert isinstance(script, Pipeline)
    assert script.commands[0].whole == whole
