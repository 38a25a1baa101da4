import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.server import build_server
from ops.settings import PROJECT_ROOT, OpsSettings, product_directories
from safety.commands import prove
from safety.paths.sensitive_paths import SensitivePaths
from tests.cases import for_each
from tests.ops.calls import call_tool

pytestmark = pytest.mark.slow

CANARY = "canary-7f3a"

SECRETS = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d/90-cloud",
    "/root/.ssh/id_ed25519",
    "/root/.ssh/config",
    "/home/a/.aws/credentials",
    "/home/a/.kube/config",
    "/home/a/.config/gcloud/application_default_credentials.json",
    "/home/a/.azure/msal_token_cache.json",
    "/home/a/.docker/config.json",
    "/home/a/.netrc",
    "/home/a/.pgpass",
    "/home/a/.bash_history",
    "/home/a/.config/gh/hosts.yml",
    "/home/a/.m2/settings.xml",
    "/etc/mysql/debian.cnf",
    "/var/lib/docker/containers/0a1b/config.v2.json",
    "/var/lib/cloud/instance/user-data.txt",
    "/etc/postfix/sasl_passwd",
    "/etc/ceph/ceph.client.admin.keyring",
    "/var/lib/rabbitmq/.erlang.cookie",
    "/srv/app/.env",
    "/srv/app/.env.production",
    "/srv/app/prod.env",
    "/srv/app/config/secrets.yml",
    "/srv/app/db_password.txt",
    "/srv/app/admin-password",
    "/srv/app/api_token",
    "/srv/app/private_key",
    "/srv/app/server.key",
    "/srv/app/server.pem",
    "/srv/app/server.key.bak",
    "/srv/app/terraform.tfstate.backup",
    "/etc/ssl/private/ssl-cert-snakeoil.key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/kubernetes/admin.conf",
    "/etc/letsencrypt/live/a/privkey.pem",
    "/etc/wireguard/wg0.conf",
    "/etc/NetworkManager/system-connections/home.nmconnection",
    "/run/secrets/kubernetes.io/serviceaccount/token",
    "/var/run/secrets/db",
    "/var/lib/docker/overlay2/abc/merged/etc/shadow",
    "/var/lib/rancher/k3s/server/token",
    "/proc/self/environ",
    "/proc/1/environ",
    "/proc/1/mem",
    "/proc/1/cmdline",
    "/proc/1/root/srv/data",
    "/proc/1/cwd/data",
    "/proc/1/fd/3",
    "/proc/1/task/1/environ",
    "/proc/self/task/1/root/srv/data",
    "/proc/thread-self/environ",
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/kallsyms",
    "/sys/kernel/debug/tracing/trace_pipe",
    "/host/etc/shadow",
    "/rootfs/root/.ssh/id_rsa",
    "/host/etc/kubernetes/admin.conf",
    "/mnt/sysroot/var/lib/kubelet/config",
    "/host/proc/1/environ",
    "/etc/dovecot/users",
    "/etc/dovecot/passwd",
    "/etc/dovecot/passwd.db",
    "/etc/dovecot/dovecot-sql.conf.ext",
    "/etc/postfix/mysql-virtual-mailboxes.cf",
    "/etc/postfix/ldap-aliases.cf",
    "/etc/postfix/sasl/smtpd.conf",
    "/etc/sasldb2",
    "/etc/mail/authinfo",
    "/etc/courier/userdb",
    "/etc/exim4/passwd.client",
    "/etc/ssmtp/ssmtp.conf",
    "/etc/nullmailer/remotes",
    "/etc/zabbix/zabbix_agentd.psk",
    "/var/lib/iwd/Home.psk",
    "/etc/hostapd/hostapd.wpa_psk",
    "/etc/hostapd/hostapd.conf",
    "/etc/racoon/psk.txt",
    "/etc/ipsec.secrets",
    "/etc/stunnel/psk.txt",
    "/etc/snmp/snmpd.conf",
    "/etc/snmp/snmptrapd.conf",
    "/var/lib/snmp/snmpd.conf",
    "/var/lib/net-snmp/snmpd.conf",
    "/etc/mosquitto/passwd",
    "/etc/mosquitto/pwfile",
    "/etc/squid/passwd",
    "/etc/subversion/passwd",
    "/etc/pgbouncer/userlist.txt",
    "/etc/nut/upsd.users",
    "/etc/freeradius/3.0/users.passwd",
    "/etc/freeradius/clients.conf",
    "/etc/corosync/authkey",
    "/etc/samba/smbpasswd",
    "/root/.vnc/passwd",
    "/root/.smbcredentials",
    "/etc/chrony/chrony.keys",
    "/etc/ntp.keys",
    "/etc/tinc/vpn/rsa_key.priv",
    "/etc/sssd/sssd.conf",
    "/etc/asterisk/pjsip.conf",
    "/etc/redis/users.acl",
    "/etc/ddclient.conf",
    "/etc/iscsi/iscsid.conf",
    "/host/etc/dovecot/users",
    "/etc/dovecot/users.bak",
)
ORDINARY = (
    "/etc/os-release",
    "/etc/passwd",
    "/etc/hosts",
    "/etc/fstab",
    "/etc/nginx/nginx.conf",
    "/etc/pam.d/common-password",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/certs/root.pem",
    "/etc/ssh/sshd_config",
    "/proc/meminfo",
    "/proc/1/status",
    "/proc/self/limits",
    "/proc/1/task/1/stat",
    "/proc/net/dev",
    "/proc/sys/vm/swappiness",
    "/var/log/syslog",
    "/var/log/auth.log.1",
    "/var/log/token-service.log",
    "/usr/lib/python3.11/secrets.py",
    "/srv/app/keyboard.yml",
    "/srv/app/.env.example",
    "/host/etc/passwd",
    "/etc/passwd-",
    "/usr/bin/passwd",
    "/etc/pam.d/passwd",
    "/etc/cron.daily/passwd",
    "/usr/share/doc/passwd/changelog",
    "/etc/dovecot/dovecot.conf",
    "/etc/postfix/main.cf",
    "/etc/postfix/master.cf",
    "/etc/snmp/snmp.conf",
    "/etc/chrony/chrony.conf",
    "/etc/redis/redis.conf",
    "/var/log/dovecot.log",
    "/srv/app/users.py",
    "/srv/app/users.csv",
    "/etc/mysql/my.cnf",
    "/srv/app/sql/orders.sql",
    "/sys/fs/cgroup/memory.max",
)


