"""Which files are never read out: keys, passwords, tokens, other processes' memory, our own state.

A path is judged as it is spelled, as it resolves and as each other mount of the same file has it,
so that neither `..` nor a symlink nor a bind mount leads around a rule. What a rule names is found
at any depth: `/host/etc/kubernetes` in a container is the host's. Matching ignores case: some file
systems do, too.
"""

import os
import re
import stat
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path

from safety.paths.mounts import find_other_paths, read_mounts
from safety.paths.powerful_paths import paths_from_inner_roots
from safety.word_lists import word_set

# A directory of this name, anywhere, holds secrets.
_SECRET_DIRECTORIES = word_set("""
    .ssh .gnupg .aws .azure .kube .docker .gcloud .password-store .vault .terraform.d .secrets
    secrets sudoers.d .mozilla .chromium .thunderbird keyrings gcloud google-chrome letsencrypt
    wireguard system-connections credstore credstore.encrypted
""")

# So does this entry of that directory.
_SECRET_ENTRIES = frozenset(
    tuple(entry.split("/"))
    for entry in word_set("""
        .config/gh .config/hub .config/op .config/rclone .subversion/auth .m2/settings.xml
        .gradle/gradle.properties .composer/auth.json .bundle/config
        dovecot/users dovecot/users.conf courier/userdb mail/authinfo postfix/sasl
        snmp/snmpd.conf snmp/snmptrapd.conf net-snmp/snmpd.conf nut/upsd.users nut/upsmon.conf
        freeradius/clients.conf raddb/clients.conf freeradius/users raddb/users mods-config/files
        corosync/authkey pacemaker/authkey booth/authkey racoon/psk.txt iscsi/iscsid.conf
        asterisk/manager.conf asterisk/sip.conf asterisk/pjsip.conf asterisk/voicemail.conf
        asterisk/iax.conf grafana/grafana.ini grafana/ldap.toml redis/users.acl valkey/users.acl
        rabbitmq/definitions.json nullmailer/remotes ssmtp/ssmtp.conf sssd/sssd.conf samba/private
        salt/pki puppet/ssl openldap/slapd.conf ldap/slapd.conf ldap/slapd.d openldap/slapd.d
        duo/pam_duo.conf duo/login_duo.conf vsftpd/virtual_users.txt vsftpd/login.txt iwd/main.conf
        bacula/bacula-dir.conf bacula/bacula-fd.conf bacula/bconsole.conf bareos/bareos-dir.d
        ejabberd/ejabberd.yml prosody/accounts znc/configs matrix-synapse/homeserver.yaml
        exim4/passwd.client squid/digest .vnc/passwd uucp/passwd uucp/call
    """)
)

_SECRET_TREES = tuple(
    tuple(tree.strip("/").split("/"))
    for tree in word_set("""
        /run/secrets /var/run/secrets /run/credentials /etc/ssl/private /etc/pki/tls/private
        /etc/kubernetes /etc/rancher /var/lib/rancher /var/lib/kubelet /var/lib/etcd
        /etc/pve/priv /var/lib/docker/swarm /var/lib/sss/secrets /etc/openvpn /etc/swanctl
        /etc/wpa_supplicant /sys/kernel/debug /sys/kernel/tracing /sys/kernel/security
        /sys/firmware/efi/efivars
    """)
)

