"""Everything that can be seen of one declared service from outside, in one look."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import psutil
from redis import RedisError

from ops.envelope import Json
from ops.files import timestamp
from ops.probes.endpoint import EndpointState, probe_endpoint
from ops.probes.space import read_space
from ops.probes.store import probe_store, read_queue
from ops.process_identity import ProcessIdentity, find_session_of
from ops.resources import Resource
from ops.services.declaration import DeclaredService, MessageQueue
from ops.services.running import read_state

_SIDE_BY_SIDE = 8


def probe_services(
    asked: Sequence[Resource], services: Mapping[str, DeclaredService]
) -> list[dict[str, Json]]:
    """Look at declared services side by side: each may be silent for some seconds."""

    def probe(resource: Resource) -> dict[str, Json]:
        assert resource.declared is not None
        return _probe(resource.declared, resource.resource_id, services)

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as threads:
        return list(threads.map(probe, asked))


def _probe(
    service: DeclaredService, resource_id: str, services: Mapping[str, DeclaredService]
) -> dict[str, Json]:
    """All that the service declares. `is_well` is whether nothing of it is in trouble."""
    state = read_state(service)
    data: dict[str, Json] = {"resource_id": resource_id, "service": service.name, **state.to_json()}
    problems: list[str] = []
    if state.process is None:
        problems.append(f"{service.name} does not run")
    else:
        data["processes"] = _read_processes(state.process)
    if service.endpoint:
        endpoint = probe_endpoint(service.endpoint, service.authority_file)
        problems += [endpoint.problem] if endpoint.problem else []
        data["endpoint"] = endpoint.to_json() | _compare_ports(endpoint, state.process)
    if service.store_file is not None:
        store = probe_store(service.store_file)
        problems += store.problems
        data["store"] = store.to_json()
    if service.queue is not None:
        data["queue"] = _read_queue(service.queue, services, problems)
    if service.space is not None:
        data["space"] = read_space(service.space, problems)
    return {
        **data,
        "depends_on": service.depends_on,
        "repairs": [each.to_json() for each in service.repairs],
        "is_well": not problems,
        "problems": problems,
    }


def _read_processes(leader: ProcessIdentity) -> list[Json]:
    """The processes of the service, the oldest first, with the ports on which each listens."""
    rows: list[dict[str, Json]] = []
    for identity in find_session_of(leader):
        try:
            process = psutil.Process(identity.pid)
            with process.oneshot():
                rows.append(
                    {
                        "pid": process.pid,
                        "name": process.name(),
                        "started": timestamp(process.create_time()),
                        "memory_bytes": process.memory_info().rss,
                        "open_files": process.num_fds(),
                        "listens_on": list(_ports_of(process)),
                    }
                )
        except (psutil.Error, OSError):
            continue
    return [*sorted(rows, key=lambda row: str(row["started"]))]


def _ports_of(process: psutil.Process) -> list[int]:
    found = process.net_connections(kind="tcp")
    return sorted({each.laddr.port for each in found if each.status == psutil.CONN_LISTEN})


def _compare_ports(endpoint: EndpointState, leader: ProcessIdentity | None) -> dict[str, Json]:
    """Where the service listens, for an endpoint at which nobody does."""
    if endpoint.fault != "refused" or leader is None:
        return {}
    ports: set[int] = set()
    for identity in find_session_of(leader):
        try:
            ports.update(_ports_of(psutil.Process(identity.pid)))
        except (psutil.Error, OSError):
            continue
    return {"service_listens_on": sorted(ports)}


def _read_queue(
    queue: MessageQueue, services: Mapping[str, DeclaredService], problems: list[str]
) -> Json:
    store = services[queue.store]
    assert store.store_file is not None
    try:
        found = read_queue(store.store_file, queue.waiting, queue.working)
    except (OSError, RedisError) as error:
        problems.append(f"its queue in {queue.store} cannot be read: {error}")
        return {"store": queue.store, "error": str(error)}
    waiting = found["waiting"]
    assert isinstance(waiting, int)
    if waiting > queue.limit:
        problems.append(f"{waiting} messages wait in {queue.waiting}, more than {queue.limit}")
    return {"store": queue.store, "list": queue.waiting, "limit": queue.limit, **found}
