"""One factory per model. A test states only what matters to it; the rest is realistic."""

import hashlib
import uuid
from datetime import timedelta
from typing import Any

import factory
from django.contrib.auth.models import User
from django.utils import timezone

from investigations.models import (
    AgentExecution,
    AlertEpisode,
    AlertSession,
    ApprovalRequest,
    AuditEvent,
    Chat,
    ChatUserMessage,
    Delivery,
    Event,
    Incident,
    LLMInteraction,
    MaintenanceWindow,
    MCPInteraction,
    MemberChange,
    Message,
    ResourceNote,
    Stage,
    TimelineEvent,
)
from investigations.stream_messages import session_channel, session_status, with_event_id

ALERT = (
    '{\n  "alertname": "PodCrashLooping",\n  "namespace": "checkout",\n'
    '  "pod": "basket-7d9f-x2x1v",\n  "severity": "critical"\n}'
)


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"engineer-{n}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.com")
    is_active = True

    class Params:
        admin = factory.Trait(is_staff=True, is_superuser=True)

    @factory.post_generation
    def password(user, create, extracted, **_options):
        user.set_password(extracted or "correct horse battery staple")
        if create:
            user.save()


class SessionFactory(factory.django.DjangoModelFactory[AlertSession]):
    """A queued session; the traits bring it further along."""

    class Meta:
        model = AlertSession

    alert_type = "kubernetes"
    alert_data = ALERT
    title = "PodCrashLooping"
    chain_id = "kubernetes"
    author = "pagerduty"
    total_stages = 2
    created_at = factory.LazyFunction(timezone.now)

    class Params:
        running = factory.Trait(
            status=AlertSession.Status.IN_PROGRESS,
            started_at=factory.LazyFunction(timezone.now),
            deadline_at=factory.LazyFunction(lambda: timezone.now() + timedelta(minutes=40)),
            last_interaction_at=factory.LazyFunction(timezone.now),
            current_stage_index=1,
        )
        cancelling = factory.Trait(
            status=AlertSession.Status.CANCELLING,
            started_at=factory.LazyFunction(timezone.now),
            current_stage_index=1,
        )
        completed = factory.Trait(
            status=AlertSession.Status.COMPLETED,
            started_at=factory.LazyAttribute(lambda row: row.completed_at - timedelta(minutes=3)),
            completed_at=factory.LazyFunction(timezone.now),
            final_analysis="The pod is killed because it passes its memory limit [T1].",
            executive_summary="basket runs out of memory.",
        )
        failed = factory.Trait(
            status=AlertSession.Status.FAILED,
            started_at=factory.LazyAttribute(lambda row: row.completed_at - timedelta(minutes=1)),
            completed_at=factory.LazyFunction(timezone.now),
            error_message="The model provider refused the key (401).",
        )
        cancelled = factory.Trait(
            status=AlertSession.Status.CANCELLED,
            completed_at=factory.LazyFunction(timezone.now),
            error_message="Cancelled by engineer-1.",
        )
        timed_out = factory.Trait(
            status=AlertSession.Status.TIMED_OUT,
            started_at=factory.LazyAttribute(lambda row: row.completed_at - timedelta(minutes=40)),
            completed_at=factory.LazyFunction(timezone.now),
            error_message="Timed out after 40 minutes.",
        )


class StageFactory(factory.django.DjangoModelFactory[Stage]):
    class Meta:
        model = Stage

    session = factory.SubFactory(SessionFactory, running=True)
    stage_name = "investigation"
    stage_index = factory.LazyAttribute(lambda stage: stage.session.stages.count() + 1)
    chain_position = factory.LazyAttribute(
        lambda stage: stage.stage_index - 1 if stage.stage_type == "investigation" else None
    )
    stage_type = Stage.Type.INVESTIGATION
    created_at = factory.LazyFunction(timezone.now)

    class Params:
        active = factory.Trait(
            status=Stage.Status.ACTIVE,
            dispatched_at=factory.LazyFunction(timezone.now),
            started_at=factory.LazyFunction(timezone.now),
        )
        completed = factory.Trait(
            status=Stage.Status.COMPLETED,
            started_at=factory.LazyAttribute(lambda row: row.completed_at - timedelta(minutes=1)),
            completed_at=factory.LazyFunction(timezone.now),
            duration_ms=60_000,
        )
        failed = factory.Trait(
            status=Stage.Status.FAILED,
            started_at=factory.LazyAttribute(lambda row: row.completed_at - timedelta(minutes=1)),
            completed_at=factory.LazyFunction(timezone.now),
            duration_ms=60_000,
            error_message="All agents failed.",
        )