_SECRET_NAMES = word_set("""
    shadow gshadow sudoers master.passwd opasswd passwd.tdb secrets.tdb ipsec.secrets
    chap-secrets pap-secrets tcp_fastopen_key .netrc _netrc .pgpass pgpass.conf .my.cnf
    .mylogin.cnf .npmrc .yarnrc.yml .pypirc .git-credentials .htpasswd htpasswd .dockercfg
    .dockerconfigjson .vault-token .envrc .bash_history .zsh_history .sh_history .history
    .python_history .psql_history .mysql_history .rediscli_history .node_repl_history .viminfo
    .lesshst .boto .s3cfg .msmtprc .fetchmailrc rclone.conf kubeconfig k3s.yaml
    terraform.tfstate wp-config.php authorized_keys known_hosts cookies cookies.sqlite key4.db
    logins.json config.v2.json user-data.txt debian.cnf sasl_passwd passwd.client .erlang.cookie
    settings-security.xml sasldb2 sasldb userlist.txt userdb.dat smbpasswd pureftpd.pdb
    authmysqlrc authpgsqlrc authldaprc hostapd.conf wpa_supplicant.conf eap_user hostapd.eap_user
    nslcd.conf ldap.secret pam_ldap.secret libnss-ldap.secret ddclient.conf inadyn.conf msmtprc
    esmtprc fetchmailrc turnserver.conf upsd.users proxysql.cnf ntp.keys ntpkeys .vault_pass
    vault_pass .smbcredentials smbcredentials .cifs authinfo .authinfo x11vnc.pass rndc.conf
    users.acl
""") | {"login data"}

_SECRET_SUFFIXES = tuple(
    word_set("""
        .key .ppk .p12 .pfx .jks .keystore .kdbx .keytab .kubeconfig .tfvars .ovpn .token
        .password .passwd .secret .secrets .credentials .pgpass .htpasswd .agekey .keyring
        .psk .wpa_psk .priv .privkey .keys .pwd .pwfile .shadow .conf.ext
    """)
)
# Lists of the accounts of a program: any file of such a name beside its settings.
_ACCOUNTS = re.compile(
    r"(?:.*[._-])?(?:passwd|passwds|passwdfile|passwd_file|password_file|pwfile|pwdb|userdb|psks?"
    r"|wpa_psk|preshared|htdigest|shadow)(?:[._-](?:db|txt|conf|cfg|list|file|map|json|yaml|yml))?"
)
_TABLES_OF_MAIL = re.compile(r"(?:.*[._-])?(?:mysql|pgsql|ldap|sql|sqlite)[\w.-]*\.(?:cf|ext)")
"""How a mail server asks a database, with its password."""
# Here a file of such a name is the account list of everybody, a program, or about one.
_NOT_OF_A_PROGRAM = word_set("""
    etc pam.d bin sbin libexec doc man man1 man5 man8 completions bash_completion.d locale
    cron.daily cron.hourly cron.weekly init.d log src
""")
_PUBLIC_PEM_TREES = (("etc", "ssl", "certs"), ("usr", "share"), ("usr", "lib"), ("usr", "local"))
_KEY_NAME = re.compile(r"^(?:ssh_host_.*_key|id_(?:rsa|dsa|ecdsa|ed25519)(?:[-_].*)?)$")
_ENV_NAME = re.compile(r"^(?:\.env(?:[.\-_].*)?|.*\.env)$")
_ENV_EXAMPLE = re.compile(r"\.(?:example|sample|template|dist)$")
_BACKUP_SUFFIX = re.compile(
    r"(?:~|-|\.(?:bak|backup|old|orig|save|swp|tmp|copy|\d+|gz|xz|bz2|zst|lz4|lzma|z|zip|tar|tgz|tbz2"
    r"|txz|7z|cpio|b64|base64|txt))$"
)
# The files that clouds hand out for an account of a program.
_CLOUD_KEY = re.compile(r"(?:.*[-_.])?service[-_]?account(?:[-_.].*)?\.json|\.terraformrc")
# Of each kind one name, to see whether a pattern finds it.
EXAMPLES_OF_SECRETS = (
    ".env",
    ".env.production",
    "id_rsa",
    "id_ed25519",
    "server.pem",
    *(f"server{suffix}" for suffix in _SECRET_SUFFIXES),
    *(name for name in sorted(_SECRET_NAMES) if "." not in name[1:]),
)
# A copy of one of these, named after where it comes from (`etc_shadow`).
_NAMED_COPY = re.compile(r"(?:.*[_-])?etc[_-](?:shadow|gshadow|sudoers)")

