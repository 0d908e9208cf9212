# SPDX-License-Identifier: BSD-2-Clause
"""What is packaged beside the programs: units and texts."""

import glob
import mmap
import os
import re
import subprocess
import time

from rig.node import TOP, VERSION, build_dir


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def test_units_use_variables_that_are_set():
    """Or else systemd of Debian 13 complains of them at each start."""
    units = glob.glob(os.path.join(TOP, "systemd/*.service.in"))
    assert units
    for unit in units:
        text = read(unit)
        used = set(re.findall(r"(?<!\$)\$\{?(\w+)", "\n".join(re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE))))
        assert used <= set(re.findall(r"^Environment=(\w+)=", text, re.MULTILINE)), unit


def test_configuration_is_installed_for_all_or_not_at_all(tmp_path):
    """Where every agent looks for it, which is not below a prefix that some user chose, but in a folder that a package is made of."""
    def install(**variables):
        command = [os.path.join(TOP, "conf/install-conf"), os.path.join(TOP, "conf/agent.conf")]
        subprocess.run(command, check=True, env={"PATH": os.environ["PATH"], **variables})

    assert 'CONFIG_DEFAULT_FILE "/etc/blkin/agent.conf"' in read("agent/config/config.h")
    there = "/etc/blkin/agent.conf"
    was = os.path.exists(there)
    install(MESON_INSTALL_PREFIX=str(tmp_path))
    assert os.path.exists(there) == was and os.listdir(tmp_path) == []
    path = tmp_path / "root/etc/blkin/agent.conf"
    for prefix in ("/usr", "/opt/blkin"):
        install(MESON_INSTALL_PREFIX=prefix, DESTDIR=str(tmp_path / "root"))
        assert path.read_text(encoding="utf-8") == read("conf/agent.conf") and path.stat().st_mode & 0o777 == 0o644
        path.unlink()
    path.write_text("an administrator's\n")
    install(MESON_INSTALL_PREFIX="/usr", DESTDIR=str(tmp_path / "root"))
    assert path.read_text(encoding="utf-8") == "an administrator's\n"


def test_changelogs():
    """One is made of the other, and both begin with the version that is built."""
    made = subprocess.run([os.path.join(TOP, "scripts/debian-changelog")], capture_output=True, text=True, check=True).stdout
    assert made == read("debian/changelog"), "run: scripts/debian-changelog >debian/changelog.new, and move it"
    assert made.startswith(f"blkin ({VERSION}) ")
    assert all(len(line) <= 80 for line in made.splitlines() if not line.startswith(" --"))


def test_samples_are_of_this_version():
    """scripts/release renews them."""
    pages = ["README.md"] + [os.path.relpath(path, TOP) for path in glob.glob(os.path.join(TOP, "doc/*.[1358m]*"))]
    shown = [(page, found) for page in pages for found in re.findall(r"(?:blkin: provider: |blkin-agent )(\d+[\d.]+)[,;]", read(page))]
    assert len(shown) >= 4
    assert {found for _, found in shown} == {VERSION}, shown
    assert f'"blkin {VERSION}"' in read("doc/blkin.1").splitlines()[1]


