# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table: what may go wrong with each part, the finding of `blkin status` that says so, what to do, and the tests that
make it happen. doc/diagnosis.md is made of it: python3 tests/live/rig/truth.py
"""

import os

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
PAGE = os.path.join(TOP, "doc/diagnosis.md")

# The component, what is wrong with it, the finding, what to do, and the tests, which have the finding's code in them.
ROWS = [
    ("program", "none is there", "no-program", "start one that includes `<blkin/blkin.h>`", "test_doctor"),
    ("program", "does not record with blkin", "no-blkin", "`BLKIN_DEBUG=1` in its environment says why", "test_doctor"),
    ("program", "is stopped", "program-stopped", "continue it, or end it", "test_doctor"),
    ("program", "records nothing", "quiet", "see whether it runs the code that records", "test_doctor"),
    ("program", "is told to record nothing", "sampling-off", "`blkin sampling default`", "test_doctor"),
    ("program", "records below the session's level", "level", "lower `level` in `[session]`", "test_doctor"),
    ("program", "died in the middle of an event", "stream-stuck", "the agent makes another session", "test_stuck"),
    ("program", "records what cannot be read", "left-out", "the log says what it is", None),
    ("session daemon", "is absent", "no-session-daemon", "start lttng-sessiond", "test_doctor"),
    ("session daemon", "is for others", "no-permission", "add the agent's user to its group", "test_doctor"),
    ("session daemon", "hangs", "lttng-hangs", "restart the one that hangs", "test_doctor"),
    ("session", "cannot be had", "no-session", "restart lttng-sessiond", "unit/test_status"),
    ("session", "is somebody else's", "foreign-session", "set another `name`", "test_gone"),
    ("session", "has its events disabled", "events-disabled", "the agent enables them again", "test_doctor"),
    ("session", "cannot be read", "session-unreadable", "the log says what it is", "test_reader"),
    ("session", "its files cannot be read", "files-unreadable", "see to the rights of `relay-output`", None),
    ("consumer daemon", "is gone", "consumer-gone", "status says it", "test_standstill"),
    ("consumer daemon", "hangs", "consumer-hangs", "status says it", "test_standstill"),
    ("consumer daemon", "passes nothing on", "consumer-still", "status says it", "test_standstill"),
    ("relay daemon", "is absent", "no-relay-daemon", "start blkin-relayd", "test_doctor"),
    ("relay daemon", "its port is taken", "relay-port-taken", "end what has it", "test_doctor"),
    ("relay daemon", "its disk is full", "relay-disk-full", "make room there", "test_relaydisk"),
    ("relay daemon", "does not send", "relay-stalls", "restart blkin-relayd if it lasts", None),
    ("reader", "cannot be started", "no-reader", "install the package again", None),
    ("reader", "ended", "reader-ended", "the agent starts another one", "unit/test_status"),
    ("events", "the pattern is refused", "events-failed", "correct `names` in `[events]`", None),
    ("events", "the filter is refused", "events-filter", "correct `filter` in `[events]`", "test_events_session"),
    ("events", "a context is refused", "events-context", "remove it from `context`", "test_events_session"),
    ("kernel", "has no tracer", "kernel-missing", "install lttng-modules-dkms", "test_events_kernel"),
    ("kernel", "may not be recorded", "kernel-denied", "use the system's session daemon", "test_events_kernel"),
    ("kernel", "does not know the event", "kernel-failed", "correct `[kernel]`", "test_events_kernel"),
    ("/dev/shm", "is full", "shm-full", "make room, restart the programs started meanwhile", "test_room"),
    ("names", "there are more than 10,000", "names-full", "what differs from span to span is a tag", "test_room"),
    ("output", "there is none", "no-output", "set `type` and `server` in `[output]`", "test_doctor_outputs"),
    ("output", "takes no connection", "output-refused", "start the collector", "test_doctor_outputs"),
    ("output", "does not answer", "output-timeout", "see whether it is overloaded", "test_doctor_outputs"),
    ("output", "closes connections", "output-closed", "read its log", "test_doctor_outputs"),
    ("output", "its name is unknown", "output-dns", "correct `server`", "test_doctor_outputs"),
    ("output", "has no route", "output-unreachable", "see to the network", "test_doctor_outputs"),
    ("output", "cannot be connected to", "output", "check `server`", "test_doctor_outputs"),
    ("output", "speaks another protocol", "output-protocol", "correct the port or `type`", "test_doctor_outputs"),
    ("output", "its certificate is wrong", "output-tls", "give it a valid one, or set `tls-ca`", "test_doctor_outputs"),
    ("output", "files for TLS cannot be read", "output-tls-files", "correct the names or the rights", "test_needs"),
    ("output", "wants all later", "output-busy", "it is overloaded: read its log", "test_doctor_outputs"),
    ("output", "refuses everything", "output-refuses-all", "read its log", "test_doctor_outputs"),
    ("output", "fails on certain spans", "output-suspects", "`blkin spool list` shows them", "test_suspects"),
    ("output", "comes and goes", "output-unsteady", "read its log", "test_status"),
    ("output", "the preferred one fails", "output-preferred", "see to that one", "test_doctor_outputs"),
    ("HTTP", "denies", "output-permission", "give it the token it asks for", "test_doctor_outputs"),
    ("HTTP", "has another path", "output-path", "correct `path`", "test_doctor_outputs"),
    ("HTTP", "takes another format", "output-format", "set another `compression` or `format`", "test_compression"),
    ("HTTP", "is something else", "output-unfit", "check `server` and `path`", "test_doctor_outputs"),
    ("HTTP", "the file of headers cannot be read", "output-headers", "correct `headers-file`", None),
    ("proxy", "fails", "output-proxy", "see to the proxy", "test_webproxy"),
    ("proxy", "wants a password", "output-proxy-login", "name its user and password", "test_webproxy"),
    ("Kafka", "has no librdkafka", "output-library", "install librdkafka1", None),
    ("Kafka", "denies the login", "output-login", "correct `sasl`", None),
    ("Kafka", "the file of the password cannot be read", "output-password", "correct its name or rights", None),
    ("Kafka", "has no such topic", "output-topic", "make the topic", None),
    ("files", "the directory is missing", "output-directory", "make it", "test_files"),
    ("files", "may not be written", "output-access", "let the agent's user write there", "test_files"),
    ("files", "the disk is full", "output-disk-full", "make room there", "test_files"),
    ("files", "the disk fails", "output-file", "repair the disk", "test_files"),
    ("spool", "cannot store", "spool-failing", "repair the disk, or make room", "test_doctor_outputs"),
    ("spool", "nobody empties it", "spool-left", "put the output back, or discard it", "test_doctor_outputs"),
    ("input", "its port is taken", "input-port", "end what has it", None),
    ("input", "has no room", "input-full", "see to the output that does not deliver", None),
    ("input", "gets its own spans", "input-loop", "undo the circle", "test_trees"),
    ("agent", "its port is taken", "http-port", "end what has it", "test_http"),
    ("agent", "cannot keep a checkpoint", "no-checkpoint", "let it write its state directory", "test_needs"),
    ("agent", "the new configuration is wrong", "reload-failed", "`blkin validate`", "test_reload"),
    ("agent", "settings wait for a restart", "restart-due", "restart it", "test_reload"),
]


# The faults that test_truth.py makes while a program records: the part, what happens to it, the findings, what `/readyz`
# answers, and what the page says of it. Without a finding, spans arrive again while the fault is there.
CELLS = [
    ("session daemon", "killed", ["no-session-daemon"], 503),
    ("session daemon", "stopped", ["lttng-hangs"], 503),
    ("consumer daemon", "killed", ["consumer-gone"], 503),
    ("consumer daemon", "stopped", ["consumer-hangs"], 503),
    ("relay daemon", "killed", ["no-relay-daemon"], 503),
    ("relay daemon", "stopped", ["lttng-hangs"], 503),
    ("reader", "killed", [], 200),
    ("reader", "stopped", [], 200),
    ("collector", "killed", ["output-refused"], 200),
    ("collector", "stopped", ["output-timeout"], 200),
    ("spool", "full", ["output-refused", "spool-failing"], 200),
]


def path_of(test):
    return f"tests/unit/{test[5:]}.c" if test.startswith("unit/") else f"tests/live/{test}.py"


def page():
    lines = [
        "# Diagnosis",
        "",
        "What `blkin status` says under \"to do\", by its code (`findings` of `blkin status --json`), what it is, and what to do in",
        "short: status says more. The last column names the test that makes it happen. This page is made from the table in",
        "[truth.py](../tests/live/rig/truth.py), and a test compares them.",
        "",
        "| what you see | what it is | what to do | shown by |",
        "|---|---|---|---|",
    ]
    for component, fault, code, remedy, test in ROWS:
        shown = f"[{os.path.basename(path_of(test))}](../{path_of(test)})" if test else "no test yet"
        lines.append(f"| `{code}` | {component}: {fault} | {remedy} | {shown} |")
    lines += [
        "",
        "While a program records, a test makes each of these happen ([test_truth.py](../tests/live/test_truth.py)). Within 15 s the status",
        "and `/readyz` say so, and there is nothing to do once it is over.",
        "",
        "| part | what happens to it | what the status says | `/readyz` |",
        "|---|---|---|---|",
    ]
    for part, fault, codes, ready in CELLS:
        said = ", ".join(f"`{code}`" for code in codes) or "nothing: the agent has seen to it"
        lines.append(f"| {part} | {fault} | {said} | {ready} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page())
