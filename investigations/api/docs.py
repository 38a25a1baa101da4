"""The OpenAPI document and a page to read it."""

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import override

from tarsy.response_headers import CONTENT_POLICY, write_content_policy


class SchemaView(SpectacularAPIView):
    """The document is no secret: it says the same for every installation."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []


# Swagger UI brings inline code; the rest of the product stays strict.
_RELAXED = {"script-src": "'self' 'unsafe-inline'", "style-src": "'self' 'unsafe-inline'"}


@extend_schema(exclude=True)
class DocsView(SpectacularSwaggerView):
    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    url_name = "api-schema"

    @override
    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        response.headers[CONTENT_POLICY] = write_content_policy(_RELAXED)
        return super().finalize_response(request, response, *args, **kwargs)


class IdentityScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the identity looks in the OpenAPI document."""

    target_class = "investigations.api.identity.IdentityAuthentication"
    name = ["token", "login"]

    @override
    def get_security_requirement(self, auto_schema: object) -> list[dict[str, list[Any]]]:
        """Either of them will do."""
        return [{name: []} for name in self.name]

    @override
    def get_security_definition(self, auto_schema: object) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer"},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]


class SenderScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the proof of an alert source looks beside a token."""

    target_class = "investigations.api.senders.SenderAuthentication"
    name = "alert_source"

    @override
    def get_security_requirement(self, auto_schema: object) -> list[dict[str, list[Any]]]:
        """Any of them will do."""
        return [{name: []} for name in ("token", "login", self.name)]

    @override
    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "What `alert_senders` of tarsy.yaml asks of the source: a token or a "
            "user here, or a signature in the header that the source uses.",
        }
