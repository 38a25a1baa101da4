"""The endpoints about the product itself: what is wrong with it, which tools it has."""

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import get_config
from config.usage import default_tools
from config.words import suggest
from investigations.api import serializers
from investigations.selectors.tool_servers import list_tool_servers
from investigations.selectors.warnings import list_warnings
from tarsy.errors import InvalidInput

_ERROR = OpenApiResponse(serializers.ErrorSerializer)
_ANYBODY = {401: _ERROR, 403: _ERROR}


class WarningsView(APIView):
    @extend_schema(
        operation_id="list_system_warnings",
        responses={200: serializers.WarningsSerializer, **_ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """What an operator should know: tool servers and workers that are missing, and more."""
        return Response(serializers.WarningsSerializer({"warnings": list_warnings()}).data)


class ToolServersView(APIView):
    @extend_schema(
        operation_id="list_mcp_servers",
        responses={200: serializers.ToolServersSerializer, **_ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """Every configured tool server, whether it is available, and its tools."""
        return Response(serializers.ToolServersSerializer({"servers": list_tool_servers()}).data)


class DefaultToolsView(APIView):
    @extend_schema(
        operation_id="get_default_tools",
        parameters=[OpenApiParameter("alert_type", str, description="Left out: the default one.")],
        responses={200: serializers.DefaultToolsSerializer, 400: _ERROR, **_ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """The tools of an alert that chooses none itself."""
        config = get_config()
        asked = request.query_params.get("alert_type", "")
        chain = config.chain_for(asked or config.default_alert_type)
        if chain is None:
            hint = suggest(asked, config.alert_types())
            raise InvalidInput("alert_type", f"no chain takes it{hint}")
        tools = default_tools(config, chain)
        return Response(
            {
                **({"alert_type": asked} if asked else {}),
                "mcp_servers": tools.servers,
                "native_tools": tools.native_tools,
            }
        )
