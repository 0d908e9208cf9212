# SPDX-License-Identifier: BSD-2-Clause
"""The agent's page in a real browser: ./check --browser. AXE_JS names axe-core's axe.min.js."""

import os
import re
import time

import pytest
from rig.browser import Browser
from rig.dictation import Dictation
from rig.page import ask, token_of
from rig.process import stopped, wait_until
from test_monitor import ERROR, HOSTILE, set_thresholds

UPDATE, TIMEOUT = 2, 10  # seconds: agent/status/page/page.js
SLACK = 2  # for a machine that does other things, too
THRESHOLDS = {"*/*": "1s", "osd.*/write": "20ms, p99 50ms", "osd.*/read": "errors 1%"}
SOME = [("osd.0", "write", 5000, False)] * 20 + [("osd.0", "read", 900, i == 3) for i in range(20)]
SOME += [("rgw", "GET /bucket/object", 9000, False)] * 20


@pytest.fixture(scope="module")
def browser():
    with Browser() as chromium:
        yield chromium


@pytest.fixture(autouse=True)
def calm(browser, node):
    """The page complains of nothing, and asks nobody else for anything."""
    browser.complaints, browser.requests = [], []
    browser.prefer("light")
    browser.resize(1280, 900)
    yield
    assert not browser.complaints
    strangers = [url for url in browser.requests if not re.match(r"http://127\.0\.0\.1:\d+/|data:|about:", url)]
    assert not strangers
    browser.open("about:blank")  # before the agent goes


@pytest.fixture
def dictation(node):
    with Dictation(node) as program:
        yield program


@pytest.fixture
def open_page(node, receiver, browser):
    """An agent whose page is open to all, and in the browser."""

    def start(query="", **thresholds):
        node.start_agent(receiver.port, agent={"page": "open"}, thresholds=thresholds or THRESHOLDS)
        browser.open(f"http://127.0.0.1:{node.http}/{query}")

    return start


def row(browser, service, span):
    """The class, the state in words and the colour of a row; null: there is none."""
    return browser.run(
        """[...document.querySelectorAll("table.spans > tbody > tr")].filter(row => row.cells.length > 2
             && row.cells[1].textContent === %r && row.cells[2].textContent === %r).map(row =>
             [row.className, row.cells[0].textContent.trim(), getComputedStyle(row).backgroundColor])[0] ?? null"""
        % (service, span)
    )


def test_turns_red_within_one_update(browser, open_page, dictation):
    """And is said in words and by a mark, and read out; the row comes first; it is green again below the limit."""
    open_page()
    dictation.deliver(SOME)
    browser.wait("document.querySelectorAll('table.spans > tbody > tr').length === 3", 10, "three rows")
    style, words, calm_colour = row(browser, "osd.0", "write")
    assert style == "below" and words == "✓ below"
    dictation.deliver([("osd.0", "write", 500000, False)])
    begin = time.monotonic()
    wait_until(lambda: row(browser, "osd.0", "write")[0] == "above", UPDATE + SLACK, "a red row")
    print(f"red after {time.monotonic() - begin:.1f} s")
    _, words, colour = row(browser, "osd.0", "write")
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    assert words == "▲ above" and colour != calm_colour and red > green and red > blue
    states = browser.run("[...document.querySelectorAll('table.spans > tbody > tr')].map(row => row.className)")
    assert states == ["above", "above", "below"]  # of the other one, 5 % are errors
    assert "2 of 3 names" in browser.run("document.querySelector('#news[role=status]').textContent")
    strong = "[...document.querySelectorAll('tr.above strong')].map(e => e.textContent)"
    mean, p99, errors = browser.run(strong)
    assert mean == "28.6 ms" and errors == "1 (5.0 %)"
    assert float(p99.removesuffix(" ms")) == pytest.approx(500, rel=ERROR)


