"""Four ways in, what a browser finds at the end of each, and what must not come in at all."""

import re
import signal
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import httpx
import pytest

from tests.deployment.containers import wait_for_port
from tests.deployment.stack import ADMIN, HOST, MAILBOX, PASSWORD, Stack
from tests.deployment.walking import Walker, walk

pytestmark = [pytest.mark.browser, pytest.mark.worker, pytest.mark.timeout(420)]

FRONT = "127.0.0.78"
"""What stands before the identity proxy: a test sends what it would."""


def restarts(stack: Stack) -> int:
    return len(stack.ledger.read_text().split()) if stack.ledger.exists() else 0


def as_installed(stack: Stack) -> str:
    """`.env` says no more than it must. Returns where people open the dashboard."""
    stack.configure()
    return f"http://localhost:{stack.port}"


def on_a_host(stack: Stack) -> str:
    base = f"http://{HOST}:{stack.port}"
    stack.configure(BASE_URL=base)
    return base


def behind_tls(stack: Stack) -> str:
    base = f"https://{HOST}:{stack.tls_port}"
    stack.put_tls_in_front()
    stack.configure(BASE_URL=base)
    return base


def behind_an_identity_proxy(stack: Stack) -> str:
    """And something in front of that one, from FRONT."""
    base = f"http://{HOST}:{stack.login_port}"
    stack.put_identity_proxy_in_front()
    stack.configure(
        BASE_URL=base,
        TARSY_FORWARDING_PROXIES=FRONT,
        TARSY_TRUSTED_PROXIES="oauth2-proxy",
        TARSY_IDENTITY_HEADERS="X-Forwarded-User",
    )
    return base


def go_all_the_way(walker: Walker, stack: Stack) -> None:
    before = restarts(stack)
    walker.submit("The import does not get on")
    walker.watch_until_it_asks()
    assert restarts(stack) == before
    walker.approve()
    assert restarts(stack) == before + 1
    walker.visit_the_administration()


@contextmanager
def client(stack: Stack, source: str, base: str = "", **headers: str) -> Iterator[httpx.Client]:
    """A program that comes from `source`."""
    with httpx.Client(
        base_url=base or f"http://127.0.0.1:{stack.port}",
        headers=headers,
        transport=httpx.HTTPTransport(local_address=source),
        timeout=30,
    ) as opened:
        yield opened


def try_to_log_in(browser: httpx.Client, *, account: str = ADMIN, **headers: str) -> int:
    """With a wrong password, as somebody who guesses does: 200 is the form again."""
    token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', browser.get("/login/").text)
    assert token is not None
    form = {"csrfmiddlewaretoken": token[1], "username": account, "password": "a wrong one"}
    return browser.post("/login/", data=form, headers=headers).status_code


def guess_until_refused(browser: httpx.Client) -> None:
    assert [try_to_log_in(browser) for _ in range(4)] == [200, 200, 200, 429]


# ---- As installed, on a port that is not 80 ------------------------------------------------------


def test_on_a_port_that_is_not_80(stack, chromium, pictures):
    with walk(chromium, as_installed(stack), pictures, "port") as walker:
        walker.log_in(ADMIN, PASSWORD)
        go_all_the_way(walker, stack)


def test_an_open_page_goes_on_after_nginx_was_loaded_anew_and_started_again(
    stack, chromium, pictures
):
    base = as_installed(stack)
    nginx = stack.engine.containers["nginx"]
    cut = ("WebSocket connection", "ERR_CONNECTION", "503")

    with walk(chromium, base, pictures, "cut", forgives=cut) as walker:
        walker.log_in(ADMIN, PASSWORD)
        walker.submit("The import does not get on")
        nginx.send(signal.SIGHUP)
        walker.watch_until_it_asks()
        sockets = len(walker.sockets)
        nginx.stop()
        nginx.start()
        wait_for_port("127.0.0.1", stack.port)
        walker.wait_for_another_socket(sockets)
        walker.approve()
        seen = walker.list_events()
        walker.shown.reload()
        walker.wait_until_it_is_over()
        assert sorted(seen) == sorted(walker.list_events())
        assert len(seen) == len(set(seen)) > 0


def test_a_browser_cannot_say_that_it_came_by_tls(stack):
    as_installed(stack)
    origin = {"origin": f"https://127.0.0.1:{stack.port}"}

    with client(stack, "127.0.0.31") as browser:
        for forged in ("https", "https,https", "https, http", "wss"):
            headers = {**origin, "x-forwarded-proto": forged, "x-forwarded-ssl": "on"}
            assert try_to_log_in(browser, **headers) == 403, forged


def test_each_person_behind_nginx_has_limits_of_their_own_over_ipv6_too(stack):
    as_installed(stack)
    six = f"http://[::1]:{stack.engine.ipv6_port}"

    with client(stack, "127.0.0.33") as first, client(stack, "127.0.0.34") as second:
        guess_until_refused(first)
        assert try_to_log_in(second) == 200
    with client(stack, "::1", six, host=f"localhost:{stack.port}") as third:
        guess_until_refused(third)
    with client(stack, "127.0.0.35") as fourth:
        assert try_to_log_in(fourth) == 200


# ---- On a host name of its own -------------------------------------------------------------------


def test_on_a_host_name_of_its_own(stack, chromium, pictures):
    with walk(chromium, on_a_host(stack), pictures, "host") as walker:
        walker.log_in(ADMIN, PASSWORD)
        go_all_the_way(walker, stack)