def listed(*words):
    """What --help lists of a kind: commands, or options."""
    shown = subprocess.run([os.path.join(build_dir(), "cli/blkin"), *words, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  (--[a-z-]+|[a-z]+)\b", shown, re.MULTILINE)) - {"--help", "--version"}


def test_the_commands_page_has_all():
    """Each command has a section, and each of its options is in that and in the synopsis."""
    page = read("doc/blkin.1").replace("\\-", "-")
    synopsis, rest = page.split(".SH DESCRIPTION\n")
    commands = listed()
    assert len(commands) > 9 and set(re.findall(r"^\.SS blkin (\w+)$", rest, re.MULTILINE)) == commands
    for command in commands:
        section = re.split(r"^\.S[SH] ", rest.split(f".SS blkin {command}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
        usage = "".join(part for part in re.split(r"^\.br$", synopsis, flags=re.MULTILINE) if f".B blkin {command}" in part)
        options = listed(command)
        assert {option for option in options if option not in section} == set(), command
        assert {option for option in options if option not in usage} == set(), command


def test_the_configurations_page_has_all():
    """Each key has its place, and no other."""
    rows = re.findall(r'^\t(?:AGENT\("[a-z]+", |OUTPUT\()"([a-z-]+)"', read("agent/config/keys.c"), re.MULTILINE)
    rows += re.findall(r'^\tTYPE\([A-Z_]+, [a-z_]+, "([a-z-]+)"', read("agent/config/inputtypes.h"), re.MULTILINE)
    assert len(rows) > 80
    assert set(re.findall(r"^\.It Ic ([a-z-]+)", read("doc/blkin-agent.conf.5"), re.MULTILINE)) == set(rows)


def maintainer_script(name, folder):
    """That of debian/, with @folder in the place of /."""
    text = read(f"debian/blkin-agent.{name}")
    places = re.findall(r"/(?:run|etc|var)\b", text)
    text, count = re.subn(r"(?<=[ =])/(?=(?:run|etc|var)/)", f"{folder}/", text)
    assert count == len(places) > 0, "a place that is not the test's own"
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return ["sh", path]


def put_commands(folder, **commands):
    """Commands of the test's own, which come first; returns the environment."""
    for name, text in commands.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


SESSION = "echo '[session]'; echo 'name = mine'; echo '[spans]'; echo 'name = other'"


def test_removal_ends_the_sessions(tmp_path):
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    environment = put_commands(tmp_path, blkin=SESSION, lttng=f'echo "$*" >>{tmp_path}/said; [ "$4" = mine ]')
    done = subprocess.run([*maintainer_script("prerm", tmp_path), "remove"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
    numbers = [f"mine-{number}" for number in range(2, 9)]
    said = (tmp_path / "said").read_text().splitlines()
    assert said == [f"--no-sessiond destroy --no-wait {name}" for name in ("mine", "mine-flight", *numbers)]


def test_removal_beside_a_session_daemon_that_hangs(tmp_path):
    """It is not waited for, once for each session; what may be left is said, and the package goes."""
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    environment = put_commands(tmp_path, blkin=SESSION, lttng=f'echo "$*" >>{tmp_path}/said; [ "$4" = mine ] || exec sleep 120')
    begun = time.monotonic()
    done = subprocess.run(
        [*maintainer_script("prerm", tmp_path), "remove"], env=environment, capture_output=True, text=True, check=True, timeout=100
    )
    assert time.monotonic() - begun < 60
    assert "session mine-flight may be left" in done.stderr and done.stderr.count("\n") == 1
    assert len((tmp_path / "said").read_text().splitlines()) == 2


def test_purge_leaves_no_rates(tmp_path):
    """What programs have mapped says nothing any more, and is what later rates are written to."""
    for folder in ("run/blkin", "etc/blkin/agent.conf.d", "var/lib/blkin/relay"):
        (tmp_path / folder).mkdir(parents=True)
    page, other = tmp_path / "run/blkin/sampling", tmp_path / "other"

    def sampling(*words):
        command = [os.path.join(build_dir(), "cli/blkin"), "sampling", "--page", str(page), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    sampling("1/100")
    sampling("1/2", "--service", "osd.0")
    (tmp_path / "etc/blkin/sampling").write_text("1/100\n")
    with open(page, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        magic = mapped[:8]
        assert any(mapped[8:])
        subprocess.run([*maintainer_script("postrm", tmp_path), "purge"], check=True)
        assert mapped[:8] == magic and not any(mapped[8:])
        left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
        assert left == {"postrm", "run", "run/blkin", "run/blkin/sampling", "etc", "var", "var/lib"}
        assert sampling() == "every service: default\n"
        sampling("1/3")
        assert mapped[8:16] == ((2**64 - 1) // 3).to_bytes(8, "little")
    # the folder is the agent's user's: nothing is written to where it says
    other.write_bytes(b"x" * 20000)
    page.unlink()
    page.symlink_to(other)
    subprocess.run([*maintainer_script("postrm", tmp_path), "purge"], check=True)
    assert other.read_bytes() == b"x" * 20000
    assert not page.parent.exists()
