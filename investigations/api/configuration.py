"""The configuration in force, without its secrets."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from investigations.api.responses import ANYBODY, ONE_SESSION
from investigations.selectors.configuration.for_api import describe_configuration, read_skill


class ConfigurationSerializer(serializers.Serializer[Any]):
    """Each part as the files have it; `***` stands for what is not told."""

    defaults = serializers.DictField()
    queue = serializers.DictField()
    system = serializers.DictField()
    agents = serializers.DictField(child=serializers.DictField())
    chains = serializers.DictField(child=serializers.DictField())
    mcp_servers = serializers.DictField(child=serializers.DictField())
    llm_providers = serializers.DictField(child=serializers.DictField())
    skills = serializers.DictField(child=serializers.DictField())


class SkillSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField()
    body = serializers.CharField(allow_blank=True)


class ConfigurationView(APIView):
    @extend_schema(
        operation_id="get_configuration",
        responses={200: ConfigurationSerializer, **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """The configuration in force, built-ins included; of secrets only that they are set."""
        return Response(describe_configuration())


class SkillView(APIView):
    @extend_schema(operation_id="get_skill", responses={200: SkillSerializer, **ONE_SESSION})
    def get(self, request: Request, name: str) -> Response:
        """One text that agents may or must read."""
        return Response(SkillSerializer(read_skill(name)).data)