class ExecutionFactory(factory.django.DjangoModelFactory[AgentExecution]):
    class Meta:
        model = AgentExecution

    stage = factory.SubFactory(StageFactory, active=True)
    session = factory.SelfAttribute("stage.session")
    parent_execution = None
    agent_name = "KubernetesAgent"
    agent_index = factory.LazyAttribute(
        lambda execution: (
            AgentExecution.objects.filter(
                stage=execution.stage, parent_execution=execution.parent_execution
            ).count()
            + 1
        )
    )
    llm_backend = "langchain"
    llm_provider = "rehearsal"
    model_name = "rehearsal"
    created_at = factory.LazyFunction(timezone.now)

    class Params:
        active = factory.Trait(
            status=AgentExecution.Status.ACTIVE,
            attempt=1,
            worker_id="worker-1",
            lease_token=factory.LazyFunction(uuid.uuid4),
            heartbeat_at=factory.LazyFunction(timezone.now),
            dispatched_at=factory.LazyFunction(timezone.now),
            started_at=factory.LazyFunction(timezone.now),
        )
        completed = factory.Trait(
            status=AgentExecution.Status.COMPLETED,
            attempt=1,
            started_at=factory.LazyAttribute(lambda row: row.completed_at - timedelta(minutes=1)),
            completed_at=factory.LazyFunction(timezone.now),
            duration_ms=60_000,
        )
        failed = factory.Trait(
            status=AgentExecution.Status.FAILED,
            attempt=1,
            started_at=factory.LazyAttribute(lambda row: row.completed_at - timedelta(minutes=1)),
            completed_at=factory.LazyFunction(timezone.now),
            duration_ms=60_000,
            error_message="The model provider refused the key (401).",
        )


class _OfExecution(factory.django.DjangoModelFactory[Any]):
    """What belongs to one execution belongs to its stage and session too."""

    class Meta:
        abstract = True

    execution = factory.SubFactory(ExecutionFactory, active=True)
    stage = factory.SelfAttribute("execution.stage")
    session = factory.SelfAttribute("execution.session")
    created_at = factory.LazyFunction(timezone.now)


class TimelineEventFactory(_OfExecution):
    class Meta:
        model = TimelineEvent

    sequence_number = factory.LazyAttribute(lambda event: event.session.timeline_events.count() + 1)
    event_type = TimelineEvent.Type.LLM_RESPONSE
    status = TimelineEvent.Status.COMPLETED
    content = "The pod restarted 6 times in 10 minutes."

    class Params:
        streaming = factory.Trait(status=TimelineEvent.Status.STREAMING, content="")
        tool_call = factory.Trait(
            event_type=TimelineEvent.Type.LLM_TOOL_CALL,
            content="basket-7d9f-x2x1v  0/1  CrashLoopBackOff  6",
            metadata={
                "server_name": "ops",
                "tool_name": "query",
                "tool_type": "mcp",
                "arguments": '{"kind": "pods", "namespace": "checkout"}',
                "is_error": False,
                "tool_number": 1,
            },
        )


class MessageFactory(_OfExecution):
    class Meta:
        model = Message

    sequence_number = factory.LazyAttribute(lambda message: message.execution.messages.count() + 1)
    role = Message.Role.ASSISTANT
    content = "I look at the pods first."


class LLMInteractionFactory(_OfExecution):
    class Meta:
        model = LLMInteraction

    interaction_type = LLMInteraction.Type.ITERATION
    iteration = 1
    model_name = "rehearsal"
    provider_name = "rehearsal"
    llm_request = factory.LazyFunction(lambda: {"messages_count": 2, "iteration": 1})
    llm_response = factory.LazyFunction(lambda: {"text_length": 25, "tool_calls_count": 0})
    input_tokens = 1200
    output_tokens = 80
    total_tokens = 1280
    duration_ms = 900


class MCPInteractionFactory(_OfExecution):
    class Meta:
        model = MCPInteraction

    interaction_type = MCPInteraction.Type.TOOL_CALL
    server_name = "ops"
    tool_name = "query"
    tool_number = 1
    tool_arguments = factory.LazyFunction(lambda: {"kind": "pods", "namespace": "checkout"})
    tool_result = factory.LazyFunction(
        lambda: {"content": "basket-7d9f-x2x1v CrashLoopBackOff", "is_error": False}
    )
    duration_ms = 120


class ApprovalRequestFactory(factory.django.DjangoModelFactory[ApprovalRequest]):
    class Meta:
        model = ApprovalRequest

    execution = factory.SubFactory(ExecutionFactory, active=True)
    session = factory.SelfAttribute("execution.session")
    tool_call_id = factory.Sequence(lambda n: f"call_{n}")
    server_name = "ops"
    tool_name = "control"
    arguments = factory.LazyFunction(lambda: {"action": "restart", "target": "nginx.service"})
    target = "service:node-17:nginx.service"
    argument_hash = factory.LazyAttribute(
        lambda approval: hashlib.sha256(
            f"{approval.tool_call_id} {approval.arguments}".encode()
        ).hexdigest()
    )
    reason = "The service no longer answers after its reload."
    risk = "medium"
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(minutes=5))
    created_at = factory.LazyFunction(timezone.now)

    class Params:
        approved = factory.Trait(
            status=ApprovalRequest.Status.APPROVED,
            decided_by="engineer-1",
            decided_at=factory.LazyFunction(timezone.now),
        )
        denied = factory.Trait(
            status=ApprovalRequest.Status.DENIED,
            decided_by="engineer-1",
            decision_reason="Not during the sale.",
            decided_at=factory.LazyFunction(timezone.now),
        )
        expired = factory.Trait(
            status=ApprovalRequest.Status.EXPIRED,
            decided_at=factory.LazyFunction(timezone.now),
        )