@for_each(SECRETS)
def test_secret_is_refused(path):
    assert SensitivePaths().reason(path)


@for_each(ORDINARY)
def test_ordinary_file_is_not_refused(path):
    assert SensitivePaths().reason(path) is None


@st.composite
def _respelled(draw):
    """A secret's path with detours, doubled slashes, other case and ways over /proc."""
    parts = draw(st.sampled_from(SECRETS)).strip("/").split("/")
    spelled = []
    for part in parts:
        detours = draw(st.lists(st.sampled_from([".", "", "nowhere/..", "a/b/../.."]), max_size=3))
        letters = [draw(st.sampled_from([c.lower(), c.upper()])) for c in part]
        spelled += [*detours, "".join(letters)]
    before = draw(
        st.sampled_from(["", "/proc/self/root", "/proc/1/root", f"/proc/{os.getpid()}/root", "/.."])
    )
    return f"{before}/{'/'.join(spelled)}"


@given(_respelled())
def test_no_spelling_of_a_secret_is_let_through(path):
    assert SensitivePaths().reason(path)


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """Secrets of many kinds, and links to them: direct, in chains, to parents, relative."""
    root = tmp_path_factory.mktemp("tree")
    for place in (".ssh/config", ".env", "var/postgres/password", "deep/.kube/config", "x.key"):
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(CANARY)
    (root / "links").mkdir()
    for name, target in {
        "a": root / ".ssh" / "config",
        "b": "a",
        "c": "../.env",
        "d": root / "var",
        "e": root / "var" / "postgres",
        "f": root,
        "g": "../deep",
        "h": f"/proc/self/root{root}/.env",
        "i": "/proc/self/cwd",
        "j": root / "x.key",
    }.items():
        (root / "links" / name).symlink_to(target)
    return root


TRICKS = (
    "links/a",
    "links/b",
    "links/c",
    "links/d/postgres/password",
    "links/e/password",
    "links/f/.env",
    "links/f/links/f/links/a",
    "links/g/.kube/config",
    "links/h",
    "links/j",
    "links/g/../.env",
    "links/e/../../.env",
    "links/e/../postgres/password",
    "links/../links/./f//var/postgres/password",
    "./deep/../.ssh/../.ssh/config",
    "VAR/postgres/password",
)


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("action", ["file", "tail", "find"])
async def test_no_link_or_detour_reads_a_secret(call_tree, tree, trick, action):
    reply = await call_tree(action, f"{tree}/{trick}")

    assert not reply["ok"]
    assert CANARY not in str(reply)


@pytest.fixture
def call_tree(tree):
    server = build_server(OpsSettings(protected=(tree / "var",)))

    async def read(action: str, path: str):
        return await call_tool(server, "read", {"action": action, "path": path})

    return read


async def test_find_does_not_walk_into_directories_of_secrets(call_tree, tree):
    reply = await call_tree("find", str(tree))

    found = [match["path"] for match in reply["data"]["matches"]]
    assert str(tree / "deep") in found
    assert not [path for path in found if ".ssh" in path or ".kube" in path or "/var/" in path]
    assert reply["data"]["sensitive_left_out"] > 0


