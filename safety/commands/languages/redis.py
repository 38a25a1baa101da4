"""Commands of Redis that only ask, and print whole values that no name calls secret."""

import fnmatch
import re

from safety.commands.contents import refuse_lone_values, refuse_parts
from safety.commands.grammar import Parsed
from safety.commands.refusal import Category, Refused
from safety.word_lists import word_set

_READS = word_set("""
    INFO PING DBSIZE GET MGET STRLEN GETRANGE TTL PTTL EXPIRETIME TYPE EXISTS KEYS SCAN
    RANDOMKEY HGET HMGET HGETALL HLEN HKEYS HEXISTS HSTRLEN HSCAN LLEN LRANGE LINDEX
    LPOS SCARD SMEMBERS SISMEMBER SMISMEMBER SRANDMEMBER SSCAN SINTER SUNION SDIFF ZCARD
    ZRANGE ZREVRANGE ZRANGEBYSCORE ZSCORE ZMSCORE ZCOUNT ZRANK ZREVRANK ZSCAN XLEN XRANGE
    XREVRANGE XPENDING BITCOUNT GETBIT GEOPOS GEODIST ROLE TIME LASTSAVE ECHO
    MONITOR SUBSCRIBE PSUBSCRIBE SSUBSCRIBE
""")
_SUBCOMMANDS = {
    "CLIENT": "LIST INFO ID GETNAME",
    "CONFIG": "GET",
    "SLOWLOG": "GET LEN",
    "LATENCY": "LATEST DOCTOR HISTORY HISTOGRAM",
    "MEMORY": "USAGE STATS DOCTOR MALLOC-STATS",
    "CLUSTER": "INFO NODES SLOTS SHARDS MYID KEYSLOT COUNTKEYSINSLOT",
    "COMMAND": "COUNT INFO DOCS LIST GETKEYS",
    "OBJECT": "ENCODING FREQ IDLETIME REFCOUNT",
    "PUBSUB": "CHANNELS NUMSUB NUMPAT SHARDCHANNELS SHARDNUMSUB",
    "ACL": "WHOAMI CAT",
    "MODULE": "LIST",
    "XINFO": "STREAM GROUPS CONSUMERS",
    "SENTINEL": "MASTERS MASTER REPLICAS SLAVES SENTINELS GET-MASTER-ADDR-BY-NAME CKQUORUM",
}
ENDLESS_COMMANDS = frozenset({"MONITOR", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"})
_SECRETS = (
    "requirepass",
    "masterauth",
    "masteruser",
    "tls-key-file-pass",
    "tls-client-key-file-pass",
)
_MODES = (
    "--scan",
    "--bigkeys",
    "--memkeys",
    "--hotkeys",
    "--stat",
    "--latency",
    "--latency-history",
    "--version",
)


# Each bit or byte of a value by its place.
_CUTTING = word_set("GETRANGE GETBIT BITCOUNT")
# What they print is named by their words.
_VALUES = word_set("""
    GET MGET HGET HMGET LRANGE LINDEX SMEMBERS SRANDMEMBER SSCAN SINTER SUNION SDIFF ZRANGE
    ZREVRANGE ZRANGEBYSCORE ZSCAN
""")
# Names and values by turns, which only numbers in front, or JSON, keep together.
_PAIRS = word_set("HGETALL HSCAN XRANGE XREVRANGE")


def check_redis(parsed: Parsed) -> None:
    """Raises `Refused` unless the command asks, and the values it prints are whole and named."""
    if not parsed.words:
        if parsed.has(*_MODES):
            return
        raise Refused("without a command it waits for input", Category.INTERACTIVE_REPL)
    if any(re.match(r"-[^\d.]", word) for word in parsed.words):
        raise Refused("an option stands behind the command")
    command, *rest = (word.upper() for word in parsed.words)
    if command in _READS:
        _check_values(command, parsed)
        return
    known = _SUBCOMMANDS.get(command, "").split()
    if not rest or rest[0] not in known:
        raise Refused(f"the command {command} is not known to be a read")
    if command == "CONFIG":
        for pattern in parsed.words[2:]:
            # Of the other marks the server's patterns are not those of this language.
            is_plain = re.fullmatch(r"[\w*?-]+", pattern)
            if not is_plain or any(fnmatch.fnmatch(n, pattern.lower()) for n in _SECRETS):
                raise Refused("this pattern covers passwords")


def _check_values(command: str, parsed: Parsed) -> None:
    if command in _CUTTING and (command != "BITCOUNT" or len(parsed.words) > 2):
        raise refuse_parts(f"the command {command}")
    if command in _PAIRS and parsed.has("--raw", "--csv"):
        raise Refused("the names of fields could not be told apart from their values")
    if command in _VALUES:
        refuse_lone_values(parsed.words[1:])