class EventFactory(factory.django.DjangoModelFactory[Event]):
    """A stored message of the session's stream; keeps the session's `last_seq` true."""

    class Meta:
        model = Event
        skip_postgeneration_save = True

    session = factory.SubFactory(SessionFactory)
    seq = factory.LazyAttribute(lambda event: event.session.last_seq + 1)
    channel = factory.LazyAttribute(lambda event: session_channel(event.session.pk))
    payload = factory.LazyAttribute(
        lambda event: with_event_id(
            session_status(event.session.pk, event.session.status), event.seq
        )
    )
    created_at = factory.LazyFunction(timezone.now)

    @factory.post_generation
    def counted(event, create, _extracted, **_options):
        if create and event.session.last_seq < event.seq:
            event.session.last_seq = event.seq
            AlertSession.objects.filter(pk=event.session.pk).update(last_seq=event.seq)


class ChatFactory(factory.django.DjangoModelFactory[Chat]):
    class Meta:
        model = Chat

    session = factory.SubFactory(SessionFactory, completed=True)
    chain_id = factory.SelfAttribute("session.chain_id")
    created_by = "engineer-1"
    created_at = factory.LazyFunction(timezone.now)


class ChatUserMessageFactory(factory.django.DjangoModelFactory[ChatUserMessage]):
    class Meta:
        model = ChatUserMessage

    chat = factory.SubFactory(ChatFactory)
    content = "Which deployment changed the limit?"
    author = "engineer-1"
    created_at = factory.LazyFunction(timezone.now)


class ResourceNoteFactory(factory.django.DjangoModelFactory[ResourceNote]):
    class Meta:
        model = ResourceNote

    execution = factory.SubFactory(ExecutionFactory)
    session = factory.LazyAttribute(lambda note: note.execution.session)
    agent_name = factory.LazyAttribute(lambda note: note.execution.agent_name)
    resource_id = "service:web-1:nginx.service"
    text = factory.Sequence(lambda n: f"The disk fills after release {n}.")
    digest = factory.LazyAttribute(lambda note: hashlib.sha256(note.text.encode()).hexdigest())
    told_at = factory.LazyFunction(timezone.now)


class AuditEventFactory(factory.django.DjangoModelFactory[AuditEvent]):
    class Meta:
        model = AuditEvent

    actor = "engineer-1"
    action = "session.cancel"
    target_type = "session"
    target_id = factory.LazyFunction(lambda: str(uuid.uuid4()))
    created_at = factory.LazyFunction(timezone.now)


class IncidentFactory(factory.django.DjangoModelFactory[Incident]):
    class Meta:
        model = Incident

    source = "alertmanager"
    group_key = factory.Sequence(lambda n: f'{{}}:{{alertname="PodCrashLooping", n="{n}"}}')
    title = "PodCrashLooping"
    severity = "critical"
    alert_type = "kubernetes"
    member_count = 1
    firing_count = 1
    opened_at = factory.LazyFunction(timezone.now)

    class Params:
        recovered = factory.Trait(
            state=Incident.State.RECOVERED,
            firing_count=0,
            recovered_at=factory.LazyFunction(timezone.now),
        )


class EpisodeFactory(factory.django.DjangoModelFactory[AlertEpisode]):
    class Meta:
        model = AlertEpisode

    incident = factory.SubFactory(IncidentFactory)
    source = factory.SelfAttribute("incident.source")
    key = factory.Sequence(lambda n: f"7a1c0de9b2f4{n:04x}")
    title = "PodCrashLooping"
    severity = "critical"
    labels = {"alertname": "PodCrashLooping", "pod": "basket-7d9f-x2x1v"}
    body = ALERT


class MemberChangeFactory(factory.django.DjangoModelFactory[MemberChange]):
    class Meta:
        model = MemberChange

    episode = factory.SubFactory(EpisodeFactory)
    incident = factory.SelfAttribute("episode.incident")
    kind = MemberChange.Kind.JOINED
    at = factory.LazyFunction(timezone.now)


class DeliveryFactory(factory.django.DjangoModelFactory[Delivery]):
    class Meta:
        model = Delivery

    source = "alertmanager"
    sha256 = factory.Sequence(lambda n: hashlib.sha256(str(n).encode()).hexdigest())
    body = ALERT
    size = len(ALERT)
    outcome = Delivery.Outcome.STARTED
    why = "An investigation of 1 alert is queued"
    alert_count = 1
    received_at = factory.LazyFunction(timezone.now)


class WindowFactory(factory.django.DjangoModelFactory[MaintenanceWindow]):
    class Meta:
        model = MaintenanceWindow

    name = "Upgrade of the cluster"
    matchers = ['cluster="blue"']
    starts_at = factory.LazyFunction(timezone.now)
    ends_at = factory.LazyFunction(lambda: timezone.now() + timedelta(hours=1))
    author = "engineer-1"