def test_a_wrong_host_is_refused_and_the_containers_stay_healthy(stack):
    on_a_host(stack)

    with client(stack, "127.0.0.30", host="rebound.example") as stranger:
        assert stranger.get("/").status_code == 400
        assert stranger.get("/api/v1/sessions").status_code == 400
        assert stranger.get("/healthz").status_code == 200
    for name in ("web", "ws", "nginx"):
        assert stack.engine.containers[name].check_health(), name


def test_while_nobody_answers_people_and_programs_are_told_so(stack):
    stack.engine.containers["web"].stop()

    with client(stack, "127.0.0.37") as browser:
        page, answer = browser.get("/"), browser.post("/api/v1/alerts", json={"data": "x"})

    assert (page.status_code, answer.status_code) == (503, 503)
    assert "TARSy does not answer at the moment" in page.text
    assert answer.json()["message"].endswith("try again")
    assert page.headers["retry-after"] == answer.headers["retry-after"] == "5"
    stack.engine.recreate("web")


# ---- Behind TLS that ends in front ---------------------------------------------------------------


def test_behind_tls_that_ends_in_front(stack, chromium, pictures):
    with walk(chromium, behind_tls(stack), pictures, "tls") as walker:
        walker.log_in(ADMIN, PASSWORD)
        cookies = {cookie["name"]: cookie["secure"] for cookie in walker.shown.context.cookies()}
        assert cookies == {"csrftoken": True, "sessionid": True}
        go_all_the_way(walker, stack)


def test_behind_tls_that_is_known_another_name_may_be_used_too(stack):
    base = f"https://127.0.0.1:{stack.tls_port}"
    front = stack.put_tls_in_front()
    other = f"other.example.test:{stack.tls_port}"
    stack.configure(
        BASE_URL=f"https://{HOST}:{stack.tls_port}",
        ALLOWED_HOSTS="other.example.test",
        TARSY_FORWARDING_PROXIES=front,
    )

    with httpx.Client(base_url=base, verify=False, headers={"host": other}) as browser:
        # An account of its own: others have tried theirs from this address within the minute.
        ours = {"account": "nobody", "origin": f"https://{other}", "referer": f"https://{other}/"}
        assert try_to_log_in(browser, **ours) == 200
        assert try_to_log_in(browser, origin=f"http://{other}") == 403


def test_a_certificate_that_has_ended_stops_new_visitors_and_nothing_inside(stack):
    behind_tls(stack)

    def visit() -> int:
        trusting = ssl.create_default_context(cafile=str(stack.certificate))
        with httpx.Client(verify=trusting, timeout=20) as visitor:
            url = f"https://127.0.0.1:{stack.tls_port}/healthz"
            hello = {"sni_hostname": HOST}
            return visitor.get(url, extensions=hello, headers={"host": HOST}).status_code

    assert visit() == 200
    stack.renew_certificate(ends_in=timedelta(days=-1))
    with pytest.raises(httpx.ConnectError, match="certificate has expired"):
        visit()
    for name in ("web", "ws", "nginx"):
        assert stack.engine.containers[name].check_health(), name

    stack.renew_certificate()
    assert visit() == 200


# ---- Behind an identity proxy --------------------------------------------------------------------


def test_behind_an_identity_proxy(stack, chromium, pictures):
    base = behind_an_identity_proxy(stack)

    with walk(chromium, base, pictures, "identity") as walker:
        walker.shown.goto(f"{base}/")
        walker.shown.locator("#name").fill("ada")
        walker.take_picture("login")
        walker.shown.get_by_role("button", name="Continue").click()
        walker.shown.wait_for_url(f"{base}/")
        go_all_the_way(walker, stack)


def test_a_browser_cannot_say_who_it_is(stack):
    behind_an_identity_proxy(stack)
    proxy, nginx = stack.engine.addresses["oauth2-proxy"], stack.engine.addresses["nginx"]

    with client(stack, "127.0.0.32", host=HOST) as browser:
        for header in ("x-forwarded-user", "x-forwarded-email", "x-remote-user"):
            for route in ("", proxy, f"{proxy}, {proxy}", f"{proxy}, {nginx}"):
                headers = {header: ADMIN, "x-forwarded-for": route}
                assert browser.get("/api/v1/sessions", headers=headers).status_code == 401


def test_whom_the_identity_proxy_knows_cannot_be_somebody_else(stack):
    behind_an_identity_proxy(stack)

    with client(stack, "127.0.0.36", f"http://127.0.0.1:{stack.login_port}") as browser:
        assert browser.get("/api/v1/sessions").status_code == 302
        browser.cookies.set("_oauth2_proxy", "ada")
        forged = {"x-forwarded-user": ADMIN, "x-forwarded-email": ADMIN, "x-remote-user": ADMIN}
        sent = browser.post("/api/v1/alerts", json={"data": "x"}, headers=forged).json()
        session = browser.get(f"/api/v1/sessions/{sent['session_id']}").json()
        browser.post(f"/api/v1/sessions/{sent['session_id']}/cancel")

    assert session["author"] == MAILBOX


def test_behind_two_proxies_each_person_has_limits_of_their_own(stack):
    behind_an_identity_proxy(stack)
    base = f"http://127.0.0.1:{stack.login_port}"

    with client(stack, FRONT, base, **{"x-forwarded-proto": "https"}) as proxy:
        # Somebody without an account here, so that the form is shown.
        proxy.cookies.set("_oauth2_proxy", "bob")
        proxy.headers["origin"] = f"https://127.0.0.1:{stack.login_port}"
        proxy.headers["x-forwarded-for"] = "192.0.2.99, 2001:db8:0:7::1"
        guess_until_refused(proxy)
        proxy.headers["x-forwarded-for"] = "2001:db8:0:7::1, 2001:db8:0:8::1"
        assert try_to_log_in(proxy) == 200
