"""What the approval panel sends."""

import uuid

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from investigations.access.identity import actor_of, decider_of, may
from investigations.access.limits import count_request
from investigations.models import ApprovalRequest
from investigations.roles import DECIDE
from investigations.selectors.approvals import get_approval, word_to_type
from investigations.services.approvals import Verdict, decide_approval, read_reason
from investigations.views.access import for_viewers, refuse_too_many
from tarsy.errors import Conflict, InvalidInput, NotFound, NotPermitted, TooManyRequests


@require_POST
@for_viewers
def decide(request: HttpRequest, approval_id: uuid.UUID, verdict: Verdict) -> HttpResponse:
    """Approve or deny a write; the form has a field for the reason of each request."""
    try:
        count_request(request, "decisions")
        reason = read_reason({"reason": request.POST.get(f"reason-{approval_id}", "")})
        approval = get_approval(approval_id)
        if verdict == "approved":
            _check_typed(request, approval)
        decide_approval(
            approval_id, verdict,
            account=decider_of(request), actor=actor_of(request), reason=reason,
        )  # fmt: skip
    except TooManyRequests as error:
        return refuse_too_many(request, error)
    except NotFound as error:
        raise Http404 from error
    except NotPermitted as error:
        raise PermissionDenied(str(error)) from error
    except InvalidInput as error:
        raise BadRequest(str(error)) from error
    except Conflict:
        pass  # Somebody or the clock was first; the page shows who.
    return redirect("session", session_id=approval.session_id)


def _check_typed(request: HttpRequest, approval: ApprovalRequest) -> None:
    """The second step of a grave write; who may not decide is told that instead."""
    word = word_to_type(approval)
    if not word or not approval.is_pending or not may(request, DECIDE):
        return
    if request.POST.get(f"typed-{approval.pk}", "").strip() != word:
        raise InvalidInput("typed", f"type {word} to approve this write; nothing was approved")
