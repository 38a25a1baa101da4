"""Services that are known by the names of their programs, images and packages."""

import re
from dataclasses import dataclass

_TABLE = """
nginx         | nginx               | nginx nginx-core nginx-light nginx-full | /etc/nginx/nginx.conf | /var/log/nginx | /usr/share/nginx/html
apache        | apache2 httpd       | apache2 httpd       | /etc/apache2/apache2.conf /etc/httpd/conf/httpd.conf | /var/log/apache2 /var/log/httpd | /var/www
haproxy       | haproxy             | haproxy             | /etc/haproxy/haproxy.cfg | /var/log/haproxy.log |
caddy         | caddy               | caddy               | /etc/caddy/Caddyfile | /var/log/caddy | /var/lib/caddy
traefik       | traefik             | traefik             | /etc/traefik/traefik.yml | /var/log/traefik.log |
postgresql    | postgres postmaster | postgresql-17 postgresql-16 postgresql-15 postgresql-14 postgresql-13 postgresql-server | /etc/postgresql | /var/log/postgresql | /var/lib/postgresql /var/lib/pgsql
mysql         | mysqld mysql        | mysql-server mysql-community-server | /etc/mysql/my.cnf /etc/my.cnf | /var/log/mysql /var/log/mysqld.log | /var/lib/mysql
mariadb       | mariadbd mariadb    | mariadb-server      | /etc/mysql/my.cnf /etc/my.cnf | /var/log/mysql /var/log/mariadb | /var/lib/mysql
mongodb       | mongod mongo        | mongodb-org-server mongodb-server | /etc/mongod.conf | /var/log/mongodb | /var/lib/mongodb /data/db
redis         | redis-server redis  | redis-server redis  | /etc/redis/redis.conf /etc/redis.conf | /var/log/redis | /var/lib/redis
valkey        | valkey-server valkey | valkey-server valkey | /etc/valkey/valkey.conf | /var/log/valkey | /var/lib/valkey
memcached     | memcached           | memcached           | /etc/memcached.conf | |
rabbitmq      | beam.smp rabbitmq-server rabbitmq | rabbitmq-server | /etc/rabbitmq | /var/log/rabbitmq | /var/lib/rabbitmq
mosquitto     | mosquitto           | mosquitto           | /etc/mosquitto/mosquitto.conf | /var/log/mosquitto | /var/lib/mosquitto
nats          | nats-server nats    | nats-server         | /etc/nats-server.conf | /var/log/nats-server.log |
elasticsearch | elasticsearch       | elasticsearch       | /etc/elasticsearch | /var/log/elasticsearch | /var/lib/elasticsearch
influxdb      | influxd influxdb    | influxdb influxdb2  | /etc/influxdb | /var/log/influxdb | /var/lib/influxdb
prometheus    | prometheus          | prometheus          | /etc/prometheus/prometheus.yml | | /var/lib/prometheus
grafana       | grafana grafana-server | grafana          | /etc/grafana/grafana.ini | /var/log/grafana | /var/lib/grafana
node_exporter | node_exporter prometheus-node-exporter | prometheus-node-exporter | | |
etcd          | etcd                | etcd-server etcd    | /etc/etcd | | /var/lib/etcd
kubelet       | kubelet             | kubelet             | /var/lib/kubelet/config.yaml | | /var/lib/kubelet
docker        | dockerd             | docker-ce docker.io | /etc/docker/daemon.json | | /var/lib/docker
containerd    | containerd          | containerd.io containerd | /etc/containerd/config.toml | | /var/lib/containerd
ssh           | sshd                | openssh-server      | /etc/ssh/sshd_config | /var/log/auth.log /var/log/secure |
cron          | cron crond          | cron cronie         | /etc/crontab | /var/log/cron.log /var/log/cron |
postfix       | postfix             | postfix             | /etc/postfix/main.cf | /var/log/mail.log /var/log/maillog | /var/spool/postfix
dovecot       | dovecot             | dovecot-core dovecot | /etc/dovecot/dovecot.conf | /var/log/mail.log | /var/mail
bind          | named               | bind9 bind          | /etc/bind/named.conf /etc/named.conf | | /var/cache/bind
samba         | smbd                | samba               | /etc/samba/smb.conf | /var/log/samba | /var/lib/samba
php-fpm       | php-fpm php         | php-fpm             | /etc/php | |
gunicorn      | gunicorn            | gunicorn            | | |
home-assistant | hass home-assistant homeassistant | | /config/configuration.yaml | /config/home-assistant.log | /config
jellyfin      | jellyfin            | jellyfin jellyfin-server | /etc/jellyfin /config | /var/log/jellyfin /config/log | /var/lib/jellyfin
"""  # noqa: E501 - a table is read by its columns
_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?![0-9A-Fa-f]{6})[\w.+-]*")
_SUFFIX = re.compile(r"[-.]?\d+(?:\.\d+)*$")


@dataclass(frozen=True)
class KnownService:
    """A service, the packages that bring it, and the places where its files usually are."""

    name: str
    programs: frozenset[str]
    packages: tuple[str, ...]
    config: tuple[str, ...]
    logs: tuple[str, ...]
    data: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.config, *self.logs, *self.data)


def _read_row(row: str) -> KnownService:
    name, programs, *columns = (cell.split() for cell in row.split("|"))
    packages, config, logs, data = map(tuple, columns)
    return KnownService(name[0], frozenset(programs), packages, config, logs, data)


KNOWN = tuple(_read_row(row) for row in _TABLE.strip().splitlines())
_BY_PROGRAM = {program: known for known in KNOWN for program in known.programs}


def known_program(name: str) -> KnownService | None:
    """The service of a program; a version at the end of its name (php-fpm8.2) does not count."""
    folded = name.casefold().removesuffix(".service")
    return _BY_PROGRAM.get(folded) or _BY_PROGRAM.get(_SUFFIX.sub("", folded))


def known_image(image: str) -> KnownService | None:
    """The service of a container image, by the last part of its name."""
    return known_program(image_name(image))


def image_name(image: str) -> str:
    """`nginx` of `registry:5000/library/nginx:1.25@sha256:...`."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def image_version(image: str) -> str | None:
    """The version that a tag names; None for one such as `latest`, which names none."""
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    return tag if _VERSION.fullmatch(tag) else None
