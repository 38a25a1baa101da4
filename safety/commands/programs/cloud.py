"""Command line clients of clouds. Their verbs say what they do; everything else is refused."""

import re
from itertools import pairwise

from safety.commands.languages.queries import (
    check_gcloud_format,
    check_jmespath,
    values_of,
    without_query,
)
from safety.commands.policy import Group, Proving, Table, Wrapper, reads
from safety.commands.program_traits import ProgramTraits
from safety.commands.refusal import Refused
from safety.word_lists import word_set

# The address of a queue is its name, which is not loaded.
_QUEUE = re.compile(r"--queue-url https://(?:[a-z0-9-]+\.)*amazonaws\.com(?:\.cn)?/\d+/[\w.-]+")
_PLAIN = re.compile(r"[\w.-]+")
# Options of aws that send the request elsewhere, load files, or take a whole request from outside.
_AWS_REFUSED = (
    "--endpoint-url",
    "--ca-bundle",
    "--no-verify-ssl",
    "--cli-input-json",
    "--cli-input-yaml",
    "--cli-binary-format",
    "--debug",
    "--with-decryption",
    "--outfile",
    "--include-credentials",
    "--cli-auto-prompt",
)
_AWS_GETS = word_set("""
    get-caller-identity get-metric-statistics get-metric-data get-log-events
    get-log-group-fields get-queue-attributes get-queue-url get-topic-attributes get-policy
    get-role get-user get-group get-account-summary get-bucket-location get-bucket-policy
    get-bucket-policy-status get-bucket-versioning get-bucket-acl get-bucket-tagging
    get-bucket-logging get-bucket-encryption get-bucket-lifecycle-configuration
    get-bucket-replication get-public-access-block get-hosted-zone get-health-check
    get-health-check-status get-pipeline get-pipeline-state get-deployment
    get-cost-and-usage get-dashboard get-instance-profile get-role-policy get-policy-version
    get-service-quota get-function-concurrency
""")
_AWS_VERB = re.compile(r"(?:describe|list|lookup|head)-[a-z0-9-]+")
# What these services describe and list was looked at; another name could be an alias, too.
_AWS_SERVICES = word_set("""
    acm amp application-autoscaling athena autoscaling backup batch budgets ce cloudformation
    cloudfront cloudtrail cloudwatch codebuild codedeploy codepipeline config configservice
    cognito-idp directconnect dms docdb dynamodb ebs ec2 ecr ecs efs eks elasticache
    elasticbeanstalk elb elbv2 emr es events firehose fsx glacier globalaccelerator glue grafana
    guardduty health iam inspector2 kafka kinesis kms lambda lightsail logs memorydb mq neptune
    network-firewall opensearch organizations pi pipes rds redshift resource-groups
    resourcegroupstaggingapi route53 route53domains route53resolver s3api s3control scheduler
    secretsmanager securityhub service-quotas servicediscovery ses sesv2 shield sns sqs ssm
    stepfunctions sts support timestream-query transfer vpc-lattice waf wafv2 workspaces xray
    apigateway apigatewayv2 appsync autoscaling-plans compute-optimizer
""")
# Keys, passwords, and the scripts that set a machine up with them, in what would be described.
_AWS_SECRETS = re.compile(
    r".*(?:credential|password|secret-?value|api-?key|token|user-pool-client|identity-provider"
    r"|vpn-connection|virtual-interface|launch-template-version|launch-configuration"
    r"|spot-instance-request|spot-fleet|instance-attribute|configuration-settings).*"
)
_GCLOUD_THINGS = word_set("""
    instances disks networks subnets firewall-rules zones regions addresses images snapshots
    routes forwarding-rules backend-services health-checks instance-groups managed
    instance-templates machine-types clusters node-pools operations databases topics
    subscriptions roles service-accounts sinks metrics logs managed-zones record-sets
    buckets services revisions functions projects target-pools url-maps ssl-certificates
    versions organizations folders quotas configurations accounts jobs repositories
""")
_GCLOUD_GROUPS = word_set("""
    compute container projects services run sql pubsub functions iam logging monitoring dns
    storage config auth artifacts organizations redis beta alpha
""")
_GCLOUD_OPTION = re.compile(
    r"--(?:project|zone|zones|region|regions|format|filter|limit|sort-by|page-size|location|cluster"
    r"|instance|freshness|order|uri|quiet|verbosity|all|uri|instances|global|service|topic)(?:=.*)?",
    re.DOTALL,
)
_AZ_GROUPS = word_set("""
    vm vmss aks group account resource network monitor storage webapp functionapp sql
    postgres mysql redis acr disk snapshot image identity role policy lock cosmosdb
    eventhubs servicebus appservice container containerapp provider deployment
""")
_AZ_VERBS = word_set("""
    list show get-instance-view list-ip-addresses list-usage list-skus list-sizes get-upgrades
    get-versions
""")
_AZ_OPTION = re.compile(
    r"-g|-n|-o|-l|-d|--(?:resource-group|name|output|query|subscription|show-details|ids|location"
    r"|resource-type|resource|metric|interval|start-time|end-time|offset|aggregation|server|vnet-name"
    r"|namespace|nsg-name|lb-name|route-table-name|zone-name|account-name|cluster-name|all|tag|assignee|scope|filter|status|max-events)(?:=.*)?",
    re.DOTALL,
)
_SECRET_WORDS = re.compile(
    r"secret|key|credential|token|password|connection-string|sas|appsettings", re.IGNORECASE
)


