"""The five layers of history and what stands beside them. Models describe; services write.

AlertSession ─┬─ Stage ── AgentExecution ─┬─ TimelineEvent     what people see
              │                           ├─ Message           what the model saw
              │                           ├─ LLMInteraction    what a model call cost
              │                           ├─ MCPInteraction    what a tool call returned
              │                           └─ ApprovalRequest   what a person must decide
              ├─ Event                                         what browsers were told, by `seq`
              ├─ SessionText                                   what a search looks through
              └─ Chat ── ChatUserMessage
Incident ─┬─ AlertEpisode ── MemberChange                      alerts that belong together
          └─ AlertSession                                      their investigation
Delivery                                                       what was posted, what became of it
MaintenanceWindow                                              when alerts are expected
ResourceNote                                                   what agents remember of a resource
AuditEvent                                                     who did what, append-only
ApiToken                                                       how machines prove themselves
RefusedPosts                                                   what was sent without a proof
"""

from investigations.models.approvals import ApprovalRequest
from investigations.models.audit import AuditEvent
from investigations.models.chat import Chat, ChatUserMessage
from investigations.models.events import Event
from investigations.models.executions import AgentExecution
from investigations.models.incidents import (
    AlertEpisode,
    Delivery,
    Incident,
    MaintenanceWindow,
    MemberChange,
)
from investigations.models.interactions import LLMInteraction, MCPInteraction, Message
from investigations.models.notes import ResourceNote
from investigations.models.refusals import RefusedPosts
from investigations.models.search import SessionText
from investigations.models.sessions import AlertSession
from investigations.models.stages import Stage
from investigations.models.timeline_events import TimelineEvent
from investigations.models.tokens import ApiToken

__all__ = [
    "AgentExecution",
    "AlertEpisode",
    "AlertSession",
    "ApiToken",
    "ApprovalRequest",
    "AuditEvent",
    "Chat",
    "ChatUserMessage",
    "Delivery",
    "Event",
    "Incident",
    "LLMInteraction",
    "MCPInteraction",
    "MaintenanceWindow",
    "MemberChange",
    "Message",
    "RefusedPosts",
    "ResourceNote",
    "SessionText",
    "Stage",
    "TimelineEvent",
]
