# SPDX-License-Identifier: BSD-2-Clause
"""Outputs that reach their collector by way of an HTTP proxy, which alone knows the collector's name."""

import os

import pytest
from rig.load import LOAD
from rig.moody import MoodyWeb
from rig.otlpsink import OtlpSink
from rig.process import exactly, free_port, wait_until
from rig.webproxy import WebProxy
from test_connect import make_certificate
from test_doctor import findings
from test_otlp_faults import every, ordinals, write_private
from test_suspects import BAD, ids_of, is_bad, run_until_dropped

NAME = "collector.invalid"
PLACES = {False: f"{NAME}:4318", True: f"{NAME}:443"}


class Way:
    """A collector, the proxy before it, and what an output needs to come there."""

    def __init__(self, node, tls, login=None, name=NAME):
        self.place = PLACES[tls]
        self.keys = {"type": "otlp", "server": self.place, "batch_delay": "50ms", "timeout": "2s", "retry_max": "500ms"}
        self.sink = OtlpSink()
        if tls:
            context = make_certificate(node, "collector", f"DNS:{name}")
            self.sink.server.socket = context.wrap_socket(self.sink.server.socket, server_side=True)
            self.keys.update(tls="yes", tls_ca=node.path("collector.pem"))
        self.proxy = WebProxy({self.place: self.sink.port}, login)
        self.keys["proxy"] = f"127.0.0.1:{self.proxy.port}"
        self.asked = f"CONNECT {self.place}" if tls else f"POST http://{self.place}/v1/traces"

    def __enter__(self):
        self.sink.__enter__()
        self.proxy.start()
        return self

    def __exit__(self, *_):
        self.proxy.stop()
        self.sink.__exit__()


def validate(node, *words, **environment):
    """Exit code, and what it says."""
    command = [node.built("cli/blkin"), "validate", *words, node.path("agent.conf")]
    program = node.start(command, name="validate", **environment)
    return program.wait(60), program.log()


@pytest.mark.parametrize("tls, keeps", [(False, True), (False, False), (True, True)], ids=["plain", "single", "tls"])
def test_spans_come_through(node, tls, keeps):
    """Each once; also those of the time while the proxy was away, which is what the status says then."""
    with Way(node, tls) as way:
        way.proxy.keeps = keeps
        node.start_agent(1, output=way.keys)
        node.run([LOAD, "-n", 3000])
        way.sink.wait_for(3000)
        node.wait_ledger(lambda ledger: ledger.made == 3000 and ledger.idle(), 30, "delivery")
        assert set(way.proxy.requests) == {way.asked} and way.proxy.refused == []
        exactly(ordinals(way.sink) == every(1, 3000), "each span came once")
        way.proxy.stop()
        node.run([LOAD, "-n", 500])
        wait_until(lambda: "output-proxy" in findings(node), 20, "the doctor to find it")
        found = findings(node)["output-proxy"]
        assert found["what"] == (
            f"the collector at {way.place} through the proxy 127.0.0.1:{way.proxy.port} takes no spans: "
            "the proxy cannot be reached: connection refused"
        )
        assert "`proxy` in [output]" in found["fix"]
        way.proxy.start()
        ledger = node.wait_ledger(lambda ledger: ledger.sent == 3500 and ledger.idle(), 30, "delivery")
        assert (ledger.sent, ledger.sent_again, ledger.dropped) == (3500, 0, 0)
        assert f"output {way.place} through the proxy 127.0.0.1:{way.proxy.port}: delivering again" in node.agent.log()
        assert node.agent.stop() == 0


def test_what_was_set_aside_comes_through(node):
    """
    A batch on which the collector fails each time is tried on a connection of its own, which goes through the proxy too: the
    bad span is found and counted, and the others arrive.
    """
    place = f"{NAME}:9411"
    quick = {"type": "http", "batch_delay": "20ms", "batch_spans": 100, "timeout": "2s", "retry_min": "20ms", "retry_max": "100ms"}
    with (
        MoodyWeb(node, lambda messages: 500 if is_bad(messages) else 202) as web,
        WebProxy({place: web.port}) as proxy,
    ):
        node.start_agent(1, output=dict(quick, server=place, proxy=f"127.0.0.1:{proxy.port}"))
        node.run([LOAD, "-n", 2000])
        more = run_until_dropped(node)
        ledger = node.wait_ledger(lambda ledger: ledger.idle() and not ledger.spooled, 60, "all to be settled")
        assert (ledger.sent, ledger.dropped_for("refused")) == (1999 + more, 1), str(ledger)
        assert sorted(ids_of(web)) == [n for n in range(2000) if n != BAD]
        assert node.agent.stop() == 0


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_login(node, tls):
    """The password's file is corrected, and the spans come without a reload; nothing shows the password."""
    path = node.path("password")
    with Way(node, tls, "blkin:good one") as way:
        node.start_agent(1, output=dict(way.keys, proxy=f"http://127.0.0.1:{way.proxy.port}/"))
        node.run([LOAD, "-n", 300])
        wait_until(lambda: "output-proxy-login" in findings(node), 20, "the doctor to find it")
        found = findings(node)["output-proxy-login"]
        assert "the proxy wants a user and password" in found["what"]
        assert "`proxy-password-file`" in found["fix"]
        assert node.agent.stop() == 0
        write_private(path, "other one\n")
        keys = dict(way.keys, proxy=f"http://blkin@127.0.0.1:{way.proxy.port}/", proxy_password_file=path)
        node.start_agent(1, output=keys)
        wait_until(lambda: "output-proxy-login" in findings(node), 20, "the doctor to find it")
        os.remove(path)
        wait_until(lambda: "output-password" in findings(node), 20, "the doctor to find it")
        write_private(path, "good one\n")
        way.sink.wait_for(300)
        ledger = node.wait_ledger(lambda ledger: ledger.idle() and not ledger.spooled, 20, "delivery")
        assert ledger.dropped == 0
        wait_until(lambda: "output-password" not in findings(node), 15, "the doctor to find it no more")
        exactly(ordinals(way.sink) == every(1, 300), "each span came once")
        assert set(way.proxy.refused) == {407}
        assert "other one" not in node.agent.log()
        assert node.agent.stop() == 0


