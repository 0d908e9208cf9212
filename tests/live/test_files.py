# SPDX-License-Identifier: BSD-2-Clause
"""`type = file`: spans as lines of JSON in files that are rotated."""

import os
import random
import re
import shutil
import stat
import subprocess
import time

import pytest
from expect import end_load, keys_of
from rig.alerts import firing
from rig.load import KEEP, LOAD
from rig.node import totals
from rig.process import exactly, free_port, wait_until
from rig.spanfiles import SpanFiles, identities, ordinals
from test_json2 import by_id, converted
from test_outputs_reload import Sections

KILLS = int(os.environ.get("BLKIN_KILLS", "6"))
NONE = {"type": "none"}


@pytest.fixture
def files(node):
    os.mkdir(node.path("spans"))
    return SpanFiles(node.path("spans"))


def quick(files, **keys):
    return dict({"type": "file", "directory": files.directory, "batch-delay": "50ms", "retry-min": "50ms", "retry-max": "300ms"}, **keys)


def start_agent(node, files, session=None, **keys):
    """The agent, with files as its only output."""
    sections = {"output": NONE, "output files": quick(files, **keys), "session": session or {}}
    node.start_agent(free_port(), **sections)


def wait_sent(node, total, removed=0):
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again >= total and ledger.idle(), 60, f"{total} spans in files", output="files"
    )
    assert (ledger.lost, ledger.packets_lost, ledger.dropped, ledger.sessions_lost) == (0, 0, 0, 0), str(ledger)
    assert (ledger.sent, ledger.removed) == (ledger.taken + ledger.recovered, removed)
    return ledger


def all_once(wanted, files):
    """Each span that was recorded is in a finished file, once."""
    found, wanted = ordinals(files.spans()), set(wanted)
    twice = [key for key, times in found.items() if times > 1]
    exactly(not twice, f"{len(twice)} spans are there twice")
    missing, strange = sorted(wanted - found.keys()), sorted(found.keys() - wanted)
    exactly(not missing, f"{len(missing)} spans are missing, as {missing[:5]}")
    exactly(not strange, f"{len(strange)} spans were never recorded, as {strange[:5]}")


def state(node):
    (output,) = node.status()["outputs"]
    return output


def findings(node):
    return {finding["code"]: finding for finding in node.status()["findings"]}


def test_every_span_once(node, receiver, files):
    """The same spans go by Scribe: each is the same in a file, and is there once after a stop."""
    node.start_agent(receiver.port, **{"output files": quick(files, **{"rotate-size": "1M"})})
    node.run([LOAD, "-p", 2, "-t", 2, "-n", 5000])
    receiver.wait_for(20000)
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 20000 and ledger.idle(), 30, "20000 spans in files", output="files")
    assert (ledger.lost, ledger.dropped) == (0, 0)
    output = node.status()["outputs"][1]
    assert (output["output"], output["server"], output["delivering"]) == ("file", files.directory, True)
    assert node.metrics("files")[f'blkin_agent_output_up{{server="{files.directory}"}}'] == 1
    assert node.agent.stop() == 0
    files.check_names()
    assert not files.parts()
    assert len(files.finished()) > 2
    assert all(os.path.getsize(path) <= 1 << 20 for path in files.finished())
    assert by_id(files.spans()) == by_id(map(converted, receiver.spans()))


def test_rotation_by_time(node, files):
    """A file that has spans is finished in time, without another span; and one that has none is not."""
    start_agent(node, files, **{"rotate-time": "500ms"})
    for count in (1, 2):
        node.run([LOAD, "-n", 10])
        wait_until(lambda: len(files.finished()) == count, 20, "the file to be finished")
        time.sleep(1.2)
        assert len(files.finished()) == count and len(files.parts()) == 1
    assert len(files.spans()) == 20


