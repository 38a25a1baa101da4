# ruff: noqa: E501  # what tools print is as long as it is
"""Faults of one host by kind, beyond those of the halves, each with words that are right to say.

The words were written down before any rule saw them.
"""

from tests.rules.host_scenarios import Host, Scenario, failing, kernel

_CHECKOUT = {"alertname": "ServiceDown", "service": "checkout"}
_SLOW = {"alertname": "HighLatency", "service": "checkout"}
_WAITS = {"waiting": 71.0, "io": 80.0, "load": 19.0}

KINDS = (
    Scenario("a disk of SATA does not answer", Host(load=_WAITS, commands=kernel("ata1.00: exception Emask 0x0 SAct 0x7 SErr 0x0 action 0x6 frozen", "ata1.00: failed command: WRITE FPDMA QUEUED", "ata1: hard resetting link")), alert={"alertname": "HostIoSlow"}, words=("ata1",)),
    Scenario("a disk of SCSI is taken offline", Host(commands=kernel("sd 2:0:0:0: [sdb] tag#12 timing out command, waited 180s", "sd 2:0:0:0: rejecting I/O to offline device")), alert={"alertname": "HostWritesFail"}, words=("sdb|2:0:0:0",)),
    Scenario("a thin pool is full", Host(commands=kernel("device-mapper: thin: 253:2: switching pool to out-of-data-space (queue IO) mode")), alert={"alertname": "HostWritesFail"}, words=("253:2|thin|pool", "space|room")),
    Scenario("a share of CIFS does not answer", Host(load={"waiting": 40.0, "load": 12.0}, commands=kernel("CIFS: VFS: \\\\nas-2 has not responded in 180 seconds. Reconnecting...")), alert={"alertname": "HostHighLoad"}, words=("nas-2|CIFS",)),
    Scenario("a target of iSCSI is lost", Host(load={"waiting": 60.0, "io": 60.0, "load": 12.0}, commands=kernel("connection1:0: detected conn error (1022)", "session1: session recovery timed out after 120 secs")), alert={"alertname": "HostIoSlow"}, words=("session1|connection1|iscsi",)),
    Scenario("a graphics card has fallen off", Host(commands=kernel("NVRM: Xid (PCI:0000:3b:00): 79, pid=811, GPU has fallen off the bus.")), alert={"alertname": "GpuNotAvailable"}, words=("GPU|Xid|fallen",)),
    Scenario("sockets have no memory", Host(commands=kernel("TCP: out of memory -- consider tuning tcp_mem")), alert={"alertname": "HostNetworkErrors"}, words=("tcp_mem|memory",)),
    Scenario("an address is used twice", Host(commands=kernel("IPv6: eth0: IPv6 duplicate address fe80::1 used by 00:11:22:33:44:55 detected!", "systemd-networkd: detected duplicate address 10.0.0.5")), alert={"alertname": "HostNetworkErrors"}, words=("duplicate",)),
    Scenario("a bond has lost both links", Host(commands=kernel("bond0: (slave eth1): link status definitely down, disabling slave", "bond0: now running without any active interface!")), alert={"alertname": "HostNetworkErrors"}, words=("bond0|eth1",)),
    Scenario("a unit runs out of ports", Host(commands=failing("checkout.service", "dial tcp 10.0.0.7:5432: connect: cannot assign requested address", flapping=True)), alert=_CHECKOUT, words=("checkout", "assign|ports")),
    Scenario("a unit takes too long to start", Host(commands=failing("checkout.service", "checkout.service: start operation timed out. Terminating.\ncheckout.service: Failed with result 'timeout'.")), alert=_CHECKOUT, words=("checkout", "time")),
    Scenario("a user of a unit is not there", Host(commands=failing("checkout.service", "checkout.service: Failed to determine user credentials: No such process\ncheckout.service: Failed at step USER spawning /opt/checkout/run: No such process\ncheckout.service: Main process exited, code=exited, status=217/USER")), alert=_CHECKOUT, words=("checkout", "user|217")),
    Scenario("a directory of a unit is not there", Host(commands=failing("checkout.service", "checkout.service: Changing to the requested working directory failed: No such file or directory\ncheckout.service: Failed at step CHDIR spawning /opt/checkout/run: No such file or directory\ncheckout.service: Main process exited, code=exited, status=200/CHDIR")), alert=_CHECKOUT, words=("checkout", "directory|CHDIR")),
    Scenario("what a unit needs has failed", Host(commands=failing("checkout.service", "Dependency failed for Checkout of the shop.\ncheckout.service: Job checkout.service/start failed with result 'dependency'.")), alert=_CHECKOUT, words=("checkout", "depend")),
    Scenario("an environment file is not there", Host(commands=failing("checkout.service", "checkout.service: Failed to load environment files: No such file or directory\ncheckout.service: Failed to run 'start' task: No such file or directory")), alert=_CHECKOUT, words=("checkout", "environment")),
    Scenario("the heap of a unit is used up", Host(commands=failing("checkout.service", "java.lang.OutOfMemoryError: Java heap space", flapping=True)), alert=_CHECKOUT, words=("checkout", "heap|memory")),
    Scenario("a quota of a user is used up", Host(commands=failing("checkout.service", "write /home/shop/cache: disk quota exceeded", flapping=True)), alert=_CHECKOUT, words=("checkout", "quota")),
    Scenario("a policy of SELinux refuses", Host(commands=failing("checkout.service", "open /opt/checkout/data.db: Permission denied")), alert=_CHECKOUT, words=("checkout", "denied")),
    Scenario("a unit has no more memory to fork", Host(commands=failing("checkout.service", "fork: Cannot allocate memory", flapping=True)), alert=_CHECKOUT, words=("checkout", "memory")),
    Scenario("a port below 1024 is not allowed", Host(commands=failing("checkout.service", "listen tcp :443: bind: permission denied")), alert=_CHECKOUT, words=("checkout", "443|denied")),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    Scenario("a file server was away and is back", Host(commands=kernel("nfs: server nas-1 not responding, still trying", "nfs: server nas-1 OK")), alert=_SLOW),
    Scenario("a link of SATA came up", Host(commands=kernel("ata1: SATA link up 6.0 Gbps (SStatus 133 SControl 300)")), alert=_SLOW),
    Scenario("a corrected error of the bus", Host(commands=kernel("pcieport 0000:00:1c.0: AER: Corrected error message received from 0000:01:00.0")), alert=_SLOW),
)  # fmt: skip