def test_way_is_tried(bare_node):
    """What `validate --connect` says of each."""
    with Way(bare_node, True, "blkin:good") as way:
        via = f"[output] {way.place} through the proxy 127.0.0.1:{way.proxy.port}: "

        def said(code, **keys):
            bare_node.write_config(1, output=dict(way.keys, **keys))
            got, text = validate(bare_node, "--connect", https_proxy=f"http://blkin:good@127.0.0.1:{way.proxy.port}")
            assert got == code, text
            return next(line for line in text.splitlines() if line.startswith("[output]"))

        assert said(0, proxy="${https_proxy:-}").startswith(via + "accepted (")
        login = said(1)
        assert login.startswith(via + "takes no spans: the proxy wants a user and password: HTTP status 407 Proxy")
        other = said(1, proxy=f"blkin:other@127.0.0.1:{way.proxy.port}")
        assert other.startswith(via + "takes no spans: the proxy does not accept our user and password: HTTP")
        port = said(1, proxy="${https_proxy}", server=f"{NAME}:4318")
        assert "cannot connect: the proxy does not allow a tunnel to collector.invalid:4318: HTTP status 403" in port
        name = said(1, proxy="${https_proxy}", server="elsewhere.invalid:443")
        assert "cannot connect: the proxy gets no connection to elsewhere.invalid:443: HTTP status 502 Bad" in name
        away = free_port()
        assert said(1, proxy=f"127.0.0.1:{away}").startswith(
            f"[output] {way.place} through the proxy 127.0.0.1:{away}: cannot connect: the proxy cannot be reached: "
        )
        web = said(1, proxy=f"127.0.0.1:{way.sink.port}")
        assert "cannot connect: " in web or "no TLS connection: " in web
        # without the variable there is no proxy, and nobody knows the collector's name
        bare_node.write_config(1, output=dict(way.keys, proxy="${BLKIN_NO_PROXY:-}"))
        assert f"[output] {way.place}: cannot connect: no address for {NAME}" in validate(bare_node, "--connect")[1]
        assert len(way.sink.spans) == 1


def test_name_is_checked_in_the_tunnel(bare_node):
    with Way(bare_node, True, name="another.invalid") as way:
        bare_node.write_config(1, output=way.keys)
        code, text = validate(bare_node, "--connect")
        assert code == 1
        assert f"no TLS connection: the server's certificate is not valid for {NAME}" in text
        assert way.sink.spans == []


def test_answers_of_a_proxy_without_tls(bare_node):
    """They look like the collector's, so both are named."""
    with Way(bare_node, False, "blkin:good") as way:
        via = f"[output] {{}} through the proxy 127.0.0.1:{way.proxy.port}: "
        bare_node.write_config(1, output=way.keys)
        text = validate(bare_node, "--connect")[1]
        assert via.format(way.place) + "takes no spans: HTTP status 407 Proxy Authentication Required; the proxy wants" in text
        keys = dict(way.keys, proxy=f"blkin:good@127.0.0.1:{way.proxy.port}", server="elsewhere.invalid:4318")
        bare_node.write_config(1, output=keys)
        text = validate(bare_node, "--connect")[1]
        assert via.format("elsewhere.invalid:4318") + "asks to try later: HTTP status 502 Bad Gateway" in text


def test_password_is_not_shown(bare_node):
    """Neither in the printed configuration, nor in a complaint; a file that everybody reads is noted."""
    bare_node.write_config(1, output={"type": "otlp", "proxy": "${https_proxy}"})
    code, text = validate(bare_node, "--print", https_proxy="http://blkin:hush@proxy:3128")
    assert code == 0 and "hush" not in text
    assert "proxy = http://blkin:***@proxy:3128" in text
    code, text = validate(bare_node, https_proxy="http://blkin:hush@proxy")
    assert code == 78 and "hush" not in text
    assert "`proxy = http://blkin:***@proxy` is not valid: it must be HOST:PORT, or http://USER@HOST:PORT" in text
    path = bare_node.path("password")
    write_private(path, "hush\n")
    os.chmod(path, 0o644)
    os.chmod(bare_node.folder, 0o755)
    keys = {"type": "otlp", "proxy": "blkin@proxy:3128", "proxy_password_file": path}
    bare_node.write_config(1, output=keys)
    code, text = validate(bare_node)
    assert code == 0 and f"everybody can read `proxy-password-file = {path}` of [output]" in text
    bare_node.write_config(1, output=dict(keys, proxy_password_file="/nowhere"))
    code, text = validate(bare_node)
    assert code == 1 and "the password in `/nowhere` cannot be read: No such file or directory" in text
