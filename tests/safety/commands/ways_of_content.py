"""Ways to print parts of what files, rows and objects hold, where no screen looks at them first."""

# Kind: what is refused, and what of the same programs is not.
WAYS_OF_CONTENT: dict[str, tuple[str, str]] = {
    "git prints parts of lines": (
        r"""
        git grep -oh 'H.*'
        git grep -h -o '[A-Z][a-z0-9]*'
        git grep --only-matching -E '.{4}'
        git grep -no 'x.' HEAD~3
        git grep -c -o x
        git grep -z -o 'word.*'
        git -C /srv/app grep -hoP '(?<=password=).*'
        git blame --porcelain app.yaml
        git blame -p app.yaml
        git blame --line-porcelain HEAD app.yaml
        git diff --word-diff
        git diff --word-diff=porcelain HEAD~1
        git show --word-diff=plain
        git log -p --word-diff=color -n 3
        git stash show -p --word-diff
        git diff-tree -p --word-diff HEAD
        git whatchanged --word-diff
        git reflog -p --word-diff
        git diff --color-words
        git show --color-words=. HEAD
        git log -p --word-diff-regex=. -n 1
        """,
        """
        git grep -n timeout
        git grep -nw max_connections HEAD -- src/app.py
        git grep -c TODO
        git grep -l deprecated
        git grep -i -A3 -B1 retry
        git grep -h pool_size v1.2
        git blame app.py
        git blame -L 10,20 app.py
        git blame -w -M HEAD~2 src/app.py
        git diff
        git diff HEAD~1 --stat
        git diff -U0 main feature
        git diff -w --minimal HEAD~3 -- src/app.py
        git log -p -n 2
        git log -p -S max_connections
        git log -G timeout --oneline
        git log -L 10,20:src/app.py
        git show HEAD
        git show HEAD:README.md
        git show v1.2 --stat
        git stash show -p
        git whatchanged -n 2
        """,
    ),
    "git prints parts of messages": (
        r"""
        git log --format='%<(8,trunc)%s'
        git log --pretty='format:%<(12,ltrunc)%b'
        git log --format='%>(9,trunc)%B'
        git show --format='%><(5,mtrunc)%s' HEAD
        git log --format='%w(4,0,0)%B'
        git log --format=%f
        git log --format='%x41%s'
        git log --format='%<|(12,trunc)%s'
        git for-each-ref --format='%(subject:sanitize)'
        git for-each-ref --format='%(contents:subject)%(raw)'
        git branch --list --format='%(contents:lines=1)%(trailers:key=Token,valueonly)'
        git tag -l --format='%(trailers:key=Password,valueonly)'
        git log --format='%(trailers:key=Password,valueonly)'
        git stash list --format='%<(6,trunc)%gs'
        git config --get smtp.password
        git config github.token
        git config --get-all http.secret
        """,
        """
        git log --format='%h %an %ad %s'
        git log --format='%h%x09%an%x09%s'
        git log --pretty=format:'%H|%ci|%s' -n 10
        git log --format=%B -n 1
        git log --format='%<(20)%an %s'
        git log --pretty=fuller
        git log --format='%(trailers)'
        git show -s --format='%ci %cn' HEAD
        git for-each-ref --sort=-committerdate --format='%(refname:short) %(committerdate:iso)'
        git branch --list --format='%(refname:short) %(upstream:track)'
        git config --get user.email
        git config --get core.autocrlf
        git config --list
        git config --get-regexp 'remote.*'
        """,
    ),
    "a path stays a path behind a revision": (
        """
        git show HEAD:.env
        git show :.env
        git show :0:config/.env.production
        git show HEAD~2:./secrets/db.txt
        git show main@{1}:app/id_ed25519
        git show v1.0^{}:deploy/terraform.tfstate
        git show 'HEAD:config/credentials'
        git cat-file -p HEAD:.env
        git cat-file -p :config/master.key
        git cat-file -p HEAD:secrets/db
        git cat-file -p 3f2a9c1
        git cat-file -p 3f2a9c1d0b7e4f5a6c8d9e0f1a2b3c4d5e6f7a8b
        git diff HEAD:.env HEAD~1:.env
        git log -p -- config/credentials
        git log -p -- secrets
        git log --patch -n 1 -- ':(top).env'
        git log -L1,9:secrets/db.txt
        git log -L :main:.env
        git blame HEAD -- .env
        git blame -L1,4 secrets/password.txt
        git grep -n . -- .env
        git grep -n . -- ':(icase)ID_RSA'
        git grep -n . -- ':(glob)**/*.pem'
        git grep -n . HEAD -- secrets
        git grep -n . -- ':/.env'
        git stash show -p stash@{0} -- secrets/db.txt
        git show stash@{0}^3:.env
        git diff --cached -- .netrc
        git diff-index -p HEAD -- secrets
        git archive HEAD .env
        git archive --format=tar HEAD
        git diff --no-index .env x
        """,
        """
        git show HEAD:src/app.py
        git show :src/app.py
        git show HEAD~2:./docs/setup.md
        git show v1.0^{}:deploy/values.yaml
        git show 3f2a9c1
        git show 3f2a9c1:docker-compose.yml
        git cat-file -p HEAD
        git cat-file -p HEAD^{tree}
        git cat-file -p HEAD:docker-compose.yml
        git cat-file -t 3f2a9c1
        git cat-file -s 3f2a9c1
        git log -p -- src
        git log -p -n 1 -- deploy/values.yaml
        git log --oneline -- secrets
        git diff 3f2a9c1 7b1d2e0 -- src
        git grep -n timeout -- '*.py'
        git grep -n timeout -- ':(glob)src/**/*.py'
        git grep -n secret_rotation_days
        git ls-tree -r HEAD
        git ls-files -s
        """,
    ),
    "SQL prints parts of values, or values without their names": (
        r"""
        sqlite3 /srv/app.db "select substr(value,1,4) from settings"
        sqlite3 -readonly /srv/app.db "select hex(value) from settings"
        sqlite3 -readonly /srv/app.db "select quote(value) from settings"
        sqlite3 /srv/app.db "select replace(value,'a','-') from settings"
        sqlite3 /srv/app.db "select id from t union select reverse(value) from settings"
        sqlite3 /srv/app.db "select password from users"
        sqlite3 /srv/app.db "select u.api_key as a from users u"
        sqlite3 /srv/app.db 'select "client_secret" x from apps'
        sqlite3 /srv/app.db "select max(password) from users"
        sqlite3 /srv/app.db "select value from settings where key = 'smtp_password'"
        sqlite3 /srv/app.db "select value from settings where key like '%password'"
        sqlite3 -noheader /srv/app.db "select * from users"
        sqlite3 -separator x /srv/app.db "select * from users"
        sqlite3 /srv/app.db "select 1, 2 union all select * from users"
        sqlite3 /srv/app.db "with x(a, b) as (select * from users) select b from x"
        sqlite3 /srv/app.db "select cast(value as blob) from settings"
        sqlite3 /srv/app.db "select 'x' || value from settings"
        sqlite3 /srv/app.db "select json_extract(data, '$.password') from apps"
        sqlite3 /srv/app.db "select group_concat(value, 'x') from settings"
        psql -c "select left(value, 3) from settings"
        psql -c "select split_part(url, '@', 1) from targets"
        psql -c "select value::bytea from settings"
        psql -c "select value::char from settings"
        psql -c "select value::varchar(3) from settings"
        psql -c "select cast(value as varchar(3)) from settings"
        psql -c "select u from users u"
        psql -c "select users from users"
        psql -c "select u::text from users as u"
        psql -c "select * from users as u(a, b, c)"
        psql -tAc "select * from users"
        psql -c "select data->>'password' from apps"
        psql -c "select string_agg(value, '') from settings"
        psql -c "select regexp_replace(value, '(.)', '-') from settings"
        psql -c "select array_agg(token) from sessions"
        psql -A -F x -c "select * from users"
        psql -c "with t as (select upper(value) v from settings) select v from t"
        psql -c "select id, (select password from users limit 1) from t"
        mysql -e "select substring(value from 1 for 3) from settings"
        mysql -e "select ascii(value) from settings"
        mysql -N -e "select * from users"
        mysql --skip-column-names -e "table users"
        mysql -e "select concat('x', value) from settings"
        mysql -e "select convert(value, binary) from settings"
        mysql -e "select cast(value as char(3)) from settings"
        mysql -e "select lpad(value, 3, '') from settings"
        mysql -e "select password from app.users\G"
        """,
        r"""
        sqlite3 /srv/app.db "select count(*) from users"
        sqlite3 /srv/app.db "select Name from Items"
        sqlite3 /srv/app.db "select id, state, updated_at from jobs order by id desc limit 10"
        sqlite3 -header -column /srv/app.db "select * from jobs limit 5"
        sqlite3 -separator ',' /srv/app.db "select id, state from jobs"
        sqlite3 -json /srv/app.db "select key, value from settings"
        sqlite3 /srv/app.db "select state, count(*) from jobs group by state"
        sqlite3 /srv/app.db "select max(length(payload)) from jobs"
        sqlite3 /srv/app.db "select count(*) from users where reset_token is not null"
        sqlite3 /srv/app.db "select id, email from users where reset_token is null"
        sqlite3 /srv/app.db "select count(distinct substr(ip, 1, 3)) from hits"
        sqlite3 /srv/app.db "pragma integrity_check"
        sqlite3 /srv/app.db .schema
        sqlite3 /srv/app.db "select name, group_concat(tag, ', ') from t group by name"
        psql -c "select pid, state, wait_event, query from pg_stat_activity"
        psql -c "select * from pg_stat_replication"
        psql -c "select a.id, b.n from a join b on lower(a.name) = lower(b.name)"
        psql -tAc "select pg_is_in_recovery()"
        psql -Atc "select count(*) from pg_locks where not granted"
        psql -c "select date_trunc('hour', created_at), count(*) from orders group by 1"
        psql -c "select relname, pg_size_pretty(pg_total_relation_size(oid)) from pg_class"
        psql -c "select now() - query_start as age, query from pg_stat_activity"
        psql -c "select coalesce(state, 'none'), count(*) from jobs group by 1"
        psql -c "select oid::regclass, n::int from t"
        psql -c "select id, data->>'state' from jobs"
        psql -c "select array_agg(name) from nodes"
        psql -c "select first || ' ' || last from people"
        psql -c "with t as (select id from jobs) select count(*) from t"
        psql -c "select 'ok' as state union all select name from jobs"
        psql -c "select * from jobs where kind in (select kind from kinds)"
        mysql -e "show processlist"
        mysql -e "show global status like 'Threads%'"
        mysql -e "select table_schema, sum(data_length) from information_schema.tables group by 1"
        mysql -N -e "select count(*) from app.orders"
        mysql -e "select * from performance_schema.threads\G"
        mysql -e "select id, cast(total as signed), convert(total, decimal) from app.orders"
        """,
    ),
    "stores and clients print parts, or values without their names": (
        """
        redis-cli GETRANGE app:config 0 3
        redis-cli GETBIT app:config 7
        redis-cli BITCOUNT app:config 0 0
        redis-cli GET app:db_password
        redis-cli MGET a session:1:token
        redis-cli HGET user:1 password
        redis-cli HMGET user:1 name api_key
        redis-cli HVALS user:1
        redis-cli --raw HGETALL user:1
        redis-cli --csv HSCAN user:1 0
        redis-cli --raw XRANGE events - +
        redis-cli LINDEX api:tokens 0
        mongosh --eval 'db.adminCommand({getCmdLineOpts: 1}).argv[4]'
        mongosh --eval 'db.adminCommand({getCmdLineOpts: 1}).parsed.a.filePassword'
        gh pr list --json title --jq '.[].title[0:3]'
        gh pr view 3 --json body --jq '.body | @base64'
        gh pr view 3 --json body -q '.body | explode'
        gh issue view 3 --json body --jq '.body | split("=")'
        aws lambda list-functions --query 'reverse(Functions[0].Environment.A)'
        gcloud run services describe api '--format=value(spec.env.value.slice(0:3))'
        gcloud compute instances describe api '--format=value(metadata.items.value.encode(base64))'
        openstack server show api --max-width 9
        tcpdump -r /srv/x.pcap -X
        tcpdump -c 3 -i eth0 -x
        tcpdump -xx -c 3 -i eth0
        """,
        """
        redis-cli GET feature:checkout
        redis-cli TTL session:1:token
        redis-cli EXISTS app:db_password
        redis-cli STRLEN app:config
        redis-cli HGET job:1 state
        redis-cli HGETALL job:1
        redis-cli --json HGETALL job:1
        redis-cli XREVRANGE events + - COUNT 5
        redis-cli HLEN user:1
        redis-cli LLEN queue:mail
        redis-cli LRANGE queue:mail 0 5
        redis-cli SCAN 0
        mongosh --eval 'db.serverStatus().connections.current'
        mongosh --eval 'rs.status().members[0].stateStr'
        mongosh --eval 'db.adminCommand({getCmdLineOpts: 1})'
        gh pr list --json number,title --jq '.[] | .number'
        gh pr list --json title --jq '.[].title'
        gh run list --json status,name --jq 'map(select(.status == "failed")) | length'
        aws ec2 describe-instances --query 'Reservations[].Instances[].[InstanceId,State.Name]'
        aws ec2 describe-images --query 'reverse(sort_by(Images, &CreationDate))[0:3]'
        aws rds describe-db-instances --query 'DBInstances[*].DBInstanceIdentifier'
        az vm list --query '[].name' -o tsv
        gcloud compute instances list '--format=table(name,zone.basename(),status)'
        gcloud compute instances list '--format=value(name)'
        tcpdump -c 3 -i eth0 port 80
        tcpdump -r /srv/x.pcap -A
        """,
    ),
}