def _split(arguments: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words in front, and the options with whatever follows them."""
    place = next((at for at, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    return list(arguments[:place]), list(arguments[place:])


def _refuse_loading(arguments: tuple[str, ...]) -> None:
    for before, argument in pairwise(("", *arguments)):
        if _QUEUE.fullmatch(f"{before} {argument}"):
            continue
        if re.search(r"fileb?://", argument) or re.match(r"(?:[^=]*=)?(?:@|https?://)", argument):
            raise Refused("an argument would be loaded from a file or another machine")


def _prove_aws(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    arguments = argv[1:]
    if arguments == ("--version",):
        return ProgramTraits(argv=argv, reaches_out=True)
    _refuse_loading(arguments)
    for argument in arguments:
        name = argument.partition("=")[0]
        if name.startswith("--") and any(bad.startswith(name) for bad in _AWS_REFUSED):
            raise Refused(f"aws with {name} is not known to be a read")
        if name.startswith("-") and not re.fullmatch(r"--[a-z0-9-]+|-\d+", name):
            raise Refused(f"aws with {name} is not known to be a read")
    words = _skip_global_options(arguments)
    if words[:2] == ["s3", "ls"] and all(re.fullmatch(r"s3://[\w./-]*", w) for w in words[2:]):
        return ProgramTraits(argv=argv, reaches_out=True)
    if words == ["configure", "list"]:
        return ProgramTraits(argv=argv, reaches_out=True)
    if words[:2] == ["logs", "tail"] and len(words) == 3:
        follows = any(argument.startswith("--fo") for argument in arguments)
        return ProgramTraits(argv=argv, reaches_out=True, is_bounded=not follows)
    if len(words) != 2 or not all(_PLAIN.fullmatch(word) for word in words):
        raise Refused("aws with these words is not known to be a read")
    service, operation = words
    # Scripts that set a machine up, with the passwords they need.
    if any("userdata" in argument.lower() for argument in arguments):
        raise Refused("the user data of a machine is not read out")
    is_read = _AWS_VERB.fullmatch(operation) or operation in _AWS_GETS
    if operation == "filter-log-events" and service == "logs":
        is_read = True
    if service not in _AWS_SERVICES or _AWS_SECRETS.fullmatch(operation):
        raise Refused(f"aws {service} {operation} is not known to be a read without secrets")
    if not is_read or (service in ("configure", "secretsmanager") and operation.startswith("get")):
        raise Refused(f"aws {service} {operation} is not known to be a read")
    return ProgramTraits(argv=argv, reaches_out=True, whole=_whole_answer(argv))


def _whole_answer(argv: tuple[str, ...]) -> tuple[str, ...]:
    """What prints all that `aws` or `az` is answered, where a query chooses some of it."""
    queries = values_of(argv, "--query")
    for query in queries:
        check_jmespath(query)
    if not queries:
        return ()
    return without_query(argv, ("--query", "--output", "-o"), ("--output", "json"))


def _skip_global_options(arguments: tuple[str, ...]) -> list[str]:
    """Service and operation, which may stand behind options with one value each."""
    takes_value = ("--region", "--output", "--profile", "--query", "--color")
    flags = ("--no-cli-pager", "--no-paginate", "--no-sign-request")
    place = 0
    while place < len(arguments) and arguments[place].startswith("--"):
        name, equals, _ = arguments[place].partition("=")
        if name in takes_value:
            place += 1 if equals else 2
        elif arguments[place] in flags:
            place += 1
        else:
            raise Refused(f"aws with {name} in front is not known to be a read")
    words, _ = _split(arguments[place:])
    return words


def _prove_gcloud(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    _refuse_loading(argv[1:])
    words: list[str] = []
    takes_value = False
    for argument in argv[1:]:
        if argument.startswith("-"):
            if not _GCLOUD_OPTION.fullmatch(argument):
                raise Refused(f"gcloud with {argument} is not known to be a read")
            takes_value = "=" not in argument and argument not in (
                "--uri",
                "--quiet",
                "--global",
                "--all",
            )
        elif takes_value:
            takes_value = False
        else:
            words.append(argument)
    if not _is_gcloud_read(words):
        raise Refused("gcloud with these words is not known to be a read")
    for text in values_of(argv, "--format"):
        check_gcloud_format(text)
    whole = without_query(argv, ("--format",), ("--format=json",))
    return ProgramTraits(argv=argv, reaches_out=True, whole=whole)


def _is_gcloud_read(words: list[str]) -> bool:
    text = " ".join(words)
    if re.fullmatch(r"info|version|config list|config get(?:-value)? [\w/.-]+|auth list", text):
        return True
    if re.fullmatch(r"logging read(?: .+)?|storage ls(?: gs://[\w./*-]+)?", text, re.DOTALL):
        return True
    if not words or words[0] not in _GCLOUD_GROUPS or "secrets" in words:
        return False
    for place, word in enumerate(words):
        if word in ("list", "describe"):
            before, after = words[:place], words[place + 1 :]
            known = all(part in _GCLOUD_GROUPS | _GCLOUD_THINGS for part in before)
            things = before[-1] in _GCLOUD_THINGS
            limit = 0 if word == "list" else 1
            return known and things and len(after) <= limit and all(map(_PLAIN.fullmatch, after))
    return False


def _prove_az(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    arguments = argv[1:]
    if arguments in (("version",), ("--version",)):
        return ProgramTraits(argv=argv, reaches_out=True)
    _refuse_loading(arguments)
    words, rest = _split(arguments)
    for argument in rest:
        if argument.startswith("-") and not _AZ_OPTION.fullmatch(argument):
            raise Refused(f"az with {argument} is not known to be a read")
    if not words or words[0] not in _AZ_GROUPS or len(words) < 2 or words[-1] not in _AZ_VERBS:
        raise Refused("az is known to be a read only with list, show and a few more")
    if any(
        _SECRET_WORDS.search(word) or not re.fullmatch(r"[a-z][a-z0-9-]*", word) for word in words
    ):
        raise Refused("az with these words is not known to be a read")
    if any(
        word in ("express-route", "run-command", "invoke", "ssh", "set", "create", "delete")
        for word in words
    ):
        raise Refused("az with these words is not known to be a read")
    return ProgramTraits(argv=argv, reaches_out=True, whole=_whole_answer(argv))


CLOUD: Table = {
    "aws": Wrapper(_prove_aws),
    "gcloud": Wrapper(_prove_gcloud),
    "az": Wrapper(_prove_az),
    "gsutil": Group(
        {
            "ls": reads("-[lahLrb]", word=r"gs://[\w./*-]+", words=(0, 3)),
            "du": reads("-[shc]", word=r"gs://[\w./*-]+", words=(1, 3)),
            "stat": reads(word=r"gs://[\w./-]+", words=(1, 3)),
            "version": reads("-l", words=(0, 0)),
        }
    ),
    "terraform": Group(
        {
            "version": reads("-json", clusters=False, words=(0, 0)),
            "state": Group(
                {"list": reads("-id=", clusters=False, word=r"[\w.\[\]\"-]+", words=(0, 5))}
            ),
            "providers": reads(words=(0, 0)),
            # A name would print what is sensitive.
            "output": reads(words=(0, 0)),
            "workspace": Group({"list": reads(words=(0, 0)), "show": reads(words=(0, 0))}),
        },
        bare=reads("-version --version", clusters=False, needs="-version --version"),
    ),
}
