"""Questions to MongoDB in its shell's own language: one chain of known calls on plain values."""

import re

from safety.commands.contents import refuse_lone_values
from safety.commands.refusal import Refused

# No word outside of quotes but the names of fields, so nothing that could be called or computed.
_TEXT = r"\"[^\"\\$`]*\"|'[^'\\$`]*'"
_FIELD = rf"(?:[A-Za-z_]\w*|\$(?:gte?|lte?|ne|eq|n?in|exists|and|or|not|size|type)\b|{_TEXT})\s*:"
_VALUE = rf"(?:{_TEXT}|-?\d+(?:\.\d+)?|true|false|null)"
# Never read in another way once it was read, so that no text takes long.
_LITERAL = rf"(?:\s|[\[\]{{}},]|{_FIELD}|{_VALUE})*+"
_CURSOR = rf"""(?:
    \.(?:limit|skip|batchSize|maxTimeMS)\(\s*\d+\s*\)
    |\.(?:sort|projection)\({_LITERAL}\)
    |\.(?:count|pretty|toArray|size|itcount|explain)\(\s*\)
)*+"""
_OF_COLLECTION = rf"""
    \.[A-Za-z_]\w*
    \.(?:find|findOne|count|countDocuments|estimatedDocumentCount|stats|dataSize
        |storageSize|totalSize|totalIndexSize|getIndexes|latencyStats|isCapped)
    \({_LITERAL}\){_CURSOR}
"""
_OF_SERVER = r"""
    (?:db(?:\.getMongo\(\))?
        \.(?:stats|serverStatus|currentOp|hello|isMaster|version|hostInfo|serverBuildInfo
            |getCollectionNames|getCollectionInfos|getName|getProfilingStatus|getReplicationInfo
            |printReplicationInfo|printSecondaryReplicationInfo|getDBNames)
    |rs\.(?:status|conf|config|hello|isMaster|printReplicationInfo|printSecondaryReplicationInfo)
    |sh\.(?:status|isBalancerRunning|getBalancerState)
    )\(\s*(?:\d+|true|false)?\s*\)
"""
_PARTS = r"(?:\.(?!constructor|__)[A-Za-z_]\w*|\[\d+\])*"
# The field of the answer that alone is printed.
_TAKEN = re.compile(r"\)((?:\.[A-Za-z_]\w*|\[\d+\])+)[\s);]*\Z")
_COMMAND = r"""
    db\.(?:adminCommand|runCommand)\(\s*\{\s*["']?
    (?:ping|serverStatus|replSetGetStatus|hello|isMaster|buildInfo|dbStats|listDatabases
        |connectionStatus|currentOp|hostInfo|top|getCmdLineOpts)
    ["']?\s*:\s*(?:1|true)\s*\}\s*\)
"""
_ASKED = rf"(?:db{_OF_COLLECTION}|{_OF_SERVER}{_PARTS}|{_COMMAND}{_PARTS})"
_QUESTION = re.compile(
    rf"\s*(?:{_ASKED}|(?:printjson|print|JSON\.stringify|EJSON\.stringify)\(\s*{_ASKED}\s*\)"
    r"|show\s+(?:dbs|databases|collections|tables))\s*;?\s*",
    re.VERBOSE,
)


def check_mongo(text: str) -> None:
    """Raises `Refused` unless the text is one question that is known, and names what it prints."""
    if not _QUESTION.fullmatch(text):
        raise Refused("this question to MongoDB is not known to be a read")
    taken = _TAKEN.search(text)
    if taken:
        refuse_lone_values([taken[1]])
    if taken and "getCmdLineOpts" in text:
        raise Refused("a part of the command line loses the option that names it: print all of it")
