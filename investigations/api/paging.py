"""What a list says of its pages."""

import math
from typing import Any

from rest_framework import serializers

from investigations.selectors.sessions import COUNT_LIMIT


class PaginationSerializer(serializers.Serializer[Any]):
    page = serializers.IntegerField()
    page_size = serializers.IntegerField()
    total_pages = serializers.IntegerField()
    total_items = serializers.IntegerField(help_text=f"Counted up to {COUNT_LIMIT:,}.")


def paginate(page: int, page_size: int, total_items: int) -> dict[str, int]:
    """Where one page stands among the others."""
    return {
        "page": page,
        "page_size": page_size,
        "total_pages": math.ceil(total_items / page_size),
        "total_items": total_items,
    }