def test_thresholds_by_reload(node, browser, open_page, dictation):
    open_page()
    dictation.deliver(SOME)
    browser.wait("document.querySelectorAll('table.spans > tbody > tr').length === 3", 10, "three rows")
    assert row(browser, "rgw", "GET /bucket/object")[0] == "below"
    set_thresholds(node, **{"rgw/*": "8ms"})
    wait_until(lambda: row(browser, "rgw", "GET /bucket/object")[0] == "above", UPDATE + SLACK, "a red row")
    assert row(browser, "osd.0", "write")[1] == "no limit"


def test_token_in_the_browser(node, receiver, browser):
    """The address of `blkin page` leads to the page, and the token is neither in the address bar nor for scripts."""
    node.start_agent(receiver.port)
    base = f"http://127.0.0.1:{node.http}/"
    browser.open(base)
    assert "blkin page" in browser.run("document.body.textContent")
    browser.complaints.clear()  # it says 403
    browser.open(f"{base}?token={token_of(node)}")
    assert browser.run("location.href") == base and browser.run("document.cookie") == ""
    assert browser.run("document.querySelector('table.spans') !== null")
    browser.open(base)
    assert browser.run("document.querySelector('table.spans') !== null")


def test_token_by_a_link_of_another_site(node, receiver, browser):
    """As in a chat that is a web page."""
    node.start_agent(receiver.port)
    base = f"http://127.0.0.1:{node.http}/"
    browser.open(f"data:text/html,<a href='{base}?token={token_of(node)}'>look</a>")
    browser.run("document.querySelector('a').click()")
    browser.wait(f"location.href === '{base}'", 10, "the page")
    browser.wait("document.querySelector('table.spans') !== null", 10, "to be let in")


def test_hostile_names(browser, open_page, dictation):
    """They are text: no element, no script, no dialog comes of them, and each is opened by its link."""
    open_page()
    dictation.deliver([(name, name, 10, True) for name in HOSTILE] + [("m" * 50000, "n" * 50000, 10, False)])
    count = len(HOSTILE) + 1
    browser.wait(f"document.querySelectorAll('table.spans > tbody > tr').length === {count}", 10, "all rows")
    assert browser.run("document.title") != "owned"
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert browser.run("document.querySelectorAll('#main img, #main h1, #main b, #main script').length") == 0
    shown = browser.run("[...document.querySelectorAll('table.spans tbody th bdi')].map(e => e.textContent)")
    assert "<script>document.title='owned'</script>" in shown and "שלום" in shown
    assert not any(re.search("[\x00-\x1f\u202a-\u202e\u2066-\u2069]", name) for name in shown)
    for i in range(count):
        browser.run(f"document.querySelectorAll('table.spans > tbody > tr:not(.open) th a')[{i}].click()")
        name = browser.run(f"document.querySelectorAll('table.spans > tbody > tr:not(.open) th a')[{i}].textContent")
        wait_until(
            lambda name=name: browser.run("document.querySelector('tr.open')?.previousElementSibling?.cells[2].textContent") == name,
            10,
            name,
        )
    assert browser.run("document.title") != "owned"
    assert browser.run("document.documentElement.scrollWidth <= innerWidth"), "the page is too wide"


def test_by_keyboard(browser, open_page, dictation):
    """Enter opens a histogram; what has the focus keeps it over updates; one filters as one types."""
    open_page()
    dictation.deliver(SOME)
    browser.wait("document.querySelectorAll('table.spans > tbody > tr').length === 3", 10, "three rows")
    browser.run("[...document.querySelectorAll('table.spans th a')].find(a => a.textContent === 'write').focus()")
    focus = browser.run("document.activeElement.id")
    browser.press("Enter", 13, "\r")
    browser.wait("document.querySelector('tr.open svg.histogram rect') !== null", 10, "the histogram")
    assert browser.run("document.activeElement.id") == focus
    assert browser.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert browser.run("document.querySelector('#buckets tbody td:last-child').textContent") == "20"
    browser.press("Enter", 13, "\r")
    browser.wait("document.querySelector('tr.open') === null", 10, "no histogram")
    assert browser.run("document.activeElement.id") == focus
    dictation.deliver([("osd.0", "write", 5000000, False)])  # the row moves
    wait_until(lambda: row(browser, "osd.0", "write")[0] == "above", 10, "a red row")
    assert browser.run("document.activeElement.id") == focus
    browser.run("document.getElementById('filter').focus()")
    browser.write("RGW g")
    browser.wait("document.querySelectorAll('table.spans > tbody > tr').length === 1", 10, "one row")
    time.sleep(UPDATE + 1)
    assert browser.run("[document.activeElement.id, document.activeElement.value]") == ["filter", "RGW g"]
    assert "filter=RGW+g" in browser.run("location.search")


