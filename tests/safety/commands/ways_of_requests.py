"""Addresses of which a request acts or tells secrets, and everyday ones that only ask."""

ACTING = """
    curl http://localhost:9001/index.html?action=stopall
    curl 'http://localhost:9001/index.html?processname=web&action=stop'
    curl "http://localhost:8123/?query=SYSTEM%20SHUTDOWN"
    curl 'http://localhost:8123/?query=OPTIMIZE%20TABLE%20x'
    curl http://localhost:9200/_cache/clear
    curl http://localhost:9200/_forcemerge
    curl http://localhost:9200/orders/_close
    curl http://localhost:9200/_flush/synced
    curl 'http://localhost/api?act=reboot'
    curl 'http://localhost:8983/solr/admin/cores?action=RENAME&core=a&other=b'
    curl 'http://localhost:8983/solr/admin/collections?action=SPLITSHARD'
    curl 'http://localhost:8983/solr/x/replication?command=fetchindex'
    curl 'http://localhost:8983/solr/x/dataimport?command=full-import'
    curl http://localhost:8080/manager/text/expire?path=/x
    curl http://localhost:8080/manager/text/sessions?path=/x
    wget --spider http://localhost:9001/index.html?action=stopall
    wget -qO- http://localhost:9200/_cache/clear
    wget --spider 'http://localhost/api?act=reboot'
    curl http://localhost:8080/jobs/12/cancel
    curl http://localhost:8080/admin/rotate
    curl http://localhost:8080/cron.php
    curl http://localhost:8080/wp-cron.php?doing_wp_cron
    curl http://localhost:8080/logout
    curl http://localhost:8080/confirm/1
    curl http://localhost:8080/subscribe?mail=a
    curl http://localhost/relay/0?turn=off
    curl http://localhost/cm?cmnd=Power%20TOGGLE
    curl http://localhost/rpc/Switch.Set?id=0
    curl http://localhost:8181/jsonrpc?request=x
    curl http://localhost:6800/listjobs.json?project=a
    curl http://localhost:8080/job/deploy/build?token=x
    curl http://localhost:8080/buildByToken/build?job=x
    curl http://localhost:8080/jolokia/write/java.lang:type=Memory/Verbose/true
    curl http://localhost:6060/debug/pprof/profile?seconds=60
    curl http://localhost:6060/debug/pprof/heap
    curl http://localhost:8500/v1/agent/leave
    curl http://localhost:8500/v1/kv/secrets?recurse
    curl http://localhost:2379/v2/keys/x
    curl http://localhost:10255/run/x
    curl http://localhost:10250/exec/default/pod/c?command=id
    curl http://localhost:8001/api/v1/namespaces/default/secrets
    curl http://localhost:8001/api/v1/namespaces/default/services/x/proxy/stop
    curl http://localhost:8001/api/v1/namespaces/default/pods/x/exec?command=id
    curl http://localhost:9093/-/reload
    curl http://localhost:9090/-/quit
    curl http://localhost:8080/actuator/env
    curl http://localhost:8080/actuator/threaddump
    curl http://localhost:8080/actuator/refresh
    curl http://localhost:8080/actuator/logfile
    curl http://localhost:8080/health/fail
    curl http://localhost:8080/health?fail=true
    curl http://localhost:8080/health?reset=1
    curl http://localhost:8080/status?state=down
    curl http://localhost:8080/status/503
    curl http://localhost:8080/health/../admin/purge-all
    curl --path-as-is http://localhost:8080/health/../admin
    curl http://localhost:8080/health/%2e%2e/admin/rotate
    curl http://localhost:8080/health%2f..%2fadmin
    curl http://localhost:8080/admin/..;/health
    curl http://localhost:8080/health;jsessionid=x/../rotate
    curl 'http://localhost:8080/rotate;/health'
    curl http://localhost:8080//rotate//health
    curl 'http://localhost:8080/rotate#/health'
    curl 'http://localhost:8080/rotate%23/health'
    curl 'http://localhost:8080/rotate%3F/health'
    curl 'http://localhost:8080/x%00/health'
    curl 'http://localhost:8080/%252e%252e/health'
    curl 'http://user:pw@localhost:8080/health'
    curl 'http://localhost\\@10.0.0.1/health'
    curl 'http://localhost/health\\..\\rotate'
    curl -G -d act=reboot http://localhost:8080/health
    curl -G --data-urlencode 'query=SYSTEM SHUTDOWN' http://localhost:8123/
    curl -G -d x=y http://localhost:9200/_cluster/health
    curl -H 'X-HTTP-Method-Override: POST' http://localhost:8080/health
    curl -H 'X-Original-URL: /admin/rotate' http://localhost:8080/health
    curl -H 'X-Rewrite-URL: /admin/rotate' http://localhost:8080/health
    curl -H 'Host: admin.internal' http://localhost:8080/
    curl -H 'Upgrade: websocket' http://localhost:8080/health
    curl http://localhost:8086/query?q=DROP%20DATABASE%20x
    curl http://localhost:8086/query?q=select%20*%20into%20x%20from%20y
    curl http://localhost:9090/api/v1/admin/tsdb/snapshot
    curl http://localhost:9200/_sql?query=x
    curl http://localhost:9200/_nodes/reload_secure_settings
    curl http://localhost:9200/_search/scroll?scroll_id=x
    curl http://localhost:15672/api/queues/a/b/get
    curl http://localhost:15672/api/definitions
    curl http://localhost:3000/api/admin/settings
    curl http://localhost:9000/minio/admin/v3/service?action=restart
    curl http://localhost:1936/haproxy;csv;disable
    curl http://localhost/balancer-manager?b=x&w=y
    curl http://localhost/balancer-manager
    curl http://localhost/nginx_status/reset
    curl http://localhost:2019/config/
    curl http://localhost:2019/stop
    curl http://localhost:9901/quitquitquit
    curl http://localhost:9901/healthcheck/fail
    curl http://localhost:9901/logging?level=debug
    curl http://localhost:9901/config_dump
    curl http://localhost:9901/reset_counters
    curl http://localhost:9901/drain_listeners
    curl http://localhost:15000/quitquitquit
    curl http://localhost:8474/reset
    curl http://localhost:4040/jobs/job/kill/?id=1
    curl http://localhost:8088/proxy/application_1/kill
    curl http://localhost:8081/jobs/a/yarn-cancel
    curl http://localhost:8153/go/api/x
    curl http://localhost/fpm-ping?full
    curl http://localhost:8080/tail?f=/etc/shadow
    curl http://localhost:3128/squid-internal-mgr/shutdown
    curl http://localhost:7474/browser/drop
    wget -qO- 'http://localhost:8080/admin/rotate'
    wget --spider http://localhost:8080/health?fail=true
    wget --spider http://localhost:8080/jobs/12/cancel
    wget -qO- http://localhost:2019/stop
"""

