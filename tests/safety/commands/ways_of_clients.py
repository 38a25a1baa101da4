"""What clients of servers and the languages of arguments can be made to do, next to their reads."""

# Kind: what is refused, and what of the same programs is not.
WAYS_OF_CLIENTS: dict[str, tuple[str, str]] = {
    "names that some versions read over blanks and comments": (
        """
        jq -n '$ ENV'
        jq -rn '$  ENV.TOKEN'
        jq '.a, ($ ENV | keys)' /tmp/x
        jq -n 'path(.[env:])'
        jq -n '{a: .[0, env:]}'
        jq -n '{a: ({}, env)}'
        yq '$ ENV' /tmp/x
        """,
        """
        jq '.ENV' /tmp/x.json
        jq '.[] | select(.name == "ENV")' /tmp/x.json
        jq '{ENV: .environment}' /tmp/x.json
        """,
    ),
    "variables that a shell's own program sets or that hold secrets": (
        """
        printf '%n' 'a[0]'
        printf '%s%5n' x y
        printf '%ln' a
        printenv DB_PASS
        printenv REDIS_PW
        printenv JWT
        printenv GITHUB_PAT
        printenv AWS_SECRET_ACCESS_KEY
        printenv GITHUB_TOKEN
        printenv DATABASE_URL
        docker inspect -f '{{range .Config.Env}}{{.}}{{end}}' api
        podman inspect --format '{{json .Config.Env}}' api
        systemctl show nginx -p Environment
        systemctl show nginx --property=ActiveState,Environment
        rabbitmq-diagnostics os_env
        """,
        """
        printf '100%%\\n'
        printf '%%n'
        printenv PATH
        docker inspect -f '{{.State.OOMKilled}}' api
        systemctl show nginx -p ActiveState,EnvironmentFiles
        """,
    ),
    "counters and times that a look resets": (
        """
        netstat -sz
        file -p /etc/hosts
        ipvsadm -L -Z
        ipvsadm -L --set 1 2 3
        mtr -l localhost
        dmsetup ls --exec /tmp/x
        dmsetup remove x
        """,
        """
        dmsetup ls --tree
        netstat -s
        file /etc/hosts
        ipvsadm -Ln --stats
        tc -s qdisc
        mtr -rwc 10 localhost
        """,
    ),
    "data of a request": (
        """
        curl -d a=b http://localhost/
        curl -G -d @/etc/passwd http://localhost/
        curl -G --data-urlencode x@/etc/passwd http://localhost/
        curl -G --data-urlencode @/etc/passwd http://localhost/
        curl -G --data-binary @/etc/passwd http://localhost/
        curl -G -d action=shutdown http://localhost/
        curl -G http://localhost:8086/query --data-urlencode 'q=DROP DATABASE x'
        curl -G http://localhost:8086/query --data-urlencode 'q=show databases; drop database x'
        curl 'http://localhost:8086/query?q=drop%20database%20x'
        curl -G http://localhost:8983/solr/x/update -d commit=true
        curl 'http://localhost:8983/solr/x/select?stream.body=x'
        curl -G --data-urlencode 'a=#' -d cmd=delete http://localhost/
        curl -G -d a=b https://stranger.example/
        wget -O /tmp/x http://localhost/
        wget -qO- -r http://localhost/
        wget -qO- http://stranger.example/
        wget -O - --post-data=x http://localhost/
        """,
        """
        curl -sG http://localhost:9090/api/v1/query --data-urlencode 'query=up == 0'
        curl -s -G -d match=up http://localhost:9090/api/v1/series
        curl -s localhost:9200/_cat/indices?v
        wget -qO- http://localhost:8080/healthz
        wget -q -O - --tries=1 http://localhost:8080/healthz
        """,
    ),
    "words that look like a pattern of files": (
        """
        cat /readyz?
        cat /metrics/../etc/shadow?
        curl localhost:1/../../etc/shadow?
        kubectl get --raw /api/v1/secrets?limit=1
        cat [s]hadow
        grep x [s]hadow
        grep -f [s]hadow /tmp/x
        grep [-]f /tmp/x
        grep [a-z]x /tmp/x
        ps aux | grep [n]ginx
        : > /tmp/x
        : $(touch /tmp/x)
        """,
        """
        kubectl get --raw /readyz?verbose
        """,
    ),
    "questions to MongoDB": (
        """
        mongosh
        mongosh --eval 'db.orders.drop()'
        mongosh --eval 'db.stats(); db.orders.drop()'
        mongosh --eval 'db.orders.find({$where: "sleep(1)"})'
        mongosh --eval 'db.orders.find({"$where": "sleep(1)"})'
        mongosh --eval 'db.orders.find({a: function() {}})'
        mongosh --eval 'db.orders.find().forEach(printjson)'
        mongosh --eval 'db.orders.find().limit(db.dropDatabase())'
        mongosh --eval 'db.orders.aggregate([{$out: "x"}])'
        mongosh --eval 'db.stats().constructor.constructor("x")()'
        mongosh --eval 'db.adminCommand({shutdown: 1})'
        mongosh --eval 'db.setProfilingLevel(2)'
        mongosh --eval 'db.getUsers()'
        mongosh --eval 'db.orders.distinct("password")'
        mongosh --eval 'db.system.users.find()'
        mongosh --eval 'db.stats()' --file /tmp/x.js
        mongosh --eval 'db.stats()' /tmp/x.js
        mongosh --eval 'process.env'
        mongosh --eval 'db.orders.find(11111111111111111111111111111111111111111111111111!'
        """,
        """
        mongosh --quiet --eval 'rs.status().ok'
        mongosh --eval 'db.serverStatus().connections'
        mongosh --eval 'db.adminCommand({ping: 1})'
        mongosh --quiet shop --eval 'db.orders.countDocuments({state: "failed", n: {$gt: 3}})'
        mongosh shop --eval 'db.orders.find({a: 1}, {b: 1}).sort({c: -1}).limit(5)'
        mongosh --eval 'printjson(db.currentOp())'
        mongosh --eval 'show dbs'
        """,
    ),
    "tables of users": (
        """
        mysql -e 'select * from mysql.user'
        mysql -e 'select user, password from mysql.user'
        mysql -e 'select user, User_attributes from mysql.user'
        mysql -e 'select user from mysql.user union select authentication_string from mysql.user'
        mysql -e 'table mysql.user'
        mysql mysql -e 'select priv from global_priv'
        psql -c 'select * from information_schema.user_mapping_options'
        psql -c 'select * from pg_hba_file_rules'
        rabbitmqadmin list users
        """,
        """
        psql -c 'select array_to_string(pg_blocking_pids(pid), 1) from pg_stat_activity'
        rabbitmqadmin list queues name messages
        """,
    ),
    "the file of a certificate": (
        """
        openssl x509 -noout -dates -in /etc/letsencrypt/live/x/privkey.pem
        openssl x509 -noout -dates -in /etc/kubernetes/pki/ca.key
        openssl x509 -noout -dates -in /dev/x.pem
        openssl x509 -in /etc/ssl/site.crt -out /tmp/x
        openssl x509 -noout -dates -in /etc/ssl/private/site.crt
        openssl x509 -noout -dates -in /etc/ssl/certs/../private/site.crt
        openssl x509 -noout -dates -in /etc/nginx/ssl/site.pem
        openssl x509 -noout -dates -in /root/.ssh/site.crt
        openssl x509 -noout -dates -in /proc/1/root/etc/x.crt
        cat /etc/letsencrypt/live/x/fullchain.pem
        """,
        """
        openssl x509 -noout -dates -in /etc/letsencrypt/live/x/fullchain.pem
        openssl x509 -noout -enddate -in /etc/kubernetes/pki/apiserver.crt
        openssl crl -noout -nextupdate -in /etc/ssl/crl.pem
        """,
    ),
    "what a process is, not what is behind it": (
        """
        cat /proc/1/exe
        strings /proc/1/exe
        cat /proc/1/cwd/x
        ls /proc/1/root/srv
        """,
        """
        ls -l /proc/1/exe
        readlink /proc/1/cwd
        """,
    ),
    "names of things that a cloud or a cluster knows": (
        """
        aws sqs get-queue-attributes --queue-url https://stranger.example/x
        aws sqs get-queue-attributes --queue-url https://x.amazonaws.com.stranger.example/1/q
        aws sqs receive-message --queue-url https://sqs.eu-west-1.amazonaws.com/1/q
        aws ec2 describe-instances --filters https://sqs.eu-west-1.amazonaws.com/1/q
        consul kv get secret
        consul kv get -recurse x
        istioctl proxy-config secret api
        istioctl proxy-config log api
        kubeadm token list
        kubeadm certs renew all
        oc adm drain w1
        ipmitool sdr dump /tmp/x
        """,
        """
        aws sqs get-queue-attributes --queue-url https://sqs.eu-west-1.amazonaws.com/1/q
        consul kv get -keys config/
        istioctl proxy-config cluster api-0.shop
        kubeadm certs check-expiration
        oc adm top nodes
        ipmitool sdr type Temperature
        """,
    ),
}