# Any file whose name has one of these words is a secret, unless its kind is code, prose or log.
_SECRET_WORDS = word_set("""
    password passwords passphrase secret secrets credential credentials token tokens apikey
    privatekey secretkey keyfile
""")
_WORD_PAIRS = frozenset({("private", "key"), ("secret", "key"), ("api", "key"), ("master", "key")})
_HARMLESS_SUFFIXES = word_set("""
    .py .pyc .pyi .c .h .cc .cpp .go .rs .js .mjs .ts .java .rb .sh .so .md .rst .html .css .log
    .pub .service .socket
""")

# What may be read of a process: figures, not memory, environment, arguments or open files.
_PROCESS_FILES = word_set("""
    status stat statm limits io sched schedstat cgroup oom_score oom_score_adj oom_adj comm
    wchan mounts mountinfo mountstats smaps_rollup loginuid sessionid uid_map gid_map cpuset
""")
_PROC_TOP_REFUSED = word_set("kcore kmem kmsg kallsyms keys key-users vmcore sysrq-trigger")

# Where files lie that may be linked from elsewhere, beside the trees above and what is protected.
_PLACES_OF_SECRETS = ("/etc", "/root", "/home", "/var/lib", "/opt", "/srv")
_MOST_ENTRIES = 50_000
_DEEPEST = 5


class SensitivePaths:
    """Judges paths of one machine. Of `protected` directories only `open_files` may be read."""

    def __init__(self, protected: Sequence[Path] = (), open_files: Sequence[Path] = ()) -> None:
        self._roots = tuple(map(str, protected))
        self._protected = tuple(
            _parts(spelling) for path in protected for spelling in _spellings(str(path))
        )
        # A link in the place of one of them leads to what is judged by itself.
        self._open = frozenset(
            str(directory / path.name)
            for path in open_files
            for directory in (path.parent, path.parent.resolve())
        )

    def reason(self, path: str) -> str | None:
        """Why this path must not be read, or None. Looks at the spelling and at the target."""
        for spelling in _spellings(path):
            reason = self._judge(spelling)
            if reason:
                return reason
        try:
            status = os.stat(path)  # noqa: PTH116 - a path may be any text
        except (OSError, ValueError):
            return None
        return self.reason_linked(status)

    def reason_linked(self, status: os.stat_result) -> str | None:
        """Why a file that has further names must not be read, by what one of these says."""
        if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
            return None
        trees = ["/" + "/".join(tree) for tree in _SECRET_TREES]
        for entry in _find_files([*self._roots, *trees, *_PLACES_OF_SECRETS]):
            # The number alone is told without a question to the file system.
            if entry.inode() != status.st_ino or (reason := self._judge(entry.path)) is None:
                continue
            known = entry.stat(follow_symlinks=False)
            if (known.st_dev, known.st_ino) == (status.st_dev, status.st_ino):
                return f"it is a password file under another name ({reason})"
        return None

    def reason_resolved(self, path: str) -> str | None:
        """As `reason`, for a path that is known to hold no link: no system call is made."""
        return self._judge(path)

    def is_protected(self, path: str) -> bool:
        """Whether it belongs to this product's own state, whatever way it is spelled."""
        return any(map(self._is_protected, _spellings(path)))

    def _judge(self, path: str) -> str | None:
        parts = _parts(path)
        if self._is_protected(path):
            return "it belongs to this product's own state"
        return (
            _judge_proc(parts) or _judge_directories(parts) or _judge_name(parts) if parts else None
        )

    def _is_protected(self, path: str) -> bool:
        if path in self._open:
            return False
        every = [_parts(each) for each in (path, *paths_from_inner_roots(path))]
        return any(
            parts[: len(protected)] == protected for parts in every for protected in self._protected
        )


