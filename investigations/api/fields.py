"""Field kinds of the wire that the framework does not know."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from typing_extensions import override


class TextOrNull(serializers.CharField):
    """Text where empty means that there is none: null on the wire."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    @override
    def to_representation(self, value: object) -> Any:
        return str(value) if value else None


@extend_schema_field({"description": "Null: nothing sets it yet."})
class NullField(serializers.Field[None, None, None, object]):
    """A field of the contract that no session can have yet."""

    def __init__(self) -> None:
        super().__init__(source="*", read_only=True)

    @override
    def to_representation(self, value: object) -> None:
        return None


class KeptCount(serializers.IntegerField):
    """A count out of a JSON column, where anything may stand: what is no count is 0."""

    def __init__(self) -> None:
        super().__init__(default=0)

    @override
    def to_representation(self, value: object) -> int:
        return value if isinstance(value, int) else 0


class ClaimCountsSerializer(serializers.Serializer[Any]):
    """How many claims of a report are in each state, and that in words."""

    proved = serializers.IntegerField(help_text="What they quote stands in the cited result.")
    cited = serializers.IntegerField(help_text="They cite a result and quote nothing of it.")
    denied = serializers.IntegerField(help_text="A person denied the calls they cite.")
    expired = serializers.IntegerField(
        help_text="Nobody approved the calls they cite in time, and they did not run."
    )
    failed = serializers.IntegerField(help_text="The calls they cite failed or were refused.")
    misquoted = serializers.IntegerField(help_text="The cited result has not what they quote.")
    uncited = serializers.IntegerField(help_text="They cite no call that has ended.")
    words = serializers.CharField(help_text='Such as "8 proved, 3 cited, 1 misquoted".')
