"""The doorbell is heard in this product, and in no other that shares the server."""

import redis
from django.conf import settings as django_settings

from investigations.doorbell import publish_and_ring, ring_channel, stream_channel


def heard(pubsub: redis.client.PubSub) -> list[bytes]:
    """What has come, up to a mark of our own behind it."""
    found: list[bytes] = []
    pubsub.ping("mark")
    while (message := pubsub.get_message(timeout=5)) and message["type"] != "pong":
        found += [message["channel"]] if message["type"] == "message" else []
    return found


def test_a_product_on_another_database_of_the_same_server_is_not_rung(settings):
    url = django_settings.REDIS_URL
    with redis.Redis.from_url(url) as client, client.pubsub() as pubsub:
        ours = ring_channel(), stream_channel("sessions")
        pubsub.subscribe(*ours)

        settings.REDIS_DATABASE = "another"
        publish_and_ring([("sessions", {"type": "session.status"})])
        of_another = heard(pubsub)
        settings.REDIS_DATABASE = ours[0].split(":")[1]
        publish_and_ring([("sessions", {"type": "session.status"})])

        assert of_another == []
        assert sorted(heard(pubsub)) == sorted(channel.encode() for channel in ours)
