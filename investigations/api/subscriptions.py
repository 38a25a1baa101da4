"""Subscriptions of Amazon SNS: confirmed for the topics that the operator has listed."""

import logging
from collections.abc import Mapping
from dataclasses import replace

from rest_framework.request import Request

from investigations.access.identity import Sender
from investigations.api.senders import ProofUnavailable
from investigations.runbooks.addresses import Unavailable
from investigations.senders.fetching import fetch_once
from investigations.senders.sns import subscription_address
from investigations.sources.reading import Post, Reading
from tarsy.errors import InvalidInput

logger = logging.getLogger(__name__)


def confirm_subscription(request: Request, post: Post, reading: Reading) -> Reading:
    """The reading, after the subscription that it asks for was confirmed; else as it is.

    Only for what Amazon has signed, of a topic that is listed. Raises ProofUnavailable where Amazon
    could not be asked, for it then sends the post again.
    """
    sender = request.auth
    if not (isinstance(sender, Sender) and sender.form == "sns" and isinstance(post.body, Mapping)):
        return reading
    try:
        address = subscription_address(post.body)
    except Unavailable as error:
        raise InvalidInput("SubscribeURL", str(error)) from error
    if address is None:
        return reading
    try:
        fetch_once(address)
    except Unavailable as error:
        raise ProofUnavailable(f"the subscription is not confirmed: Amazon {error}") from error
    logger.info("A subscription of %s was confirmed", post.body.get("TopicArn"))
    return replace(reading, notice="subscription confirmation: the subscription was confirmed")