def test_sorted_by_a_click(browser, open_page, dictation):
    open_page()
    dictation.deliver(SOME)
    browser.wait("document.querySelectorAll('table.spans > tbody > tr').length === 3", 10, "three rows")
    spans = "[...document.querySelectorAll('table.spans tbody th')].map(e => e.textContent).join()"
    for column, order, way in (
        ("span", "GET /bucket/object,read,write", "ascending"),
        ("span", "write,read,GET /bucket/object", "descending"),
        ("p99", "GET /bucket/object,write,read", "descending"),
    ):
        browser.run(f"document.getElementById('sort-{column}').click()")
        browser.wait(f"{spans} === '{order}'", 10, f"{column} {way}")
        assert browser.run(f"document.getElementById('sort-{column}').parentNode.getAttribute('aria-sort')") == way


def test_without_scripts(browser, open_page, dictation):
    """The page is the same, and its links and form work."""
    browser.scripts(False)
    try:
        open_page()
        dictation.deliver(SOME)
        address = browser.run("location.href")
        browser.open(address + "?minutes=10&filter=rgw&sort=p99&service=rgw&span=GET%20%2Fbucket%2Fobject")
        assert browser.run("document.querySelectorAll('table.spans > tbody > tr').length") == 2
        assert browser.run("document.querySelectorAll('svg.histogram rect').length") == 1
        assert browser.run("document.getElementById('pause').hidden")
        browser.run("document.getElementById('search').submit()")
        wait_until(lambda: browser.run("location.search").startswith("?filter=rgw&minutes=10"), 10, "the form to be sent")
    finally:
        browser.scripts(True)


def test_agent_goes_and_comes_back(node, browser, open_page):
    """The page says that it is not answered, and goes on when it is."""
    open_page()
    browser.wait("document.getElementById('clock').textContent.startsWith('as of')", 10, "the page")
    assert node.agent.stop() == 0
    browser.wait("document.getElementById('clock').textContent.startsWith('the agent does not answer')", 10, "the words")
    assert float(browser.run("getComputedStyle(document.getElementById('main')).opacity")) < 1
    check_axe(browser, "an agent that is gone")
    node.start_agent_again()
    browser.wait("document.getElementById('clock').textContent.startsWith('as of')", 10, "the page to be back")
    assert browser.run("getComputedStyle(document.getElementById('main')).opacity") == "1"
    browser.complaints.clear()  # of a connection that was refused


def count_changes(browser):
    """Of what is read out at once, from now on: `alerts`."""
    browser.run(
        """(() => { window.alerts = []; const alert = document.querySelector("[role=alert]");
             new MutationObserver(() => alerts.push(alert.textContent)).observe(alert, {childList: true, characterData: true, subtree: true});
           })()"""
    )


def test_agent_that_is_silent(node, browser, open_page):
    """It takes connections, and never answers: that is seen soon, and read out, once, until it goes on."""
    open_page()
    browser.wait("document.getElementById('clock').textContent.startsWith('as of')", 10, "the page")
    count_changes(browser)
    with stopped(node.agent.pid):
        browser.wait("document.getElementById('clock').textContent.startsWith('the agent does not answer')", 15, "the words")
        assert float(browser.run("getComputedStyle(document.getElementById('main')).opacity")) < 1
        check_axe(browser, "an agent that is silent")
        time.sleep(UPDATE + TIMEOUT + 1)
        (alert,) = browser.run("alerts")
        assert alert.startswith("The agent does not answer")
    browser.wait("document.getElementById('clock').textContent.startsWith('as of')", 15, "the page to be back")
    assert browser.run("alerts.slice(1)") == [""]


