"""Google Pub/Sub as it pushes a message: the post of another source, in base64."""

import base64
import binascii
from dataclasses import replace

from investigations.sources import generic
from investigations.sources.fields import Moment, Part, Text, as_object
from investigations.sources.inner_json import read_inner
from investigations.sources.reading import Post, Reading, make_alert
from investigations.sources.signs import Source


class Message(Part):
    data: Text = ""
    messageId: Text = ""
    publishTime: Moment = None


class Push(Part):
    message: Message = Message()
    subscription: Text = ""


def read(post: Post) -> Reading:
    """A document that nobody else reads; a text has no state, and is never told to be over."""
    push, told = Push.model_validate(as_object(post.body)), _open(post)
    inner, number = read_inner(told), push.message.messageId
    if inner is not None:
        return replace(generic.read(Post(inner)), source="google_pubsub", delivery_id=number)
    alert = make_alert(
        "firing",
        key="",
        titles=(told, push.subscription.rpartition("/")[2]),
        labels={"subscription": push.subscription},
        starts_at=push.message.publishTime,
        tells_end=False,
        body=told or post.body,
    )
    return Reading("google_pubsub", (alert,), delivery_id=number)


def unwrap(post: Post) -> Post | None:
    """What stands in the message, for the sources that post through one."""
    inner = read_inner(_open(post))
    return None if inner is None else Post(inner, {})


def _open(post: Post) -> str:
    data = Push.model_validate(as_object(post.body)).message.data
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


SOURCE = Source(
    name="google_pubsub",
    label="Google Pub/Sub",
    signs=(("message.data", "message.messageId", "subscription"),),
    expects="a push of a subscription, with `message.data`, `message.messageId` and `subscription`",
    read=read,
)