ASKING = """
    curl -s http://localhost:8080/health
    curl http://localhost:8080/healthz
    curl -fsS http://localhost:8080/livez
    curl -s http://localhost:8080/readyz?verbose
    curl -s http://127.0.0.1:8080/ready
    curl -s http://localhost:8080/live
    curl -s http://localhost:8080/health/live
    curl -s http://localhost:8080/health/ready
    curl -s http://localhost:8080/api/health
    curl -s http://localhost:8080/api/v1/health
    curl -s http://localhost:8080/api/status
    curl -s http://localhost:8080/status
    curl -s http://localhost:8080/version
    curl -s http://localhost:8080/api/version
    curl -s http://localhost:8080/info
    curl -s http://localhost:8080/ping
    curl -s http://localhost:8080/-/healthy
    curl -s http://localhost:9090/-/ready
    curl -s http://localhost:9100/metrics
    curl -s http://127.0.0.1:9090/metrics | grep http_requests
    curl -s 'http://[::1]:8080/metrics'
    curl -s localhost:9100/metrics | head -50
    curl -s http://localhost:8080/actuator/health
    curl -s http://localhost:8080/actuator/health/readiness
    curl -s http://localhost:8080/actuator/info
    curl -s http://localhost:8080/actuator/metrics
    curl -s http://localhost:8080/actuator/metrics/jvm.memory.used
    curl -s http://localhost:8080/actuator/prometheus
    curl -s http://localhost:8080/q/health/live
    curl -s http://localhost:9200/
    curl -s http://localhost:9200/_cluster/health?pretty
    curl -s http://localhost:9200/_cluster/stats?human
    curl -s http://localhost:9200/_cat/indices?v
    curl -s 'http://localhost:9200/_cat/shards?v&h=index,shard,state,node'
    curl -s 'http://localhost:9200/_cat/nodes?v&s=heap.percent:desc'
    curl -s http://localhost:9200/_cat/allocation?v
    curl -s http://localhost:9200/_nodes/stats
    curl -s http://localhost:9200/_nodes/hot_threads
    curl -s http://localhost:9200/_cluster/pending_tasks
    curl -s http://localhost:9200/_cluster/allocation/explain
    curl -s http://localhost:9200/orders/_stats
    curl -s http://localhost:9200/orders/_count
    curl -s http://localhost:9200/_tasks?detailed
    curl -s 'http://localhost:9090/api/v1/query?query=up'
    curl -sG http://localhost:9090/api/v1/query --data-urlencode 'query=up == 0'
    curl -sG 'http://localhost:9090/api/v1/query_range' -d query=up -d start=1 -d end=2 -d step=15
    curl -s http://localhost:9090/api/v1/targets
    curl -s http://localhost:9090/api/v1/targets?state=active
    curl -s http://localhost:9090/api/v1/alerts
    curl -s http://localhost:9090/api/v1/rules
    curl -s http://localhost:9090/api/v1/labels
    curl -s http://localhost:9090/api/v1/label/job/values
    curl -s -G -d match=up http://localhost:9090/api/v1/series
    curl -s -G --data-urlencode 'match[]=up' http://localhost:9090/api/v1/series
    curl -s http://localhost:9090/api/v1/status/tsdb
    curl -s http://localhost:9090/api/v1/status/buildinfo
    curl -s http://localhost:9093/api/v2/alerts
    curl -s http://localhost:9093/api/v2/alerts?active=true
    curl -s http://localhost:9093/api/v2/silences
    curl -s http://localhost:9093/api/v2/status
    curl -s http://localhost:3100/ready
    curl -sG http://localhost:3100/loki/api/v1/query --data-urlencode 'query={job="x"}' -d limit=5
    curl -s http://localhost:3100/loki/api/v1/labels
    curl -s http://localhost:3000/api/health
    curl -s http://localhost/nginx_status
    curl -s http://localhost/stub_status
    curl -s http://localhost/basic_status
    curl -s http://localhost/server-status?auto
    curl -s http://localhost/server-info
    curl -s http://localhost/fpm-status
    curl -s 'http://localhost:8404/stats;csv'
    curl -s http://localhost:2379/health
    curl -s http://localhost:2379/version
    curl -s http://localhost:8500/v1/status/leader
    curl -s http://localhost:8500/v1/status/peers
    curl -s http://localhost:8500/v1/agent/members
    curl -s http://localhost:8500/v1/catalog/services
    curl -s http://localhost:8500/v1/health/service/web?passing
    curl -s http://localhost:8500/v1/health/state/critical
    curl -s http://localhost:8200/v1/sys/health
    curl -s http://localhost:8200/v1/sys/seal-status
    curl -s http://localhost:4646/v1/nodes
    curl -s http://localhost:4646/v1/jobs
    curl -s http://localhost:9901/ready
    curl -s http://localhost:9901/clusters
    curl -s http://localhost:9901/stats?usedonly
    curl -s http://localhost:9901/server_info
    curl -s http://localhost:9901/listeners
    curl -s http://localhost:15672/api/overview
    curl -s http://localhost:15672/api/queues
    curl -s http://localhost:15672/api/nodes
    curl -s http://localhost:15672/api/healthchecks/node
    curl -s http://localhost:8222/varz
    curl -s http://localhost:8222/connz
    curl -s http://localhost:8222/jsz
    curl -s http://localhost:8123/ping
    curl -s http://localhost:8123/replicas_status
    curl -s http://localhost:8086/ping
    curl -s http://localhost:8086/health
    curl -s http://localhost:9000/minio/health/live
    curl -s http://localhost:9000/minio/health/cluster
    curl -s http://localhost:10248/healthz
    curl -sk https://localhost:6443/livez?verbose
    curl -s http://localhost:10249/proxyMode
    curl -s http://localhost:5984/_up
    curl -s http://localhost:5000/v2/
    curl -s http://localhost:8983/solr/admin/info/system?wt=json
    curl -s 'http://localhost:8983/solr/admin/cores?action=STATUS'
    curl -s http://localhost:8983/solr/admin/ping
    curl -s http://localhost:8080/manager/text/list
    curl -s http://localhost:8081/overview
    curl -s http://localhost:8088/ws/v1/cluster/info
    curl -I http://localhost:8080/
    curl -sI http://localhost:8080/login
    curl -s -X OPTIONS http://localhost:8080/orders
    curl -s -o /dev/null -w '%{http_code}' http://localhost:8080/healthz
    curl -s -m 5 --connect-timeout 2 http://localhost:8080/health
    curl -s -H 'Accept: application/json' http://localhost:8080/status
    curl -s http://localhost:8080/health | jq .status
    wget -qO- http://localhost:8080/healthz
    wget --spider -q http://localhost:8080/health
    wget -q -O - --tries=1 http://localhost:9100/metrics
"""