def _find_files(roots: Iterable[str]) -> Iterator[os.DirEntry[str]]:
    """The files below these directories, as deep and as many as one look can afford."""
    left = _MOST_ENTRIES
    waiting = deque((root, 0) for root in dict.fromkeys(roots))
    while waiting and left > 0:
        directory, depth = waiting.popleft()
        with suppress(OSError), os.scandir(directory) as entries:
            for entry in islice(entries, left):
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    if depth < _DEEPEST:
                        waiting.append((entry.path, depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    yield entry


def _spellings(path: str) -> Iterable[str]:
    yield os.path.normpath(path)
    # realpath and not normpath of it: `link/..` is the parent of the link's target.
    real = os.path.realpath(path)
    yield real
    yield from find_other_paths(real, read_mounts())


def _parts(path: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", path).casefold()
    return tuple(part for part in folded.split("/") if part and part != ".")


def _judge_proc(parts: tuple[str, ...]) -> str | None:
    starts = (place for place, part in enumerate(parts) if part == "proc")
    reasons = (_judge_in_proc(parts[place:]) for place in starts)
    return next((reason for reason in reasons if reason), None)


def _judge_in_proc(parts: tuple[str, ...]) -> str | None:
    if len(parts) < 2:
        return None
    if parts[1] in _PROC_TOP_REFUSED:
        return "it exposes kernel memory or keys"
    if not (parts[1].isdigit() or parts[1] in ("self", "thread-self")):
        return None
    inner = parts[2:]
    while len(inner) >= 2 and inner[0] == "task":
        inner = inner[2:]
    if not inner or inner[0] == "net" or (inner[0] in _PROCESS_FILES and len(inner) == 1):
        return None
    return "of a process only its figures can be read (status, stat, limits, io, cgroup, ...)"


def _judge_directories(parts: tuple[str, ...]) -> str | None:
    for part in parts:
        if part in _SECRET_DIRECTORIES:
            return f"directories named {part} hold credentials"
    for entry in (*pairwise(parts), (*parts[-2:-1], _strip_backup_suffixes(parts[-1]))):
        if entry in _SECRET_ENTRIES:
            return f"{'/'.join(entry)} holds credentials"
    for tree in _SECRET_TREES:
        if any(parts[place : place + len(tree)] == tree for place in range(len(parts))):
            return f"/{'/'.join(tree)} holds credentials"
    return None


def _judge_name(parts: tuple[str, ...]) -> str | None:
    name = _strip_backup_suffixes(parts[-1])
    if name in _SECRET_NAMES or parts[-1] in _SECRET_NAMES or _KEY_NAME.match(name):
        return "files of this name hold credentials"
    if _NAMED_COPY.fullmatch(name) or _CLOUD_KEY.fullmatch(name):
        return "files of this name hold credentials"
    is_of_a_program = len(parts) > 1 and parts[-2] not in _NOT_OF_A_PROGRAM
    if is_of_a_program and (_ACCOUNTS.fullmatch(name) or _TABLES_OF_MAIL.fullmatch(name)):
        return "files of this name hold the accounts of a program"
    if _ENV_NAME.match(name) and not _ENV_EXAMPLE.search(name):
        return "environment files hold credentials"
    if name.endswith(_SECRET_SUFFIXES):
        return "files of this kind hold keys or passwords"
    if name.endswith(".pem") and not any(parts[: len(tree)] == tree for tree in _PUBLIC_PEM_TREES):
        return "files of this kind hold keys"
    if "pam.d" in parts:
        return None
    return "its name says that it holds a secret" if _name_says_secret(name) else None


def _name_says_secret(name: str) -> bool:
    stem, dot, suffix = name.rpartition(".")
    if stem and dot + suffix in _HARMLESS_SUFFIXES:
        return False
    words = [word for word in re.split(r"[^a-z0-9]+", name) if word]
    return bool(_SECRET_WORDS.intersection(words)) or any(
        pair in _WORD_PAIRS for pair in pairwise(words)
    )


def _strip_backup_suffixes(name: str) -> str:
    while True:
        stripped = _BACKUP_SUFFIX.sub("", name)
        if not stripped or stripped == name:
            return name
        name = stripped