async def test_hard_link_to_the_password_file_is_refused(call, tmp_path, monkeypatch):
    secret, innocent = tmp_path / "shadow", tmp_path / "notes.txt"
    secret.write_text(CANARY)
    innocent.hardlink_to(secret)
    monkeypatch.setattr("safety.paths.sensitive_paths._PLACES_OF_SECRETS", (str(tmp_path),))

    reply = await call("read", action="file", path=str(innocent))

    assert reply["error"]["code"] == "POLICY_BLOCKED"


@pytest.mark.parametrize(
    "name", [".ssh/id_rsa", "etc/shadow", "app/.env", "dovecot/users", "etc/ssl/private/x.key"]
)
def test_no_command_reads_a_secret_by_another_name_of_the_same_file(name, tmp_path, monkeypatch):
    secret, innocent = tmp_path / name, tmp_path / "notes.txt"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text(CANARY)
    innocent.hardlink_to(secret)
    monkeypatch.setattr("safety.paths.sensitive_paths._PLACES_OF_SECRETS", (str(tmp_path),))

    proof = prove(f"cat {innocent}")

    assert not proof.is_read
    assert "under another name" in proof.reason


def test_what_belongs_to_the_product_has_no_other_name_that_is_read(tmp_path):
    state, innocent = tmp_path / "Var", tmp_path / "notes.txt"
    state.mkdir()
    (state / "data").write_text(CANARY)
    innocent.hardlink_to(state / "data")

    assert SensitivePaths([state]).reason(str(innocent))


def test_a_file_with_two_harmless_names_is_read(tmp_path, monkeypatch):
    one, other = tmp_path / "app.log", tmp_path / "app.log.1"
    one.write_text("x")
    other.hardlink_to(one)
    monkeypatch.setattr("safety.paths.sensitive_paths._PLACES_OF_SECRETS", (str(tmp_path),))

    assert SensitivePaths().reason(str(one)) is None


async def test_link_swapped_in_after_the_first_look_reads_nothing(call, tmp_path, monkeypatch):
    (tmp_path / ".env").write_text(CANARY)
    (tmp_path / "swapped").mkdir()
    (tmp_path / "swapped" / "data").write_text("harmless")
    resolve = os.path.realpath

    def swap_after_looking(path, **options):
        resolved = resolve(path, **options)
        if str(path).endswith("/swapped/data"):
            (tmp_path / "swapped" / "data").unlink(missing_ok=True)
            (tmp_path / "swapped" / "data").symlink_to(tmp_path / ".env")
        return resolved

    monkeypatch.setattr("ops.files.os.path.realpath", swap_after_looking)

    reply = await call("read", action="file", path=str(tmp_path / "swapped" / "data"))

    assert not reply["ok"]
    assert CANARY not in str(reply)


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\nBBBB\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize("action", ["file", "tail"])
@pytest.mark.parametrize("arguments", [{}, {"grep": "A|B"}, {"start_line": 3}, {"lines": 3}])
async def test_private_key_within_a_text_is_left_out(call, tmp_path, action, arguments):
    (tmp_path / "notes.txt").write_text(f"before\n{KEY}after\n")

    reply = await call("read", action=action, path=str(tmp_path / "notes.txt"), **arguments)

    assert reply["ok"]
    assert "AAAA" not in str(reply)
    assert "BBBB" not in str(reply)


async def test_text_around_a_private_key_stays(call, tmp_path):
    (tmp_path / "notes.txt").write_text(f"before\n{KEY}after\n")

    reply = await call("read", action="file", path=str(tmp_path / "notes.txt"))

    assert reply["data"]["content"] == "before\n[private key left out]\nafter"


async def test_tail_that_starts_within_a_private_key_is_refused(call, tmp_path, monkeypatch):
    monkeypatch.setattr("ops.files._MAX_LINE_BYTES", 60)
    (tmp_path / "notes.txt").write_text(f"before\n{KEY}after\n")

    reply = await call("read", action="tail", path=str(tmp_path / "notes.txt"), lines=1)

    assert reply["error"]["code"] == "POLICY_BLOCKED"


def test_code_in_the_root_directory_does_not_hide_the_logs(monkeypatch):
    monkeypatch.setattr("ops.settings.PROJECT_ROOT", Path("/"))
    monkeypatch.setenv("TARSY_VAR_DIR", "/srv/state")

    assert product_directories() == (Path("/srv/state"),)


async def test_state_of_the_product_is_refused(call, tmp_path):
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "settings.txt").write_text(CANARY)

    reply = await call("read", action="file", path=str(tmp_path / "var" / "settings.txt"))

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert reply["error"]["blocked"] is True


def test_the_product_that_is_kept_safe_is_this_checkout():
    assert (PROJECT_ROOT / "manage.py").is_file()
    assert PROJECT_ROOT / "var" in product_directories()