@pytest.mark.parametrize(
    "change", ["document.title = 'other: spans'", "document.querySelector('header p').textContent = 'blkin-agent 0.0.1'"]
)
def test_another_node_or_version(node, browser, open_page, dictation, change):
    """Its page is loaded as a whole, once, and not while this one is paused."""
    open_page("?sort=p99")
    title, version, address = browser.run("[document.title, document.querySelector('header p').textContent, location.href]")
    browser.run("document.getElementById('pause').click()")
    browser.run(f"window.mark = 1, {change}")
    time.sleep(UPDATE + 1)
    assert browser.run("window.mark") == 1
    browser.run("document.getElementById('pause').click()")
    browser.wait("window.mark === undefined && document.readyState === 'complete'", 10, "it to be loaded")
    assert browser.run("[document.title, document.querySelector('header p').textContent, location.href]") == [title, version, address]
    browser.run("window.mark = 2")
    dictation.deliver(SOME)
    browser.wait("document.querySelectorAll('table.spans > tbody > tr').length === 3", 10, "three rows")
    time.sleep(2 * UPDATE)
    assert browser.run("window.mark") == 2


def test_ten_thousand_names(node, browser, open_page, dictation):
    """The page stays as it is, and does not stutter."""
    open_page("?minutes=all")
    spans = [(f"service {i % 100}", f"name {i}", 100 + i, False) for i in range(10500)]
    for i in range(0, len(spans), 1500):
        dictation.deliver(spans[i : i + 1500])
    browser.wait("document.querySelector('.found').textContent.includes('The first 200 of 10,001 rows')", 10, "200 rows")
    assert browser.run("document.querySelectorAll('table.spans > tbody > tr').length") == 200
    took = browser.run("fetch(location.href).then(a => a.text()).then(() => performance.getEntriesByType('resource').at(-1).duration)")
    print(f"the page takes {took:.0f} ms")


def check_axe(browser, what):
    with open(os.environ["AXE_JS"], encoding="utf-8") as file:
        browser.run(file.read() + "; 0")
    faults = browser.run(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html)]))"
    )
    assert not faults, (what, faults)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe(node, browser, open_page, dictation, scheme):
    """axe-core finds no fault: as it is, with a histogram, on a phone, and with advice."""
    open_page()
    browser.prefer(scheme)
    dictation.deliver(SOME + [("osd.0", "write", 900000, False)])
    base = f"http://127.0.0.1:{node.http}/"
    browser.open(base)
    check_axe(browser, "page")
    browser.open(base + "?service=osd.0&span=write&minutes=all&sort=p99")
    browser.run("document.getElementById('buckets').open = true")
    check_axe(browser, "histogram")
    browser.resize(360, 700)
    check_axe(browser, "phone")
    assert browser.run("document.documentElement.scrollWidth <= innerWidth"), "the page is too wide"
    trace = base + "trace?id=" + re.search(r'href="/trace\?id=([0-9a-f]+)"', browser.run("document.body.innerHTML"))[1]
    for width in 360, 1280:
        browser.resize(width, 700)
        browser.open(trace)
        browser.run("document.querySelector('details').open = true")
        assert "900 ms" in browser.run("document.querySelector('.trace').innerText")
        check_axe(browser, f"trace, {width} wide")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), "the trace is too wide"
    node.relayd.kill()
    wait_until(lambda: "class=\"advice\"" in ask(node, "/").text, 20, "advice")
    browser.resize(1280, 900)
    browser.open(base)
    check_axe(browser, "advice")
