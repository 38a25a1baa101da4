"""What a container's or a pod's own description says that runs in it."""

import re
from collections.abc import Iterator

from ops.discovery.findings import Findings, Service, service_of_image
from ops.discovery.known_services import image_name
from ops.discovery.programs import Paths
from ops.envelope import Json, JsonObject
from ops.kubernetes_rows import list_of, part

_INNER_PORT = re.compile(r"(\d{1,5})/(?:tcp|udp|sctp)$")
_OF_CONFIG = ("configMap", "secret", "projected", "downwardAPI")


def findings_of_container(inspection: JsonObject, ports: Json) -> Findings:
    """`inspection` is what the docker tool shows of it, `ports` those of its row in a list."""
    image = str(inspection.get("image") or "")
    mounts = [part(each) for each in list_of(inspection.get("mounts"))]
    inner = sorted({port for each in list_of(ports) if (port := _inner_port(str(each)))})
    targets = tuple(str(mount.get("destination")) for mount in mounts)
    service = service_of_image(image, image_name(image), tuple(inner), Paths(data=targets))
    details: dict[str, Json] = {
        "image": image,
        "command": inspection.get("command"),
        "published_ports": ports,
        "mounts": mounts,
        "environment_names": inspection.get("environment_names"),
    }
    return Findings([service], details=details)


def findings_of_workload(item: JsonObject) -> Findings:
    """A pod, or a deployment by the template of its pods."""
    spec = part(item.get("spec"))
    template = part(part(spec.get("template")).get("spec"))
    spec = template or spec
    volumes = {str(part(each).get("name")): part(each) for each in list_of(spec.get("volumes"))}
    containers = [part(each) for each in list_of(spec.get("containers"))]
    services = [_service_of(each, volumes) for each in containers]
    details: dict[str, Json] = {
        "containers": [
            {"name": each.get("name"), "image": each.get("image"), "ports": _ports_of(each)}
            for each in containers
        ],
        "volumes": [_volume(name, volume) for name, volume in volumes.items()],
    }
    return Findings(services, details=details)


def _service_of(container: JsonObject, volumes: dict[str, JsonObject]) -> Service:
    image = str(container.get("image") or "")
    config: list[str] = []
    data: list[str] = []
    for mount in map(part, list_of(container.get("volumeMounts"))):
        kinds = volumes.get(str(mount.get("name")), {})
        target = config if any(kind in kinds for kind in _OF_CONFIG) else data
        target.append(str(mount.get("mountPath")))
    paths = Paths(tuple(config), data=tuple(data))
    name = str(container.get("name") or image_name(image))
    return service_of_image(image, name, tuple(_ports_of(container)), paths)


def _ports_of(container: JsonObject) -> list[int]:
    ports = (part(each).get("containerPort") for each in list_of(container.get("ports")))
    return [port for port in ports if isinstance(port, int)]


def _volume(name: str, volume: JsonObject) -> dict[str, Json]:
    kind = next((key for key in volume if key != "name"), "")
    source = part(volume.get(kind))
    named = next(_texts(source, "claimName", "name", "secretName", "path"), None)
    return {"name": name, "kind": kind, "source": named}


def _texts(source: JsonObject, *keys: str) -> Iterator[str]:
    yield from (value for key in keys if isinstance(value := source.get(key), str))


def _inner_port(port: str) -> int:
    found = _INNER_PORT.search(port)
    return int(found[1]) if found else 0
