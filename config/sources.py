"""The alert sources that TARSy knows by name, so that the files can be checked for them."""

KNOWN_SOURCES = frozenset(
    {
        "alertmanager", "aws_eventbridge", "aws_sns", "azure_monitor", "checkmk", "cloudevents",
        "datadog", "dynatrace", "elastic_watcher", "gcp_monitoring", "generic", "github", "grafana",
        "icinga2", "jira_sm", "kibana", "kubernetes_event", "nagios", "newrelic", "opsgenie",
        "pagerduty", "prometheus", "sentry", "servicenow", "splunk", "uptime_kuma", "zabbix",
    }
)  # fmt: skip