def test_total_size(node, files):
    """The oldest files go, which is counted and said; their spans were delivered."""
    start_agent(node, files, **{"rotate-size": "200K", "total-size": "600K"})
    node.run([LOAD, "-n", 10000])
    ledger = wait_sent(node, 10000)
    assert ledger.sent == 10000
    assert node.agent.stop() == 0
    assert 300 << 10 < sum(map(os.path.getsize, files.finished())) <= 600 << 10
    left = ordinals(files.spans())
    assert set(left) == {(0, 0, ordinal) for ordinal in range(10000 - len(left), 10000)}
    assert "the oldest files are removed, as the total is larger than `total-size`" in node.agent.log()


def fill(folder):
    """Leaves no room, not even a part of a line."""
    with open(f"{folder}/filler", "wb", buffering=0) as filler:
        for size in (65536, 4096, 1):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                pass


@pytest.mark.parametrize("sync", ["rotation", "batch"])
def test_disk_full(node, files, sync):
    """Spans wait in the spool; once there is room each is in a file, once."""
    node.mount(files.directory, "8M")
    start_agent(node, files, sync=sync)
    node.run([LOAD, "-n", 1000])
    wait_sent(node, 1000)
    fill(files.directory)
    load = node.start([node.built(LOAD), "-p", 2, "-n", 10**8, "-r", 2000])
    wait_until(lambda: not state(node)["delivering"], 30, "the disk to be full")
    assert "No space left on device" in state(node)["output_error"]
    wait_until(lambda: "output-disk-full" in findings(node), 10, "the doctor to say so")
    assert node.http_get("/healthz")[0] == 200
    node.wait_ledger(lambda ledger: ledger.spooled > 1000, 30, "spans in the spool", output="files")
    assert totals(node.metrics("files"))["blkin_agent_output_errors_total"] > 0
    os.remove(f"{files.directory}/filler")
    wait_until(lambda: state(node)["delivering"], 20, "the files to go on")
    recorded = end_load(load)
    wait_sent(node, 1000 + sum(recorded.values()))
    assert node.agent.stop() == 0
    found = ordinals(files.spans())
    assert found.total() == 1000 + sum(recorded.values())
    assert found.keys() == set(keys_of(recorded)) | {(0, 0, ordinal) for ordinal in range(1000)}
    assert set(found.values()) <= {1, 2}  # of two loads with the same keys


def remove(files, away):
    shutil.rmtree(files.directory)


def move(files, away):
    os.rename(files.directory, away)


@pytest.mark.parametrize("vanish", [remove, move])
def test_directory_gone(node, files, vanish):
    """It is said, spans wait, and when the directory is there again they are written there. What was removed is counted."""
    start_agent(node, files)
    node.run([LOAD, "-n", 1000])
    wait_sent(node, 1000)
    away = SpanFiles(node.path("away"))
    vanish(files, away.directory)
    node.run([LOAD, "-p", 2, "-n", 2000])
    node.wait_ledger(lambda ledger: ledger.queued + ledger.spooled == 4000, 30, "4000 spans to wait", output="files")
    wait_until(lambda: "output-directory" in findings(node), 10, "the doctor to say so")
    assert files.directory in findings(node)["output-directory"]["what"]
    os.mkdir(files.directory)
    wait_sent(node, 5000, removed=1000 if vanish is remove else 0)
    assert node.agent.stop() == 0
    all_once(((process, 0, ordinal) for process in range(2) for ordinal in range(2000)), files)
    if vanish is move:
        all_once(((0, 0, ordinal) for ordinal in range(1000)), away)


def replace(path):
    with open(f"{path}.new", "wb") as file:
        file.write(b"not ours\n" * 3)
    os.rename(f"{path}.new", path)


