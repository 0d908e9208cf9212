# SPDX-License-Identifier: BSD-2-Clause
"""What README.md and doc/ have their reader type, word by word; and the examples as the package has them."""

import glob
import os
import re
import shutil
import subprocess
import textwrap

import pytest
from rig.node import TOP, build_dir, sanitizer_flags
from rig.process import answers, free_port
from rig.scribe import Receiver


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


README = read("README.md")
INSTRUMENT = read("doc/instrument.md")
OPERATE = read("doc/operate.md")


@pytest.fixture
def machine(bare_node, tmp_path):
    """Runs words of a shell's where this project is installed, in a folder of their own; they must succeed."""
    root = tmp_path / "root"
    subprocess.run(
        ["meson", "install", "-C", build_dir(), "--no-rebuild", "--quiet", "--destdir", str(root)],
        env=dict(os.environ, PATH="/usr/bin:/bin"), check=True,
    )
    (found,) = glob.glob(f"{root}/**/pkgconfig/blkin.pc", recursive=True)
    environment = dict(
        bare_node.environment,
        PATH=f"{os.path.dirname(bare_node.built('cli/blkin'))}:/usr/bin:/bin",
        PKG_CONFIG_SYSROOT_DIR=str(root),
        PKG_CONFIG_PATH=os.path.dirname(found),
    )
    folder = tmp_path / "here"
    folder.mkdir()

    def run(words, code=0):
        done = subprocess.run(["sh", "-c", words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    run.folder = folder
    return run


def build_hello(machine):
    (machine.folder / "hello.c").write_text(re.search(r"```c\n(/\* hello\.c.*?)```", README, re.DOTALL)[1])
    machine(" ".join([re.search(r"^    (cc .*hello)$", README, re.MULTILINE)[1], *sanitizer_flags()]))


def test_import_of_what_lttng_recorded(node, machine):
    """Recorded, shown and sent by the page's commands."""
    receiver = Receiver(node, free_port()).start()
    commands = re.search(r"^    lttng create .*\n(?:    .*\n)*    blkin import --server .*$", INSTRUMENT, re.MULTILINE)[0]
    build_hello(machine)
    ours = commands.replace("/tmp/traces", str(machine.folder / "traces")).replace(":9410", f":{receiver.port}")
    assert ours.count(str(machine.folder)) == 3 and str(receiver.port) in ours
    said = machine(f"set -e\n{ours}")
    assert re.search(r"trace \w+ +2 spans.* hello\n└─ greet .*\n.*whom = world\n.*think", said), said
    assert {span.name for span in receiver.spans()} == {"greet", "think"}


def test_client_and_server(node, machine):
    """The page's two programs, of no more than 30 lines in main and around it: one trace of two spans."""
    receiver = Receiver(node, free_port()).start()
    node.start_agent(receiver.port)
    port = free_port()
    commands = re.search(r"^    (cc .* server)\n    (cc .* client)\n    \./server &\n    (\./client)$", INSTRUMENT, re.MULTILINE).groups()
    for name in ("server", "client"):
        text = re.search(rf"```c\n(/\* {name}\.c.*?)```", INSTRUMENT, re.DOTALL)[1]
        assert len([line for line in text.splitlines() if line]) <= 32
        (machine.folder / f"{name}.c").write_text(text.replace("7000", str(port)))
    for command in commands[:2]:
        machine(" ".join([command, "-Wall -Wextra -Werror", *sanitizer_flags()]))
    node.start([str(machine.folder / "server")]).wait_ready(lambda: answers(port))
    assert node.run([str(machine.folder / "client")]) == "42\n"
    receiver.wait_for(2)
    spans = {span.name: span for span in receiver.spans()}
    assert set(spans) == {"ask", "answer"}
    assert spans["answer"].trace_id == spans["ask"].trace_id and spans["answer"].parent_id == spans["ask"].id


def test_cpp(node, machine):
    """The page's program in C++, whose context goes along as W3C's header."""
    receiver = Receiver(node, free_port()).start()
    node.start_agent(receiver.port)
    command = re.search(r"^    (c\+\+ .* asked)$", INSTRUMENT, re.MULTILINE)[1]
    (machine.folder / "asked.cpp").write_text(re.search(r"```cpp\n(// asked\.cpp.*?)```", INSTRUMENT, re.DOTALL)[1])
    machine(" ".join([command, "-std=c++17 -Wall -Wextra -Werror", *sanitizer_flags()]))
    node.run([str(machine.folder / "asked")])
    receiver.wait_for(3)
    spans = {span.name: span for span in receiver.spans()}
    assert set(spans) == {"ask", "answer", "look up"} and len({span.trace_id for span in spans.values()}) == 1
    assert spans["answer"].parent_id == spans["ask"].id and spans["look up"].parent_id == spans["answer"].id


def test_cpp_threads(node, machine):
    """The page's request that passes two threads: a span that is handed over, and the context for a part of it."""
    receiver = Receiver(node, free_port()).start()
    node.start_agent(receiver.port)
    command = re.search(r"^    (c\+\+ .* asked)$", INSTRUMENT, re.MULTILINE)[1].replace("asked", "handed")
    (machine.folder / "handed.cpp").write_text(re.search(r"```cpp\n(// handed\.cpp.*?)```", INSTRUMENT, re.DOTALL)[1])
    machine(" ".join([command, "-std=c++17 -pthread -Wall -Wextra -Werror", *sanitizer_flags()]))
    node.run([str(machine.folder / "handed")])
    receiver.wait_for(2)
    spans = {span.name: span for span in receiver.spans()}
    assert set(spans) == {"request", "part"} and spans["part"].parent_id == spans["request"].id
    assert "answered" in [annotation.value for annotation in spans["request"].annotations]


def test_sudo():
    """What is answered to root and group blkin only is typed with it, unless a user's own agent is asked."""
    private = re.compile(r"blkin (status|page|top|tail|spool|report|validate --connect|sampling (1/|off|default))")
    pages = ["README.md"] + [os.path.relpath(path, TOP) for path in glob.glob(os.path.join(TOP, "doc/*.md"))]
    typed = [(page, line) for page in pages for line in re.findall(r"^ {4,}(?:\$ )?((?:sudo )?blkin .*)$", read(page), re.MULTILINE)]
    assert len([line for _, line in typed if line.startswith("sudo ")]) >= 5
    assert not [(page, line) for page, line in typed if private.match(line) and "--user" not in line]


def test_examples_build_on_their_own(machine):
    """The files that the package has, in a folder where nothing else of the project is."""
    listed = read("debian/libblkin-dev.examples").split()
    for pattern in listed:
        for path in glob.glob(os.path.join(TOP, pattern)):
            shutil.copy(path, machine.folder)
    assert glob.glob(f"{machine.folder}/*.cpp") and not os.path.exists(machine.folder / "meson.build")
    flags = " ".join(sanitizer_flags())
    machine(f"make CFLAGS='-Wall -Wextra -Werror {flags}' CXXFLAGS='-Wall -Wextra -Werror {flags}'")
    programs = re.search(r"^PROGRAMS = (.*)$", read("examples/Makefile"), re.MULTILINE)[1].split()
    sources = {os.path.basename(path).rsplit(".", 1)[0] for path in glob.glob(os.path.join(TOP, "examples/*.c*"))}
    assert set(programs) == sources
    assert all(os.access(machine.folder / name, os.X_OK) for name in programs)
    assert machine("./shop 3") == "2 orders carried out\n"
    machine("make clean")
    said = machine("PKG_CONFIG_PATH=/nowhere make", code=2)
    assert "pkg-config does not find blkin: install libblkin-dev" in said


def test_development_machine():
    """One line installs all that the section Instrument needs, before it; and each package is in it that is built."""
    line = re.search(r"^    sudo apt install .*libblkin-dev.*$", README, re.MULTILINE)
    assert line and line.start() < README.index("## The first span")
    built = re.findall(r"^Package: (.*)$", read("debian/control"), re.MULTILINE)
    assert set(re.findall(r"\.\./([\w-]+)_\*\.deb", line[0])) == set(built)
    assert {"build-essential", "pkg-config"} <= set(line[0].split())


def test_agent_is_called_where_it_is():
    """No command of the pages begins with blkin-agent for a user, who has no /usr/sbin in his PATH."""
    commands = re.findall(r"^    (?:\S+=\S+ )*(\S*blkin-agent)\b(.*)$", README + OPERATE.split("Without systemd, as root")[0], re.MULTILINE)
    users = [program for program, rest in commands if "--user" in rest]
    assert "/usr/sbin/blkin-agent" in users
    assert all("/" in program for program in users)


def installed_pages():
    """Each package that has pages, and which, as debian/rules asks for them."""
    for package, words in re.findall(r"^\tscripts/installed-docs debian/[^/]+/usr/share/doc/(\S+) (.*)$", read("debian/rules"), re.MULTILINE):
        pages = re.sub(r"\$\(wildcard (.*?)\)", r"\1", words).split()
        yield package, [os.path.relpath(path, TOP) for page in pages for path in glob.glob(os.path.join(TOP, page))]


def test_links_of_installed_pages(tmp_path):
    """None leads to what the package does not have; and the pictures are there."""
    packages = dict(installed_pages())
    assert set(packages) == {"blkin-agent", "libblkin-dev"} and len(packages["blkin-agent"]) > 15
    for package, pages in packages.items():
        folder = tmp_path / package
        subprocess.run([os.path.join(TOP, "scripts/installed-docs"), folder, *pages], check=True)
        links = []
        for page in pages:
            text = (folder / page).read_text(encoding="utf-8")
            links += [(page, link) for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
        assert links
        for page, link in links:
            path = link.partition("#")[0]
            assert not path or os.path.exists(folder / os.path.dirname(page) / path), f"{package}: {page}: {link}"


def test_alert_rules_point_to_a_file_of_the_package():
    path = re.search(r"/usr/share/doc/blkin-agent/(\S+),", read("conf/prometheus-rules.yml"))[1]
    assert path in dict(installed_pages())["blkin-agent"]
    assert read(path).startswith("# Alerts")


def test_links_lead_somewhere():
    """Those of all pages to files and to headings."""
    found = glob.glob(os.path.join(TOP, "*.md")) + glob.glob(os.path.join(TOP, "doc/**/*.md"), recursive=True)
    pages = ["agent/README.md"] + [os.path.relpath(path, TOP) for path in found]
    assert len(pages) > 20

    def headings(page):
        titles = re.findall(r"^#+ (.*)$", read(page), re.MULTILINE)
        return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}

    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
            if link.startswith("http"):
                continue
            path, _, heading = link.partition("#")
            found = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            assert os.path.exists(os.path.join(TOP, found)), f"{page}: {link}"
            assert not heading or heading in headings(found), f"{page}: {link}"


def test_configurations_of_the_pages(bare_node, tmp_path):
    """`blkin validate` takes each that is shown whole, on a node that is not the one that it is for."""
    found = [(page, text) for page in ("clusters", "outputs") for text in configurations(read(f"doc/{page}.md"))]
    assert len([page for page, _ in found if page == "clusters"]) >= 4
    for page, text in found:
        (tmp_path / "agent.conf").write_text(text)
        said = bare_node.run(["cli/blkin", "validate", "--no-environment", str(tmp_path / "agent.conf")])
        assert "agent.conf: OK\n" in said, f"{page}\n{text}\n{said}"


def configurations(page):
    """The blocks that begin with a section."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, re.MULTILINE)
    return [text for text in map(textwrap.dedent, blocks) if re.match(r"\n*\[[a-z ]+\]\n", text)]
