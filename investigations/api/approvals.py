"""Endpoints of writes that wait for a person."""

from typing import Any, cast
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from typing_extensions import override

from investigations.access.identity import Identity
from investigations.api.fields import TextOrNull
from investigations.api.identity import IsIdentified, author_of
from investigations.api.paging import PaginationSerializer, paginate
from investigations.api.parsing import read_json_object
from investigations.api.query import LARGEST_PAGE, PAGE_SIZE, read_approvals_query
from investigations.api.responses import ANYBODY, ONE_SESSION, errors, parameter
from investigations.models import ApprovalRequest
from investigations.selectors.approvals import get_approval, list_approvals
from investigations.services.approvals import REASON_LIMIT, Verdict, decide_approval, read_reason

_DECISION = {**ONE_SESSION, **errors(400, 409, 413, 415)}


class ChangeRowSerializer(serializers.Serializer[Any]):
    """A line of a file before, after or both; or a gap between such lines."""

    kind = serializers.ChoiceField(choices=["same", "del", "add", "gap"])
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    old = serializers.IntegerField(allow_null=True, help_text="Its number before.")
    new = serializers.IntegerField(allow_null=True, help_text="Its number afterwards.")
    note = serializers.CharField(allow_blank=True, help_text="What is said of it, not in it.")


class ChangeSerializer(serializers.Serializer[Any]):
    """What a write makes of a file; the file as it was when a person was asked."""

    path = serializers.CharField()
    asked_path = serializers.CharField(help_text="What the agent named, links and all.")
    exists = serializers.BooleanField()
    state = serializers.CharField(help_text="The same as facts, in words.")
    facts = serializers.DictField(help_text="Size, sha256, owner, mode and encoding.")
    size_after = serializers.IntegerField()
    rows = ChangeRowSerializer(many=True)
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Changed lines that are in no row.")


class PreviewSerializer(serializers.Serializer[Any]):
    """What is known of a write before it runs."""

    action = serializers.CharField(default="")
    current_state = serializers.CharField(default="", help_text="Empty where nothing is known.")
    found_by = serializers.IntegerField(
        allow_null=True, default=None, help_text="The 5 of [T5], whose result names the target."
    )
    verification = serializers.ListField(child=serializers.CharField(), default=list)
    undo = serializers.CharField(default="")
    does = serializers.CharField(
        default="", help_text="What its operator declares of it; empty where nothing is."
    )
    origins = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Arguments that no trusted source gave, and where they stand.",
    )
    masked = serializers.IntegerField(
        default=0, help_text="Secrets that are masked in the arguments and run as they are."
    )
    change = ChangeSerializer(
        allow_null=True, default=None, help_text="Of a file; null where no file is written."
    )

    @override
    def to_representation(self, instance: Any) -> dict[str, Any]:
        """A change of which anything is missing cannot be told by halves, and is left out."""
        is_whole = ChangeSerializer(data=instance.get("change")).is_valid()
        whole: dict[str, Any] = super().to_representation(
            instance if is_whole else {**instance, "change": None}
        )
        return whole


class ApprovalSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    session_id = serializers.UUIDField()
    stage_id = serializers.UUIDField(source="execution.stage_id")
    execution_id = serializers.UUIDField()
    agent_name = serializers.CharField(source="execution.agent_name")
    tool_call_id = serializers.CharField()
    tool_number = serializers.IntegerField(allow_null=True, help_text="The 5 of [T5].")
    server_name = serializers.CharField()
    tool_name = serializers.CharField()
    arguments = serializers.DictField(help_text="All that will run, unabridged; secrets masked.")
    argument_hash = serializers.CharField(help_text="SHA-256 of what exactly is approved.")
    target = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True, help_text="In the agent's words.")
    risk = serializers.CharField(allow_blank=True, help_text="low, medium or high.")
    preview = PreviewSerializer()
    status = serializers.ChoiceField(choices=ApprovalRequest.Status.choices)
    decided_by = TextOrNull()
    decision_reason = TextOrNull()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    used_at = serializers.DateTimeField(allow_null=True, help_text="When the write ran.")


class ApprovalListSerializer(serializers.Serializer[Any]):
    approvals = ApprovalSerializer(many=True)
    pagination = PaginationSerializer()


class DecisionSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(
        required=False,
        help_text=f"At most {REASON_LIMIT:,} characters; of a denial, the agent is told.",
    )


class ApprovalsView(APIView):
    @extend_schema(
        operation_id="list_approvals",
        parameters=[
            parameter("page", type=int, default=1),
            parameter("page_size", f"At most {LARGEST_PAGE}.", type=int, default=PAGE_SIZE),
            parameter("status", f"Some of {', '.join(ApprovalRequest.Status.values)}, by commas."),
            parameter("session_id", type=OpenApiTypes.UUID),
        ],
        responses={200: ApprovalListSerializer, **errors(400), **ANYBODY},
    )
    def get(self, request: Request) -> Response:
        """Writes that wait or waited for a person, newest first; `pending` alone: most urgent."""
        wanted, page, page_size = read_approvals_query(request.query_params)
        found = list_approvals(wanted, page=page, page_size=page_size)
        pagination = paginate(page, page_size, found.total_items)
        rows = ApprovalSerializer(found.approvals, many=True).data
        return Response({"approvals": rows, "pagination": pagination})


class ApprovalView(APIView):
    @extend_schema(operation_id="get_approval", responses={200: ApprovalSerializer, **ONE_SESSION})
    def get(self, _request: Request, approval_id: UUID) -> Response:
        """One write, with all that will run and what is known of it."""
        return Response(ApprovalSerializer(get_approval(approval_id)).data)


class _DecideView(APIView):
    # Who may decide is judged where it is decided, since a refusal stands in the audit.
    permission_classes = (IsIdentified,)
    limit = "decisions"
    verdict: Verdict

    def _decide(self, request: Request, approval_id: UUID) -> Response:
        reason = read_reason(read_json_object(request._request, may_be_empty=True))
        identity = cast(Identity, request.auth)
        approval = decide_approval(
            approval_id,
            self.verdict,
            account=identity.decider,
            actor=author_of(request),
            reason=reason,
        )
        return Response(ApprovalSerializer(approval).data)


class ApproveView(_DecideView):
    verdict = "approved"

    @extend_schema(
        operation_id="approve",
        request=DecisionSerializer,
        responses={200: ApprovalSerializer, **_DECISION},
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Let exactly this write run, once. Needs the permission to decide."""
        return self._decide(request, approval_id)


class DenyView(_DecideView):
    verdict = "denied"

    @extend_schema(
        operation_id="deny",
        request=DecisionSerializer,
        responses={200: ApprovalSerializer, **_DECISION},
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Refuse the write; the agent is told the reason. Needs the permission to decide."""
        return self._decide(request, approval_id)