def cut(path):
    """In the middle of a line: of 1000, 300 and a half stay."""
    with open(path, "rb") as file:
        lines = file.readlines()
    os.truncate(path, sum(map(len, lines[:300])) + len(lines[300]) // 2)


HARMS = {
    "removed": (os.remove, 0),
    "renamed": (lambda path: os.rename(path, f"{path}.mine"), 0),
    "replaced": (replace, 0),
    "cut": (cut, 300),
    "emptied": (lambda path: os.truncate(path, 0), 0),
}


@pytest.mark.parametrize("then", ["idle", "more", "stop"])
@pytest.mark.parametrize("how", HARMS)
def test_unfinished_file_harmed(node, files, how, then):
    """What somebody removes with an unfinished file is counted as lost, also if nothing more comes; the rest is there."""
    harm, kept = HARMS[how]
    start_agent(node, files)
    node.run([LOAD, "-n", 1000])
    wait_sent(node, 1000)
    (part,) = files.parts()
    harm(f"{files.directory}/{part}")
    if then == "more":
        node.run([LOAD, "-p", 2, "-n", 500])
    if then != "stop":
        more = 1000 if then == "more" else 0
        ledger = node.wait_ledger(
            lambda ledger: ledger.removed == 1000 - kept and ledger.taken == 1000 + more and ledger.idle(), 10, "the loss", output="files"
        )
        assert (ledger.dropped, ledger.sent) == (0, 1000 + more), "what counts never goes back"
        assert "BlkinSpansLost" in firing({}, node.metrics("files"))
        wait_until(lambda: "file-removed" in findings(node), 10, "the doctor to say so")
        assert f"{1000 - kept} spans are lost" in findings(node)["file-removed"]["what"]
        assert "somebody removed, renamed or cut" in node.run(["cli/blkin", "status", "--socket", node.socket])
    assert node.agent.stop() == 0
    assert node.agent.log().count("somebody removed, renamed or cut the file") == 1
    assert f"{1000 - kept} of its lines are lost, and counted" in node.agent.log()
    wanted = [(0, 0, ordinal) for ordinal in range(kept)] if then != "more" else None
    found = ordinals(files.spans())
    if wanted is None:
        assert len(files.spans()) == kept + 1000
    else:
        assert sorted(found) == wanted and set(found.values()) <= {1}


def test_read_only(node, files):
    """The agent starts on a file system that is read-only, and goes on when it no longer is."""
    subprocess.run(["mount", "--bind", files.directory, files.directory], check=True)
    node.mounts.append(files.directory)
    subprocess.run(["mount", "-o", "remount,bind,ro", files.directory], check=True)
    start_agent(node, files)
    node.run([LOAD, "-p", 2, "-n", 2000])
    node.wait_ledger(lambda ledger: ledger.queued + ledger.spooled == 4000, 30, "4000 spans to wait", output="files")
    wait_until(lambda: "output-access" in findings(node), 10, "the doctor to say so")
    assert "Read-only file system" in findings(node)["output-access"]["what"]
    subprocess.run(["mount", "-o", "remount,bind,rw", files.directory], check=True)
    wait_sent(node, 4000)
    assert node.agent.stop() == 0
    all_once(((process, 0, ordinal) for process in range(2) for ordinal in range(2000)), files)


def kill_rounds(node, rng):
    """Kills the agent again and again; some rounds so soon that it is still recovering from the last one."""
    for _ in range(KILLS):
        time.sleep(rng.choice([rng.uniform(0, 0.3), rng.uniform(0.3, 2)]))
        node.agent.kill()
        time.sleep(rng.choice([0, rng.uniform(0, 1)]))
        node.start_agent_again(wait=False)
    node.agent.wait_ready(node.collecting)


@pytest.mark.parametrize("rotation", [{}, {"rotate-size": "150K", "sync": "batch"}], ids=["one file", "many files"])
def test_killed_again_and_again(node, files, rotation):
    """Nothing is missing, and nothing is in finished files twice."""
    seed = int(os.environ.get("BLKIN_SEED", random.randrange(1 << 32)))
    print(f"BLKIN_SEED={seed}")
    start_agent(node, files, session=KEEP, **rotation)
    load = node.start([node.built(LOAD), "-p", 2, "-t", 2, "-n", 10**8, "-r", 1000])
    # an agent that is killed before it has written anything leaves no file
    wait_until(lambda: lines_in(files) > 0, 30, "something to be written")
    kill_rounds(node, random.Random(seed))
    time.sleep(1)
    recorded = end_load(load)
    total = sum(recorded.values())
    ledger = wait_sent(node, total)
    # what comes again counts as sent, as at any output
    assert total <= ledger.sent <= total + ledger.again, str(ledger)
    assert node.agent.stop() == 0
    all_once(keys_of(recorded), files)
    assert len(files.finished()) > 1
    print(f"{ledger.sent} spans in {len(files.finished())} files, {ledger.again} events read again")


def test_killed_while_a_spool_is_replayed(node, files):
    """What is in the spool and in a file at once is written once."""
    start_agent(node, files, session=KEEP)
    shutil.rmtree(files.directory)
    node.run([LOAD, "-p", 2, "-n", 20000])
    node.wait_ledger(lambda ledger: ledger.spooled == 40000, 60, "40000 spans in the spool", output="files")
    os.mkdir(files.directory)
    for count in (2000, 10000, 20000):
        wait_until(lambda: lines_in(files) >= count, 30, "some of them to be written")
        node.agent.kill()
        node.start_agent_again()
    ledger = wait_sent(node, 40000)
    assert ledger.sent == ledger.taken + ledger.recovered
    assert node.agent.stop() == 0
    all_once(((process, 0, ordinal) for process in range(2) for ordinal in range(20000)), files)


def stop_and_start(node, files):
    node.agent.stop()
    node.start_agent_again()


def reload_output(node, files):
    sections = Sections(node)
    sections.keys["output files"] += "rotate-size = 1M\n"
    sections.hang_up()


@pytest.mark.parametrize("then", [stop_and_start, reload_output])
def test_killed_and_soon_stopped_or_reloaded(node, files, then):
    """What was written before the kill, and waits in the spool, is known to the one after the next, too."""
    start_agent(node, files, session=KEEP)
    shutil.rmtree(files.directory)
    node.run([LOAD, "-p", 2, "-n", 20000])
    node.wait_ledger(lambda ledger: ledger.spooled == 40000, 60, "40000 spans in the spool", output="files")
    os.mkdir(files.directory)
    wait_until(lambda: lines_in(files) >= 3000, 30, "some of them to be written")
    node.agent.kill()
    node.start_agent_again()
    then(node, files)
    wait_sent(node, 40000)
    assert node.agent.stop() == 0
    assert not files.parts()
    all_once(((process, 0, ordinal) for process in range(2) for ordinal in range(20000)), files)


def test_killed_while_the_disk_is_full(node, files):
    """What waits in the spool, and is made again of what the session recorded, is written once."""
    node.mount(files.directory, "8M")
    start_agent(node, files, session=KEEP, **{"rotate-size": "300K"})
    load = node.start([node.built(LOAD), "-p", 2, "-n", 10**8, "-r", 1000])
    wait_until(lambda: lines_in(files) > 1000, 20, "1000 spans")
    fill(files.directory)
    for _ in range(3):
        time.sleep(1.5)
        node.agent.kill()
        node.start_agent_again()
    recorded = end_load(load)
    subprocess.run(["mount", "-o", "remount,size=300M", files.directory], check=True)
    wait_sent(node, sum(recorded.values()))
    assert node.agent.stop() == 0
    all_once(keys_of(recorded), files)


def lines_in(files):
    """In files of any kind."""
    count = 0
    for name in os.listdir(files.directory):
        with open(f"{files.directory}/{name}", "rb") as file:
            count += file.read().count(b"\n")
    return count


def test_half_a_line_left_behind(node, files):
    """It is cut off, and so are the bytes of a file that has nothing else."""
    start_agent(node, files, session=KEEP)
    node.run([LOAD, "-n", 100])
    wait_sent(node, 100)
    node.agent.kill()
    (part,) = files.parts()
    with open(f"{files.directory}/{part}", "ab") as file:
        file.write(b'{"traceId":"00')
    with open(f"{files.directory}/.zipkin-20200101T000000Z-7.jsonl.part", "wb") as file:
        file.write(b'{"traceId')
    node.start_agent_again()
    assert "it is finished now, without the half line at its end" in node.agent.log()
    assert len(files.finished()) == 1
    all_once(((0, 0, ordinal) for ordinal in range(100)), files)
    node.run([LOAD, "-p", 1, "-n", 50])
    wait_sent(node, 150)
    assert node.agent.stop() == 0
    assert len(files.spans()) == 150 and not files.parts()


def test_reload_changes_the_directory(node, files):
    """Under load: the file in the old one is finished, and each span is in one of the two."""
    start_agent(node, files)
    load = node.start([node.built(LOAD), "-p", 2, "-n", 10**8, "-r", 2000])
    node.wait_ledger(lambda ledger: ledger.sent > 1000, 20, "1000 spans", output="files")
    other = SpanFiles(node.path("other"))
    os.mkdir(other.directory)
    sections = Sections(node)
    sections.keys["output files"] = sections.keys["output files"].replace(files.directory, other.directory)
    sections.hang_up()
    assert files.finished() and not files.parts()
    wait_until(lambda: lines_in(other) > 1000, 20, "spans in the new directory")
    recorded = end_load(load)
    wait_sent(node, sum(recorded.values()))
    assert node.agent.stop() == 0
    found = ordinals(files.spans() + other.spans())
    assert found.keys() == set(keys_of(recorded)) and set(found.values()) == {1}


def test_own_directory_is_made(node, receiver):
    """It is below the state directory, and only the agent's user and group read it."""
    node.start_agent(receiver.port, **{"output own": {"type": "file"}})
    own = SpanFiles(node.path("state/files/own"))
    node.run([LOAD, "-n", 10])
    receiver.wait_for(10)
    node.wait_ledger(lambda ledger: ledger.sent == 10, 20, "10 spans", output="own")
    assert node.agent.stop() == 0
    assert len(own.spans()) == 10
    assert stat.S_IMODE(os.stat(own.directory).st_mode) & 0o027 == 0
    assert stat.S_IMODE(os.stat(own.finished()[0]).st_mode) & 0o027 == 0


def validate(node, **sections):
    done = subprocess.run(
        [node.built("cli/blkin"), "validate", node.write_config(free_port(), **sections)], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_mistakes_in_the_configuration(node, files):
    for keys, sentence in [
        ({"server": "127.0.0.1:9410"}, "`server` is for type scribe, http or otlp, but the type is file in [output files]"),
        ({"format": "thrift"}, "`type = file` needs `format = json2` or `format = otlp-json` in [output files]"),
        ({"directory": "spans"}, "it must be the absolute path of a folder"),
        ({"type": "http", "format": "otlp-json"}, "`format = otlp-json` is for `type = file`"),
        ({"format": "otlp-json", "takes": "events"}, "`format = otlp-json` is of spans, of which this output takes none"),
        ({"rotate-size": "2G"}, "`total-size` must be 0 (no limit), or at least `rotate-size`"),
        ({"type": "http", "server": "127.0.0.1:1"}, "`directory` is for type file, but the type is http in [output files]"),
    ]:
        code, said = validate(node, **{"output files": quick(files, **keys)})
        assert code == 78 and sentence in said, said
    code, said = validate(node, **{"output files": quick(files), "output more": quick(files)})
    assert code == 78 and "`directory` must differ from that of every other output" in said
    code, said = validate(node, **{"output files": quick(files, directory="/nonexistent/x")})
    assert code == 1 and "`directory` of [output files] cannot be used: /nonexistent/x: No such file or directory: make the folder first" in said
    program = node.built("cli/blkin")  # which is a file, and may be executed
    code, said = validate(node, **{"output files": quick(files, directory=program)})
    assert code == 1 and f"`directory` of [output files] cannot be used: {program}: Not a directory" in said
    done = subprocess.run([program, "validate", "--connect", node.path("agent.conf")], capture_output=True, text=True)
    assert done.returncode == 1 and f"[output files] {program}: not writable: Not a directory" in done.stdout
    code, said = validate(node, **{"output files": quick(files)})
    assert code == 0, said


def test_the_query_in_the_page(node, files):
    """jq says what the files hold."""
    with open(os.path.join(os.path.dirname(__file__), "../../doc/outputs.md"), encoding="utf-8") as page:
        (query,) = re.findall(r"^    jq .*\n(?:    .*\n)*", page.read(), flags=re.M)
    assert "/var/lib/blkin/files/archive/zipkin-*.jsonl" in query
    start_agent(node, files, **{"rotate-size": "100K"})
    node.run([LOAD, "-p", 2, "-t", 2, "-n", 1000])
    wait_sent(node, 4000)
    assert node.agent.stop() == 0
    assert len(files.finished()) > 1
    done = subprocess.run(
        ["sh", "-c", query.replace("/var/lib/blkin/files/archive", files.directory)], capture_output=True, text=True, check=True
    )
    services = {}
    for span in files.spans():
        spans, longest = services.get(span["localEndpoint"]["serviceName"], (0, 0))
        services[span["localEndpoint"]["serviceName"]] = spans + 1, max(longest, span.get("duration", 0))
    assert len(services) > 1
    said = [line.split("\t") for line in done.stdout.splitlines()]
    assert {service: (int(spans), int(longest)) for service, spans, longest in said} == services


def start_on_hung_disk(node, files, hung, **keys):
    preload = [node.built("tests/live/programs/libhungdisk.so"), node.leak_environment.get("LD_PRELOAD", "")]
    node.write_config(free_port(), output=NONE, **{"output files": quick(files, **keys)})
    node.start_agent_again(LD_PRELOAD=" ".join(filter(None, preload)), HUNGDISK=hung, HUNGFOLDER=files.directory)


def test_disk_that_hangs_from_the_start(node, files):
    """Nothing was ever written, and status says why all the same; when the disk works, all is."""
    hung = node.path("hung")
    open(hung, "wb").close()
    start_on_hung_disk(node, files, hung)
    node.run([LOAD, "-n", 1000])
    wait_until(lambda: "output-file" in findings(node), 30, "the doctor to say so")
    assert "takes no spans: the disk has not answered for " in findings(node)["output-file"]["what"]
    os.remove(hung)
    wait_sent(node, 1000)
    assert "output-file" not in findings(node)
    assert node.agent.stop() == 0
    assert ordinals(files.spans()).total() == 1000


def test_disk_that_hangs(node, files):
    """
    The agent answers all the while, and another directory can be set; when the disk works again, what was being written
    is in the old one, and nothing is in both.
    """
    other = SpanFiles(node.path("other"))
    os.mkdir(other.directory)
    hung = node.path("hung")
    start_on_hung_disk(node, files, hung, sync="batch")
    node.run([LOAD, "-n", 1000])
    wait_sent(node, 1000)
    open(hung, "wb").close()
    node.run([LOAD, "-p", 2, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.read == 3000 and ledger.queued == 2000, 20, "2000 spans to wait", output="files")
    wait_until(lambda: "output-file" in findings(node), 30, "the doctor to say so")
    assert "takes no spans: the disk has not answered for " in findings(node)["output-file"]["what"]
    sections = Sections(node)
    sections.keys["output files"] = sections.keys["output files"].replace(files.directory, other.directory)
    sections.keys["output files"] = sections.keys["output files"].replace("sync = batch", "sync = rotation")
    sections.hang_up()
    assert node.http_get("/healthz")[0] == 200
    wait_until(lambda: state(node)["delivering"] and state(node)["server"] == other.directory, 20, "the new directory")
    node.wait_ledger(lambda ledger: 1000 < ledger.sent < 3000, 20, "all but one batch", output="files")
    os.remove(hung)
    wait_sent(node, 3000)
    wait_until(lambda: not files.parts(), 20, "the old file to be finished")
    assert node.agent.stop() == 0
    found = ordinals(files.spans() + other.spans())
    assert found.total() == 3000 and len(ordinals(other.spans())) > 1000
    assert set(identities(files.spans() + other.spans()).values()) == {1}
