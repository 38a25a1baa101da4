"""What stands behind other people's tool servers where the real thing is not at hand.

One server on loopback answers as much of the APIs of Kubernetes, Prometheus, Grafana, Argo CD and
GitLab as the tools ask for that are called here, and serves one page. What is changed through it
stays changed, so that a look can show it.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from agents.types import JSON

PAGE = "<html><body><h1>Runbook</h1><p>Restart the import when it hangs.</p></body></html>"
_BRANCHES = "/api/v4/projects/shop/repository/branches"
_DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/web"
_APPLICATION = "/api/v1/applications/web"
Fields = dict[str, JSON]


class Backends:
    """What the APIs know, by path, and what was changed through them."""

    def __init__(self) -> None:
        self.writes: list[str] = []
        """Method and path of every request that changed something."""
        self._known: dict[str, JSON] = {**_KUBERNETES, **_PROMETHEUS, **_GRAFANA}
        self._scale(1)
        self._sync("OutOfSync")
        self._known["/api/v4/projects/shop"] = {"id": 1, "name": "shop", "default_branch": "main"}
        self._add_branch("main")

    def answer(self, method: str, path: str, body: Fields) -> JSON:
        """What an API answers; None where there is no such thing."""
        match method, path:
            case "PUT" | "PATCH", _ if path == f"{_DEPLOYMENT}/scale":
                self._scale(_fields(body["spec"])["replicas"])
            case "POST", _ if path == f"{_APPLICATION}/sync":
                self._sync("Synced")
                path = _APPLICATION
            case "POST", _ if path == _BRANCHES:
                path = self._add_branch(str(body["branch"]))
            case "GET" | "HEAD" | "POST", _:
                return self._known.get(path)
            case _:
                return None
        self.writes.append(f"{method} {path}")
        return self._known[path]

    def _scale(self, replicas: JSON) -> None:
        spec: Fields = {"replicas": replicas}
        about = _about("web", "default")
        self._known[_DEPLOYMENT] = {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": spec,
        }  # fmt: skip
        self._known[f"{_DEPLOYMENT}/scale"] = {
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": about, "spec": spec,
            "status": spec,
        }  # fmt: skip

    def _sync(self, status: str) -> None:
        application: JSON = {
            "metadata": _about("web", "argocd"),
            "status": {"sync": {"status": status}, "health": {"status": "Healthy"}},
        }
        self._known[_APPLICATION] = application
        self._known["/api/v1/applications"] = {"metadata": {}, "items": [application]}

    def _add_branch(self, name: str) -> str:
        path = f"{_BRANCHES}/{name}"
        self._known[path] = {"name": name, "commit": _COMMIT, "web_url": path, **_UNPROTECTED}
        return path


@contextmanager
def run_backends() -> Iterator[tuple[Backends, str]]:
    """The backends, and the address at which they answer."""
    backends = Backends()
    handler = type("Handler", (_Handler,), {"backends": backends})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield backends, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    backends: Backends
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/runbook":
            self._send(200, "text/html", PAGE)
            return
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length)
        body = json.loads(sent) if sent.startswith(b"{") else {}
        path = unquote(urlsplit(self.path).path)
        answer = self.backends.answer(self.command, path, body)
        if answer is None:
            missing = {"kind": "Status", "status": "Failure", "message": "not found", "code": 404}
            self._send(404, "application/json", json.dumps(missing))
            return
        self._send(200, "application/json", json.dumps(answer))

    do_POST = do_PUT = do_PATCH = do_GET

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def _fields(value: JSON) -> Fields:
    assert isinstance(value, dict)
    return value


def _about(name: str, namespace: str) -> Fields:
    return {"name": name, "namespace": namespace, "uid": "1", "resourceVersion": "1"}


def _resource(name: str, kind: str, *, in_namespaces: bool = True) -> Fields:
    return {"name": name, "singularName": kind.lower(), "kind": kind, "namespaced": in_namespaces,
            "verbs": ["get", "list", "update", "patch"]}  # fmt: skip


def _list_of(kind: str, *items: JSON) -> Fields:
    return {"apiVersion": "v1", "kind": f"{kind}List", "metadata": {}, "items": list(items)}


_WHEN, _WHO = "2026-01-01T00:00:00Z", "ann"
_COMMIT: Fields = {
    "id": "c0ffee", "short_id": "c0ffee", "title": "one", "message": "one", "parent_ids": [],
    "author_name": _WHO, "author_email": _WHO, "authored_date": _WHEN, "committer_name": _WHO,
    "committer_email": _WHO, "committed_date": _WHEN, "created_at": _WHEN, "web_url": "/c0ffee",
}  # fmt: skip
_UNPROTECTED: Fields = dict.fromkeys(
    ("merged", "protected", "developers_can_push", "developers_can_merge", "can_push", "default"),
    False,
)
_POD: Fields = {
    "apiVersion": "v1", "kind": "Pod", "metadata": _about("web-1", "default"),
    "spec": {"containers": [{"name": "web", "image": "web:1"}]}, "status": {"phase": "Running"},
}  # fmt: skip
_APPS: Fields = {"groupVersion": "apps/v1", "version": "v1"}
_KUBERNETES: dict[str, JSON] = {
    "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {
        "kind": "APIGroupList", "apiVersion": "v1",
        "groups": [{"name": "apps", "versions": [_APPS], "preferredVersion": _APPS}],
    },
    "/api/v1": {
        "kind": "APIResourceList", "groupVersion": "v1",
        "resources": [_resource("pods", "Pod"),
                      _resource("namespaces", "Namespace", in_namespaces=False)],
    },
    "/apis/apps/v1": {
        "kind": "APIResourceList", "groupVersion": "apps/v1",
        "resources": [_resource("deployments", "Deployment"),
                      {**_resource("deployments/scale", "Scale"), "group": "autoscaling",
                       "version": "v1"}],
    },
    "/api/v1/pods": _list_of("Pod", _POD),
    "/api/v1/namespaces/default/pods": _list_of("Pod", _POD),
    "/api/v1/namespaces/default/pods/web-1": _POD,
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": {
        "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": {},
        "status": {"allowed": True},
    },
}  # fmt: skip
_PROMETHEUS: dict[str, JSON] = {
    "/api/v1/query": {
        "status": "success",
        "data": {
            "resultType": "vector",
            "result": [{"metric": {"__name__": "up", "job": "shop"}, "value": [1700000000, "1"]}],
        },
    },
}
_GRAFANA: dict[str, JSON] = {
    "/api/datasources": [{"id": 1, "uid": "prom", "name": "metrics", "type": "prometheus"}],
}
