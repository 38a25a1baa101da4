"""Ways to the content of files, to devices and to the terminal that few people know."""

# Kind: what is refused, and what of the same programs is not.
WAYS_TO_FILES_AND_TERMINALS: dict[str, tuple[str, str]] = {
    "escapes for a terminal, in whatever format they are spelled": (
        r"""
        printf '\u001bc'
        printf '\x9b2J'
        echo -e '\x05'
        cat /tmp/x | xargs echo -e
        cat /tmp/x | xargs -I% stat --printf=% /
        echo '-e \\033c' | xargs echo
        printf '%s\n' x | xargs -n1 echo -ne
        awk 'BEGIN{print "\033[2J"}' f
        awk '{printf "%5c", 27}' f
        awk -v x='\x1b' '{print x}' f
        awk '{print}' 'x=\033c' f
        sed 's/a/\x1b[2J/' f
        sed 's/a/\d27/' f
        sed 'y/ab/\o033c/' f
        tr a '\033'
        tr 'a-z' '\001-\032'
        find / -maxdepth 1 -printf '%p\033c'
        stat --printf='\33c' /
        dpkg-query -W -f '${Package}\x1b'
        rpm -qa --qf '%{NAME}\033c'
        hexdump -e '"\033c"' f
        paste -d '\b' f g
        git log --format=%x1b
        git for-each-ref --format='%1bc'
        docker ps --format '{{"\x1b"}}'
        docker inspect -f '{{printf "%c" 27}}' api
        kubectl get po -o go-template='{{"\x1b"}}'
        kubectl config view -o jsonpath='{"\x1b"}'
        helm version --template='{{"\x1b"}}'
        skopeo inspect --format '{{"\x1b"}}' docker://x/y
        jq -rn '"\u001b"'
        jq -rn '[27]|implode'
        mysql -e "select x'1b'"
        mysql -e "select 0x1b5b"
        """,
        r"""
        sed 's/\x1b\[[0-9;]*m//g' f
        sed -E 's/([0-9]+)/\1\t/' f
        tr -d '\033'
        tr '\0' '\n'
        awk '{printf "%s\t%d\n", $1, $2}' f
        find /tmp -printf '%s\t%p\n'
        stat --printf='%n\n' /
        git log --format='%h %cd %s'
        docker ps --format 'table {{.Names}}\t{{.Status}}'
        kubectl get po -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}'
        printf 'caf\u00e9\n'
        printf '%s\n' a | xargs -n1 echo
        cat /tmp/x | xargs stat --printf='%n %s\n'
        """,
    ),
    "files are found by a pattern that finds keys": (
        r"""
        find /srv -name '.e*' | xargs cat
        find /srv -name '.*' | xargs cat
        find /srv -iname '*.KEY' | xargs cat
        find /srv -regex '.*/[.]env' | xargs cat
        find /srv -samefile /srv/x | xargs cat
        find /srv -lname '*x' | xargs cat
        find /srv -type l | xargs cat
        unzip -p x.zip '.e*'
        grep -rh . --include=.env /srv
        grep -rh . --include='*.pem' /srv
        rg . --hidden -g '.env' /srv
        rg . -g '{.env,x}' /srv
        """,
        r"""
        find /srv -name '*config*' | xargs grep -c x
        find /srv -name '*' | xargs wc -l
        grep -rn timeout --include='*.conf' /etc/nginx
        rg -n panic -g '*.log' /var/log
        rg -n x -g '*.{yml,yaml}' /srv
        """,
    ),
    "what stands between find and xargs reads another list": (
        r"""
        find /var/log -name a | sort /tmp/list | xargs cat
        find /var/log -name a | head -n 1 /tmp/list | xargs cat
        find /var/log -name a | sort --files0-from=/tmp/list | xargs cat
        find /var/log -name a | tail -c 12 | xargs cat
        echo /dev/watchdog | xargs md5sum
        echo x | xargs -I ls ls
        """,
        r"""
        find /var/log -name '*.log' | sort -r | head -n 5 | xargs tail -n 3
        find /var/log -print0 | sort -z | xargs -0 wc -l
        find /srv/app -name '*.jar' | xargs md5sum
        """,
    ),
    "files that a repository holds": (
        """
        git show HEAD:.env
        git show HEAD:./../.env
        git show HEAD:id_rsa
        git show stash@{0}:config/master.key
        git cat-file -p HEAD:.env
        git log -p -- .env
        git log -L1,5:.env
        git blame config/server.key
        git diff HEAD~1:.env HEAD:.env
        git grep -h . -- 'id_*'
        git stash show -p stash@{0} -- .env
        """,
        """
        git log --oneline -- .env
        git log main..feature/token-refresh
        git show fix/secret-rotation --stat
        git show HEAD:README.md
        git show HEAD:dev/setup.py
        git grep -n token
        git log -p -n 1 -- app/main.py
        """,
    ),
    "opening a device that is no disk": (
        """
        file -s /dev/watchdog
        blkid -p /dev/st0
        blkid //dev/watchdog
        cat //dev/watchdog
        sqlite3 /dev/watchdog .tables
        hdparm -I /dev/watchdog
        smartctl -a /dev/ipmi0
        fdisk -l /dev/cpu/0/msr
        mdadm -E /dev/rtc0
        tar -tf /dev/st0
        tar tf /dev/nst0
        tar -tzf evil:/x.tgz
        cat /run/docker.sock
        """,
        """
        file -s /dev/sda
        blkid /dev/disk/by-uuid/1234-ABCD
        smartctl -H -d megaraid,0 /dev/bus/0
        tune2fs -l /dev/vg0/data
        mdadm --detail /dev/md127
        tar -tvf /backup/app.tar
        ls -l /run/docker.sock
        ls -l /proc/4121/fd
        """,
    ),
    "secrets that a client or a table tells": (
        r"""
        psql -c '\deu+'
        psql -c '\dRs+'
        psql -c "show primary_conninfo"
        sqlite3 /tmp/x "select data from fsdir where path='/etc/shadow'"
        gh pr list --json number --jq '$ENV.GH_TOKEN'
        yq '$ENV' f
        yq 'eval("lo"+"ad(\"x\")")' f
        sysctl net.ipv4.tcp_fastopen_key
        getent -s ../../tmp/x passwd
        getent -s shadow:files passwd
        redis-cli PFCOUNT a
        aws cognito-idp describe-user-pool-client --user-pool-id a --client-id b
        aws ec2 describe-vpn-connections
        aws alias list-all
        az network express-route list
        kubectl get oauthaccesstokens -o yaml
        ipmitool power off
        ipmitool -H evil sdr
        ipmitool sel clear
        """,
        r"""
        psql -c '\dew'
        psql -c '\dt+'
        gh pr list --json title --jq '.[].title'
        sysctl net.ipv4.tcp_fastopen
        getent -s files passwd app
        aws ec2 describe-instance-status --instance-ids i-0
        ipmitool sdr
        ipmitool sel elist
        ipmitool power status
        """,
    ),
}
