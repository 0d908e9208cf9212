# SPDX-License-Identifier: BSD-2-Clause
"""The packages on a host that never had them: installed, used, removed, purged."""

import os
import re

from rig.process import wait_until

TOP = os.path.join(os.path.dirname(__file__), "../..")


def install(rack, host, **how):
    return host.install(rack.package("blkin-agent"), rack.package("libblkin-provider"), **how)


def test_first_trace_needs_the_collectors_address_and_nothing_else(rack, fresh, collector):
    collector.forget()
    install(rack, fresh)
    assert fresh.active("blkin-agent") and fresh.active("blkin-relayd")
    conf = fresh.read("/etc/blkin/agent.conf")
    changed = re.sub(r"(?m)^#server = .*", f"server = {collector.address}", conf)
    assert changed != conf
    fresh.write("/etc/blkin/agent.conf", changed)
    fresh.systemctl("restart", "blkin-agent")
    fresh.put(rack.program("spanload"), "/usr/local/bin/spanload")
    fresh.run("spanload", "-p", 2, "-n", 500, "-w", 20, user="games")
    assert set(collector.wait_load(1000).values()) == {1}
    assert f"yes, to {collector.address}" in fresh.run("blkin", "status")


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def development_packages(rack, text):
    """What the README's line for a development machine installs: our files, and Debian's packages."""
    (line,) = re.findall(r"^    sudo apt install (.*libblkin-dev.*)$", text, re.MULTILINE)
    ours = re.findall(r"\.\./([\w-]+)_\*\.deb", line)
    assert set(ours) == {"blkin-agent", "libblkin-provider", "libblkin-dev"}
    return [rack.package(name) for name in ours] + [word for word in line.split() if "*" not in word]


def test_readme_hello(rack, fresh):
    """The README's first program, with its commands, on a host that has what the README's one line installs; the examples."""
    text, pages = read("README.md"), read("doc/instrument.md")
    program = re.search(r"```c\n(/\* hello\.c.*?)```", text, re.DOTALL).group(1)
    compile_it = re.search(r"^    (cc .*hello)$", text, re.MULTILINE).group(1)
    copy_and_make = re.search(r"^    (cp -r /usr/share/doc/\S+/examples .*)$", pages, re.MULTILINE).group(1)
    fresh.install(*development_packages(rack, text))
    fresh.write("/root/hello.c", program)
    fresh.run("sh", "-c", f"cd /root && {compile_it}")
    fresh.wait_collecting()
    collect = fresh.start("blkin", "collect", "--count", 2, "--timeout", 30)
    wait_until(lambda: ":9410" in fresh.run("ss", "-ltnH"), 10, "blkin collect to listen")
    said = fresh.run("env", "BLKIN_DEBUG=1", "/root/hello")
    assert re.fullmatch(r"blkin: provider: .*; session daemon: root's; session: records; sampling: all, .*\n", said), said
    assert collect.wait(30) == 0, collect.log()
    assert re.search(r"trace \w+ +2 spans.* hello\n└─ greet .*\n.*whom = world\n.*think", collect.log()), collect.log()
    fresh.run("sh", "-c", f"cd /root && {copy_and_make}")
    assert fresh.run("/root/examples/shop", 3) == "2 orders carried out\n"


def test_agent_of_a_user(rack, fresh):
    """With the page's words, and the PATH that users have."""
    words = re.search(r"^    (\S*blkin-agent --user) &\n    (blkin status --user)$", read("doc/operate.md"), re.MULTILINE)
    start, ask = words.groups()
    install(rack, fresh, recommends=False)
    fresh.run("install", "-d", "-o", "games", "/home/games")
    mine = "export PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/games; cd; "
    agent = fresh.start("sh", "-c", f"{mine}exec {start}", user="games")
    wait_until(lambda: "collecting from LTTng session" in agent.log(), 20, f"the agent to collect: {start}")
    assert "collecting  yes" in fresh.run("sh", "-c", mine + ask, user="games")


def test_removed_and_purged(rack, fresh):
    before = fresh.files()
    install(rack, fresh, recommends=False)
    fresh.wait_collecting()
    fresh.write("/etc/blkin/agent.conf.d/site.conf", "[spans]\nlinger = 2s\n")
    fresh.run("blkin", "sampling", "1/2")
    fresh.run("apt-get", "-q", "-y", "remove", "blkin-agent")
    assert not fresh.active("blkin-agent") and not fresh.active("blkin-relayd")
    assert "blkin" not in fresh.run("lttng", "--no-sessiond", "list")
    assert fresh.code("pgrep", "-u", "blkin") != 0
    assert fresh.run("sh", "-c", "ls /proc/*/exe -l 2>/dev/null | grep -c 'blkin\\|lttng-relayd'", code=None).strip() == "0"
    assert os.path.exists(fresh.path("/etc/blkin/agent.conf")) and os.path.isdir(fresh.path("/var/lib/blkin/relay"))
    install(rack, fresh, recommends=False)
    fresh.wait_collecting()
    assert "linger = 2s" in fresh.run("blkin", "validate", "--print")
    fresh.run("apt-get", "-q", "-y", "purge", "blkin-agent", "libblkin-provider")
    fresh.run("apt-get", "-q", "-y", "autoremove", "--purge")
    left = {path for path in fresh.files() - before if "blkin" in path}
    assert not left
    assert "blkin" not in fresh.run("find", "/etc/systemd", "/var/lib/systemd", "-name", "*blkin*")
