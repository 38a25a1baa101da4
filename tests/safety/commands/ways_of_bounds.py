"""Reads that end, but not within the time of a call, and those that do."""

TOO_LONG = """
    kubectl wait pod/x --for=condition=Ready --timeout=9999h
    kubectl wait pod/x --for=condition=Ready --timeout=10m
    kubectl wait pod/x --for=condition=Ready --timeout=1h30m
    kubectl wait pod/x --for=condition=Ready --timeout=-1s
    kubectl rollout status deploy/x --timeout=24h
    kubectl rollout status deploy/x --timeout=0.5h
    kubectl rollout status deploy/x
    oc wait pod/x --for=delete --timeout=3600s
    timeout 9999 tail -f /var/log/syslog
    timeout 10m tail -f /var/log/syslog
    timeout 1h journalctl -f
    timeout 1d ping 127.0.0.1
    timeout 9999999 vmstat 1
    timeout 0 tail -f /var/log/syslog
    sleep 9999
    sleep 10m
    sleep 1h
    sleep 1d
    sleep 30 30 30
    sleep inf
    ping -c 1000000 127.0.0.1
    ping -c 1000 127.0.0.1
    ping -w 9999 127.0.0.1
    ping -c 0 127.0.0.1
    ping -c 20 -i 60 127.0.0.1
    ping -c 1 -W 9999 127.0.0.1
    top -b -n 1000000
    top -b -n 100 -d 10
    top -b -n 3 -d 3600
    vmstat 5 1000000
    vmstat 1 1000
    vmstat 3600 2
    iostat 5 1000000
    iostat -x 60 60
    mpstat 1 100000
    mpstat -P ALL 600 3
    sar -u 1 100000
    sar -n DEV 60 10
    pidstat 1 100000
    pidstat -d 60 10
    free -s 1 -c 100000
    free -s 3600 -c 2
    iotop -b -n 1000000
    iotop -b -n 10 -d 60
    tcpdump -c 1000000 -i lo
    tcpdump -c 5000000 -n port 80
    systemd-cgtop -b -n 1000000
    systemd-cgtop -b -n 10 -d 60
    nvidia-smi dmon -c 1000000
    zpool iostat 1 100000
    zpool iostat tank 60 60
    zpool status 60 60
    inotifywait -t 9999 /tmp
    tail -f --pid=1 /var/log/syslog
    tail --pid 1 -f /var/log/syslog
    mtr -r -c 1000000 127.0.0.1
    mtr -r -c 100 -i 10 127.0.0.1
    nc -z -w 9999 10.0.0.1 80
    curl -m 9999 http://localhost/health --retry 1000000 --retry-delay 3600
    redis-cli -r 1000000 -i 1 ping
    redis-cli -r 100 -i 60 ping
    docker stats
    docker events --since 10m --until=-9999h
    docker events --since 10m --until 9999999999
    docker logs --until 1h -f x
    seq 1 999999999999
    yes
    watch -n 1 date
    traceroute -m 255 -w 60 10.0.0.1
    pg_isready -t 9999
    dig +time=9999 +tries=1000 localhost @127.0.0.1
    for i in 1 2 3 4 5 6 7 8 9 10; do sleep 10; done
    slabtop -d 5
"""

SHORT = """
    kubectl wait pod/x --for=condition=Ready
    docker events --since 10m --until 1m
    timeout 5 sleep 9999
    for i in 1 2 3; do date; sleep 1; done
    kubectl wait pod/x --for=condition=Ready --timeout=10s
    kubectl rollout status deploy/x --timeout=15s
    kubectl rollout status deploy/x --watch=false
    timeout 10 tail -f /var/log/syslog
    timeout 5s journalctl -f
    timeout 5 vmstat 1
    timeout 60 df -h
    timeout 10m df -h
    sleep 1
    sleep 0.5
    sleep 5s
    ping -c 3 127.0.0.1
    ping -c 4 -W 2 127.0.0.1
    ping -c 10 -i 0.2 127.0.0.1
    ping -w 5 127.0.0.1
    top -b -n 1
    top -bn1
    top -b -n 2 -d 1
    vmstat 1 5
    vmstat 1 3
    vmstat
    iostat -x 1 3
    iostat
    mpstat 1 3
    mpstat -P ALL 1 1
    sar -u 1 3
    sar -u
    pidstat 1 3
    pidstat
    free -s 1 -c 3
    free -m
    iotop -b -n 1
    iotop -b -n 2 -d 1
    tcpdump -c 10 -i lo
    tcpdump -c 100 -n port 80
    systemd-cgtop -b -n 1
    nvidia-smi dmon -c 3
    zpool iostat 1 3
    zpool status
    inotifywait -t 5 /tmp
    mtr -r -c 3 127.0.0.1
    nc -z -w 3 10.0.0.1 80
    curl -m 5 http://localhost/health
    redis-cli -r 3 -i 1 ping
    seq 1 10
    seq 10
    tail -n 200 /var/log/syslog
    docker stats --no-stream
    journalctl -n 100
    slabtop -o
"""
