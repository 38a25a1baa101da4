from channels.generic.websocket import AsyncWebsocketConsumer


class StreamConsumer(AsyncWebsocketConsumer):
    pass


class RefuseSocket(AsyncWebsocketConsumer):
    pass
