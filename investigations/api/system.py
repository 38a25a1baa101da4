"""The endpoints about the product itself: what is wrong with it, which tools it has."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import get_config
from config.usage import default_tools, every_tool
from investigations.api.fields import TextOrNull
from investigations.api.responses import ANYBODY, parameter
from investigations.selectors.configuration.unclassed import find_unclassed
from investigations.selectors.system.tool_servers import State, ToolServer, list_tool_servers
from investigations.selectors.system.warnings import CATEGORIES, list_warnings


class WarningSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    category = serializers.ChoiceField(choices=CATEGORIES)
    message = serializers.CharField()
    details = serializers.CharField()
    server_id = serializers.CharField(
        allow_null=True, help_text="The tool server it is about, if it is about one."
    )
    created_at = serializers.DateTimeField()


class WarningsSerializer(serializers.Serializer[Any]):
    warnings = WarningSerializer(many=True)


class ServerToolSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True, help_text="Masked, at most 1000 letters.")
    classes = serializers.DictField(
        child=serializers.ChoiceField(choices=["resolve", "read", "write"]),
        help_text="Its class by the value of an argument; the empty one is for all other values.",
    )
    schema_hash = serializers.CharField(help_text="The same as long as its arguments are.")
    is_classed = serializers.BooleanField(
        default=True,
        help_text="False: it counts as a write only because nobody has said what it is.",
    )


class ToolServerSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    healthy = serializers.BooleanField()
    state = serializers.ChoiceField(
        choices=get_args(State),
        help_text="`unwatched`: no chain in use names it. `unknown`: nobody has checked it lately.",
    )
    last_check = serializers.DateTimeField(allow_null=True)
    since = serializers.DateTimeField(allow_null=True, help_text="When it became what it is.")
    latency_ms = serializers.IntegerField(allow_null=True)
    protocol_version = serializers.CharField(allow_blank=True)
    tool_count = serializers.IntegerField()
    unclassed_count = serializers.SerializerMethodField(
        help_text="Tools that agents which may only read are not offered, because nobody has "
        "classed them."
    )
    tools = ServerToolSerializer(many=True)
    error = TextOrNull(source="reason")
    hint = serializers.SerializerMethodField(
        help_text="What to do about tools that nobody has classed; null where there are none."
    )

    def get_unclassed_count(self, row: ToolServer) -> int:
        return len(row.unclassed)

    def get_hint(self, row: ToolServer) -> str | None:
        unclassed = find_unclassed({row.id: row}, [row.id])
        return f"{unclassed.sentence}. {unclassed.details}" if unclassed else None


class ToolServersSerializer(serializers.Serializer[Any]):
    servers = ToolServerSerializer(many=True)


class EveryNativeToolSerializer(serializers.Serializer[Any]):
    google_search = serializers.BooleanField()
    code_execution = serializers.BooleanField()
    url_context = serializers.BooleanField()


class DefaultToolsSerializer(serializers.Serializer[Any]):
    alert_type = serializers.CharField(required=False, help_text="As it was asked for.")
    mcp_servers = serializers.ListField(child=serializers.CharField())
    native_tools = EveryNativeToolSerializer()


class WarningsView(APIView):
    @extend_schema(
        operation_id="list_system_warnings",
        responses={200: WarningsSerializer, **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """What an operator should know: tool servers and workers that are missing, and more."""
        return Response(WarningsSerializer({"warnings": list_warnings()}).data)


class ToolServersView(APIView):
    @extend_schema(
        operation_id="list_mcp_servers",
        responses={200: ToolServersSerializer, **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """Every configured tool server, whether it is available, and its tools."""
        return Response(ToolServersSerializer({"servers": list_tool_servers()}).data)


class DefaultToolsView(APIView):
    @extend_schema(
        operation_id="get_default_tools",
        parameters=[parameter("alert_type", "Left out: the tools of every server.")],
        responses={200: DefaultToolsSerializer, **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """The tools of an alert that chooses none itself.

        Without a type, or with one that no chain takes: all that an alert could choose.
        """
        config = get_config()
        asked = request.query_params.get("alert_type", "")
        chain = config.chain_for(asked)
        tools = every_tool(config) if chain is None else default_tools(config, chain)
        return Response(
            {
                **({"alert_type": asked} if asked else {}),
                "mcp_servers": tools.servers,
                "native_tools": tools.native_tools,
            }
        )
