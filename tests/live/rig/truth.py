# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table: what may befall each part that a span goes through, what `blkin status` says then, and the test that makes it
happen. doc/diagnosis.md is made of it: python3 tests/live/rig/truth.py
"""

import os

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
PAGE = os.path.join(TOP, "doc/diagnosis.md")

STATES = ("absent", "killed", "stopped", "slow", "full", "denied", "lying")


class Says:
    """
    The status has these findings. The test shows the first: FILE::FUNCTION of tests/live, or a file of tests/unit or tests/kernel. The rows below
    name those of the others. A test of tests/kernel takes a real tracer.
    """

    def __init__(self, codes, test):
        self.codes, self.test = codes.split(), test

    def __str__(self):
        return ", ".join(f"`{code}`" for code in self.codes)


class Tells:
    """No finding, as there is no agent that answers: so `blkin status` says, or whoever was asked."""

    def __init__(self, words, test):
        self.codes, self.words, self.test = [], words, test

    def __str__(self):
        return f'"{self.words}"'


class GoesOn:
    """Nobody notices, as spans arrive meanwhile, or again within 15 s."""

    codes = []

    def __init__(self, test):
        self.test = test

    def __str__(self):
        return "spans go on"


class Never:
    """It cannot be, or is another cell's; why."""

    codes, test = [], None

    def __init__(self, why):
        self.why = why


LIBRARY = Never("it is a library in the program: what befalls that befalls it")
TABLE = Never("it is a table in the agent's memory")
FILE = Never("it is a file: the disk may be slow or hang, and nothing else")
MEMORY = Never("it is memory: no process is behind it")
FOLDER = Never("it is a folder of sockets: no process is behind it")
CHOICE = Never("it is recorded by LTTng's daemons: what befalls them is told of them")
SECTION = Never("it is read when the agent starts or is reloaded, and never again")


# By the part; a cell for each state.
MATRIX = {
    "program": (
        Says("no-program", "test_doctor::test_no_program"),
        Says("stream-stuck", "test_stuck::test_again_and_again"),
        Says("program-stopped", "test_doctor::test_program_is_stopped"),
        Says("quiet", "test_doctor::test_sampled_out_by_the_program"),
        Says("events-lost spans-truncated", "test_truth_losses::test_something_is_lost"),
        Says("sampling-off level", "test_doctor::test_sampling_is_off"),
        Says("events-malformed events-id events-time program-clock left-out reader-memory", "test_misuse::test_other_fields"),
    ),
    "provider library": (
        Says("no-blkin", "test_doctor::test_program_without_blkin"),
        LIBRARY,
        LIBRARY,
        LIBRARY,
        LIBRARY,
        Never("a file that the program may not read is as absent for it"),
        Says("other-lttng", "test_versions::test_program_of_another_version"),
    ),
    "session daemon": (
        Says("no-session-daemon", "test_doctor::test_no_session_daemon"),
        Says("no-session-daemon", "test_truth::test_cell"),
        Says("lttng-hangs", "test_truth::test_cell"),
        GoesOn("test_truth::test_slow"),
        Says("registration-held no-session", "test_held::test_says_nothing"),
        Says("no-permission", "test_doctor::test_no_permission"),
        Says("foreign-session session-unsteady events-disabled canary-unrecorded", "test_gone::test_session_of_another_agent"),
    ),
    "consumer daemon": (
        Never("the session daemon starts it with the first session, before anything is recorded"),
        Says("consumer-gone", "test_truth::test_cell"),
        Says("consumer-hangs", "test_truth::test_cell"),
        GoesOn("test_truth::test_slow"),
        Says("program-unrecorded events-lost", "test_limits::test_consumer_may_open_no_more_files"),
        Never("it is the session daemon's child, with the same rights"),
        Says("consumer-still canary-late", "test_standstill::test_ring_buffers_are_cut_off"),
    ),
    "relay daemon": (
        Says("no-relay-daemon", "test_doctor::test_no_relay_daemon"),
        Says("no-relay-daemon", "test_truth::test_cell"),
        Says("lttng-hangs", "test_truth::test_cell"),
        GoesOn("test_truth::test_slow"),
        Says("relay-disk-full", "test_relaydisk::test_disk_full"),
        Says("files-unreadable relay-port-taken", "test_truth_relay::test_files_may_not_be_read"),
        Says("relay-stalls session-unreadable lttng-hangs", "test_truth_relay::test_viewer_is_starved"),
    ),
    "reader": (
        Says("no-reader", "test_noreader::test_cannot_be_started"),
        GoesOn("test_truth::test_cell"),
        GoesOn("test_truth::test_cell"),
        Says("packets-lost", "test_statedisk::test_no_room_anywhere"),
        GoesOn("test_culprits::test_others_do_not_notice"),
        Never("it runs as the agent's user, who may start it or finds it absent"),
        Says("reader-ended", "unit/test_status"),
    ),
    "agent": (
        Tells("no agent runs", "test_doctor::test_no_agent"),
        Tells("the agent was killed", "test_doctor::test_agent_was_killed"),
        Tells("does not answer: it hangs", "test_doctor::test_agent_hangs"),
        GoesOn("test_truth::test_slow"),
        GoesOn("test_http::test_connections_are_bounded"),
        Says("http-port no-checkpoint", "test_http::test_a_port_that_is_taken"),
        Tells("is of another version", "test_doctor::test_agent_of_another_version"),
    ),
    "configuration": (
        GoesOn("test_needs::test_validate_without_a_configuration"),
        SECTION,
        SECTION,
        SECTION,
        SECTION,
        Says("reload-failed", "test_reload::test_a_bad_file_changes_nothing"),
        Says("reload-due restart-due", "test_reload::test_a_change_that_nobody_reloads"),
    ),
    "output: scribe": (
        Says("output-refused output-dns output-unreachable no-output", "test_doctor_outputs::test_refuses_connections"),
        Says("output-refused", "test_truth_outputs::test_state"),
        Says("output-timeout", "test_truth_outputs::test_state"),
        Says("output-slow", "test_truth_losses::test_collectors_are_slow"),
        Says("output-busy", "test_truth_outputs::test_state"),
        Says("output-refuses-all spans-refused output-suspects output-tls output-tls-files output-tls-old", "test_truth_outputs::test_state"),
        Says("output-protocol output-closed output-own-port output-unsteady budget-file", "test_truth_outputs::test_state"),
    ),
    "output: http": (
        Says("output-refused", "test_doctor_outputs::test_one_of_two_outputs"),
        Says("output-refused output-preferred", "test_truth_outputs::test_state"),
        Says("output-timeout", "test_truth_outputs::test_state"),
        Says("output-slow", "test_truth_losses::test_collectors_are_slow"),
        Says("output-busy spans-oversize keep-traces-full", "test_truth_outputs::test_state"),
        Says("output-permission", "test_truth_outputs::test_state"),
        Says("output-path output-unfit output-endless", "test_truth_outputs::test_state"),
    ),
    "output: otlp": (
        Says("output-refused output-headers", "test_doctor_outputs::test_one_of_two_outputs"),
        Says("output-refused", "test_truth_outputs::test_state"),
        Says("output-timeout", "test_truth_outputs::test_state"),
        Says("output-slow", "test_truth_losses::test_collectors_are_slow"),
        Says("output-busy", "test_truth_outputs::test_state"),
        Says("output-permission", "test_truth_outputs::test_state"),
        Says("output-path output-format", "test_truth_outputs::test_state"),
    ),
    "output: kafka": (
        Says("output-library output-refused output-topic", "test_truth_kafka::test_library_is_missing"),
        Says("output-refused", "test_truth_outputs::test_state"),
        Says("output-timeout", "test_truth_outputs::test_state"),
        GoesOn("test_truth_kafka::test_slow"),
        Says("output-timeout", "test_truth_outputs::test_state"),
        Says("output-login output-permission output-password", "test_truth_kafka::test_login_is_denied"),
        Says("output-protocol output", "test_truth_kafka::test_no_broker"),
    ),
    "output: file": (
        Says("output-directory", "test_truth_outputs::test_state"),
        Never("no process is behind it: the agent writes"),
        Says("output-file", "test_files::test_disk_that_hangs"),
        Says("output-file", "test_files::test_disk_that_hangs"),
        Says("output-disk-full", "test_truth_outputs::test_state"),
        Says("output-access", "test_files::test_read_only"),
        Says("file-removed", "test_files::test_unfinished_file_harmed"),
    ),
    "proxy": (
        Says("output-proxy", "test_webproxy::test_spans_come_through"),
        Says("output-proxy", "test_webproxy::test_spans_come_through"),
        Never("who is behind it does not answer: that output's finding"),
        Never("it makes the collector slow: that output's finding"),
        Never("it asks to try later, as the collector does: that output's finding"),
        Says("output-proxy-login", "test_webproxy::test_login"),
        Never("its answers look like the collector's: that output's finding"),
    ),
    "spool": (
        Says("spool-removed spool-left", "test_spool_removed::test_harmed"),
        FILE,
        FILE,
        FILE,
        Says("spool-full queue-full", "test_truth_losses::test_something_is_lost"),
        Says("spool-failing", "test_spool::test_folder_that_cannot_be_used"),
        Says("spool-removed spool-corrupt", "test_spool_removed::test_harmed"),
    ),
    "state's disk": (
        Says("no-checkpoint", "test_needs::test_a_state_directory_that_cannot_be_written"),
        FILE,
        GoesOn("test_leftovers::test_disk_stalls_once"),
        GoesOn("test_leftovers::test_disk_stalls_once"),
        Says("spool-failing", "test_truth::test_cell"),
        Says("no-checkpoint", "test_needs::test_a_state_directory_that_cannot_be_written"),
        GoesOn("test_failing::test_each_call_fails_once"),
    ),
    "/dev/shm": (
        Never("without it neither LTTng's daemons nor programs start"),
        MEMORY,
        MEMORY,
        MEMORY,
        Says("shm-full", "test_room::test_shared_memory_is_full"),
        Never("LTTng's daemons make the files in it, as root, and hand them to the programs"),
        Says("consumer-still", "test_standstill::test_ring_buffers_are_cut_off"),
    ),
    "/run": (
        Says("no-session-daemon", "test_truth::test_sockets_are_removed"),
        FOLDER,
        FOLDER,
        FOLDER,
        Tells("cannot make the control socket", "test_needs::test_a_socket_that_cannot_be"),
        Tells("it answers root and the members of group", "test_doctor::test_socket_is_for_others"),
        Tells("no agent's answer", "test_doctor::test_socket_is_no_agents"),
    ),
    "names": (TABLE, TABLE, TABLE, TABLE, Says("names-full", "test_room::test_one_user_takes_all_names"), TABLE, TABLE),
    "inputs": (
        Never("without `scribe` in [input] nobody is to be listened to"),
        GoesOn("test_input::test_killed_under_load"),
        GoesOn("test_crowd::test_slow_calls_end"),
        GoesOn("test_crowd::test_slow_calls_of_the_same_user"),
        Says("input-full input-crowded", "test_input::test_everything_is_full"),
        Says("input-port", "test_crowd::test_socket_comes_and_goes"),
        Says("input-refused input-loop", "test_truth_losses::test_something_is_lost"),
    ),
    "other events": (
        Says("kernel-missing", "test_events_session::test_no_kernel_tracer"),
        Says("kernel-consumer", "kernel/test_kernel_consumer::test_is_killed"),
        Says("kernel-consumer", "kernel/test_kernel_consumer::test_is_stopped"),
        CHOICE,
        GoesOn("test_events_session::test_a_flood_of_events_takes_no_span"),
        Says("kernel-denied events-context", "test_events_kernel::test_may_not"),
        Says("events-failed events-filter kernel-failed", "test_events_session::test_name_that_is_refused"),
    ),
    "flight recorder": (
        Says("flight-failed", "test_flight_failures::test_command_is_missing"),
        Says("flight-failed", "test_flight_failures::test_command_is_killed"),
        Never("a command that is not done within two minutes is killed"),
        Never("a command that is not done within two minutes is killed"),
        Says("flight-failed", "test_flight_failures::test_disk_is_full"),
        GoesOn("test_flight::test_somebody_elses"),
        Says("flight-failed", "test_flight_failures::test_no_snapshot_and_then_one"),
    ),
}


# What is said then: the finding, what it means, what to do, and the tests, which have the finding's code in them.
ROWS = [
    ("program", "none is there", "no-program", "start one that includes `<blkin/blkin.h>`", "test_doctor"),
    ("program", "does not record with blkin", "no-blkin", "`BLKIN_DEBUG=1` in its environment says why; or correct `[events]`", "test_doctor"),
    ("program", "is stopped", "program-stopped", "continue it, or end it", "test_stopped"),
    ("program", "has got no ring buffers, or no threads of LTTng's", "program-unrecorded", "see to LTTng's limits, start it again", "test_limits"),
    ("program", "is kept from being registered", "registration-held", "end whoever holds it up", "test_held"),
    ("program", "records nothing", "quiet", "see whether it runs the code that records", "test_doctor"),
    ("program", "is told to record nothing", "sampling-off", "`blkin sampling default`", "test_doctor"),
    ("program", "records below the session's level", "level", "lower `level` in `[session]`", "test_doctor"),
    ("program", "died in the middle of an event", "stream-stuck", "the agent makes another session", "test_stuck"),
    ("program", "has an LTTng of another version", "other-lttng", "install the node's in its container", "test_versions"),
    ("program", "records what cannot be read", "left-out", "find the program of that user, and end it", "test_misuse"),
    ("program", "has more kinds of events that [events] names than the reader has memory for", "reader-memory", "name fewer, or raise `reader-memory`", "test_hostile"),
    ("program", "records other fields than blkin's", "events-malformed", "let it use `<blkin/blkin.h>`", "test_misuse"),
    ("program", "records the id 0", "events-id", "`blkin_id()` makes others", "test_misuse"),
    ("program", "records times that cannot be", "events-time", "use times from `blkin_now()` that have been", "test_misuse"),
    ("program", "has a clock of its own", "program-clock", "unset `LTTNG_UST_CLOCK_PLUGIN`", "test_misuse"),
    ("program", "has a value that no buffer takes", "spans-truncated", "keep it below the size that it says", "test_misuse"),
    ("session daemon", "is absent", "no-session-daemon", "start lttng-sessiond", "test_doctor"),
    ("session daemon", "is for others", "no-permission", "add the agent's user to its group", "test_doctor"),
    ("session daemon", "hangs", "lttng-hangs", "restart the one that hangs", "test_doctor"),
    ("session", "cannot be had", "no-session", "restart lttng-sessiond", "unit/test_status"),
    ("session", "is somebody else's", "foreign-session", "set another `name`", "test_gone"),
    ("session", "has its events disabled", "events-disabled", "the agent enables them again", "test_doctor"),
    ("session", "cannot be read live", "session-unreadable", "the log says what it is", "test_truth_relay"),
    ("session", "is lost or stopped again and again", "session-unsteady", "the logs of LTTng's daemons say why", "test_gone"),
    ("session", "its files cannot be read", "files-unreadable", "see to the rights of `relay-output`", "test_truth_relay"),
    ("consumer daemon", "is gone", "consumer-gone", "status says it", "test_standstill"),
    ("consumer daemon", "hangs", "consumer-hangs", "status says it", "test_standstill"),
    ("consumer daemon", "passes nothing on", "consumer-still", "status says it", "test_standstill"),
    ("canary", "is not recorded", "canary-unrecorded", "restart lttng-sessiond", "unit/test_status"),
    ("canary", "does not come back", "canary-late", "status names who holds it", "unit/test_status"),
    ("relay daemon", "is absent", "no-relay-daemon", "start blkin-relayd", "test_doctor"),
    ("relay daemon", "its port is taken", "relay-port-taken", "end what has it", "test_doctor"),
    ("relay daemon", "its disk is full", "relay-disk-full", "make room there", "test_relaydisk"),
    ("relay daemon", "does not send", "relay-stalls", "restart blkin-relayd if it lasts", "test_truth_relay"),
    ("reader", "cannot be started", "no-reader", "install the package again", "test_noreader"),
    ("reader", "ended", "reader-ended", "the agent starts another one", "unit/test_status"),
    ("events", "the pattern is refused", "events-failed", "correct `names` in `[events]`", "test_events_session"),
    ("events", "the filter is refused", "events-filter", "correct `filter` in `[events]`", "test_events_session"),
    ("events", "a context is refused", "events-context", "remove it from `context`", "test_events_session"),
    ("kernel", "has no tracer", "kernel-missing", "install lttng-modules-dkms", "test_events_kernel"),
    ("kernel", "may not be recorded", "kernel-denied", "use the system's session daemon", "test_events_kernel"),
    ("kernel", "does not know the event", "kernel-failed", "correct `[kernel]`", "test_events_kernel"),
    ("kernel", "its consumer daemon is gone or hangs", "kernel-consumer", "status says it", "kernel/test_kernel_consumer"),
    ("flight recorder", "a late trace is not kept", "flight-failed", "status says it", "test_flight_failures"),
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
    ("output", "files for TLS were renewed, and cannot be read", "output-tls-old", "correct the names or the rights", "test_tls_renewed"),
    ("output", "is a port of this node's own", "output-own-port", "correct `server`", "test_doctor_outputs"),
    ("output", "does not end its answers", "output-endless", "correct it, or the proxy before it", "test_endless"),
    ("output", "wants all later", "output-busy", "it is overloaded: read its log", "test_doctor_outputs"),
    ("output", "refuses everything", "output-refuses-all", "read its log", "test_doctor_outputs"),
    ("output", "fails on certain spans", "output-suspects", "`blkin spool list` shows them", "test_suspects"),
    ("output", "comes and goes", "output-unsteady", "read its log", "test_status"),
    ("output", "the preferred one fails", "output-preferred", "see to that one", "test_doctor_outputs"),
    ("HTTP", "denies", "output-permission", "give it the token it asks for", "test_doctor_outputs"),
    ("HTTP", "has another path", "output-path", "correct `path`", "test_doctor_outputs"),
    ("HTTP", "takes another format", "output-format", "set another `compression` or `format`", "test_compression"),
    ("HTTP", "is something else", "output-unfit", "check `server` and `path`", "test_doctor_outputs"),
    ("HTTP", "the file of headers cannot be read", "output-headers", "correct `headers-file`", "test_otlp_faults"),
    ("proxy", "fails", "output-proxy", "see to the proxy", "test_webproxy"),
    ("proxy", "wants a password", "output-proxy-login", "name its user and password", "test_webproxy"),
    ("Kafka", "has no librdkafka", "output-library", "install librdkafka1", "test_truth_kafka"),
    ("Kafka", "denies the login", "output-login", "correct `sasl`", "test_truth_kafka"),
    ("output", "the file of a password cannot be read", "output-password", "correct its name or rights", "test_webproxy"),
    ("Kafka", "has no such topic", "output-topic", "make the topic", "test_truth_kafka"),
    ("files", "the directory is missing", "output-directory", "make it", "test_files"),
    ("files", "may not be written", "output-access", "let the agent's user write there", "test_files"),
    ("files", "the disk is full", "output-disk-full", "make room there", "test_files"),
    ("files", "the disk fails", "output-file", "repair the disk", "test_files"),
    ("files", "somebody removed an unfinished one", "file-removed", "find out who does so", "test_files"),
    ("spool", "cannot store", "spool-failing", "repair the disk, or make room", "test_doctor_outputs"),
    ("spool", "somebody removed its files", "spool-removed", "find out who does so", "test_spool_removed"),
    ("spool", "nobody empties it", "spool-left", "put the output back, or discard it", "test_doctor_outputs"),
    ("input", "its port is taken", "input-port", "end what has it", "test_crowd"),
    ("input", "has no room", "input-full", "see to the output that does not deliver", "test_input"),
    ("input", "somebody holds the connections", "input-crowded", "see what that one does", "test_crowd"),
    ("input", "gets its own spans", "input-loop", "undo the circle", "test_trees"),
    ("agent", "its port is taken", "http-port", "end what has it", "test_http"),
    ("agent", "cannot keep a checkpoint", "no-checkpoint", "let it write its state directory", "test_needs"),
    ("agent", "the new configuration is wrong", "reload-failed", "`blkin validate`", "test_reload"),
    ("agent", "the configuration was changed, and not read since", "reload-due", "reload it", "test_reload"),
    ("agent", "settings wait for a restart", "restart-due", "restart it", "test_reload"),
    ("ring buffers", "are full", "events-lost", "raise `memory`, or record less", "test_truth_losses"),
    ("reader", "does not keep up, or had to give up", "packets-lost", "raise `disk`, or record less; or find out who clears the session", "test_statedisk"),
    ("output", "takes fewer than come", "output-slow", "make it faster, or send less", "test_truth_losses"),
    ("output", "has no room for what waits for its trace", "keep-traces-full", "raise `keep-traces-size`", "test_keep_traces"),
    ("output", "nobody says what it is to keep", "budget-file", "write the share into its file", "test_budget"),
    ("output", "refuses some spans", "spans-refused", "`blkin spool list` shows them", "test_truth_losses"),
    ("output", "some are larger than a call may be", "spans-oversize", "raise `batch-size`", "test_truth_losses"),
    ("output", "neither memory nor disk has room", "queue-full", "see to the collector", "test_truth_losses"),
    ("spool", "is full", "spool-full", "see to the collector, or raise `max-size`", "test_truth_losses"),
    ("spool", "its file was damaged, or is of a backup", "spool-corrupt", "see to the disk", "test_spool_removed"),
    ("input", "gets what is no span", "input-refused", "correct the sender", "test_truth_losses"),
]


# The faults that test_truth.py makes while a program records: the part, what happens to it, the findings, what `/readyz`
# answers, and the alerts that hold. Without a finding, spans arrive again while the fault is there.
NOT = {"BlkinNotCollecting"}
DOWN = {"BlkinCollectorDown"}
CELLS = [
    ("session daemon", "killed", ["no-session-daemon"], 503, NOT),
    ("session daemon", "stopped", ["lttng-hangs"], 503, NOT),
    ("consumer daemon", "killed", ["consumer-gone"], 503, NOT),
    ("consumer daemon", "stopped", ["consumer-hangs"], 503, NOT),
    ("relay daemon", "killed", ["no-relay-daemon"], 503, NOT),
    ("relay daemon", "stopped", ["lttng-hangs"], 503, NOT),
    ("reader", "killed", [], 200, set()),
    ("reader", "stopped", [], 200, set()),
    ("state's disk", "full", ["output-refused", "spool-failing"], 200, DOWN | {"BlkinSpoolDown"}),
]


def path_of(test):
    file = test.split("::")[0]
    if file.startswith("unit/"):
        return f"tests/unit/{file[5:]}.c"
    return f"tests/{file}.py" if file.startswith("kernel/") else f"tests/live/{file}.py"


def link(words, test):
    return f"[{words}](../{path_of(test)})"


def shown(cell):
    if isinstance(cell, Never):
        return "–"
    return link(cell, cell.test) if isinstance(cell, GoesOn) else str(cell)


def matrix():
    yield f"| | {' | '.join(STATES)} |"
    yield "|---" * (1 + len(STATES)) + "|"
    for part, cells in MATRIX.items():
        yield f"| {part} | {' | '.join(map(shown, cells))} |"
    yield ""
    yield "What cannot be (–):"
    yield ""
    why = {}
    for part, cells in MATRIX.items():
        for state, cell in zip(STATES, cells):
            if isinstance(cell, Never):
                why.setdefault((part, cell.why), []).append(state)
    for (part, words), states in why.items():
        yield f"* {part} {', '.join(states)}: {words}"


def page():
    lines = [
        "# Diagnosis",
        "",
        "This page is made from the table in [truth.py](../tests/live/rig/truth.py), and tests compare them, and make all of it happen.",
        "",
        "## What befalls a part, and what `blkin status` says",
        "",
        "Within 15 s the status has the finding, or after the time that it speaks of, and once it is over there is none. \"Spans go on\": there is nothing to do, as the",
        "spans of programs arrive meanwhile, or again within 15 s. Where a cell names several, it depends on what exactly is wrong.",
        "",
        *matrix(),
        "",
        "## What you see, what it is, and what to do",
        "",
        "By the finding's code (`findings` of `blkin status --json`); the status says more. The last column names the test.",
        "",
        "| what you see | what it is | what to do | shown by |",
        "|---|---|---|---|",
    ]
    for component, fault, code, remedy, test in ROWS:
        lines.append(f"| `{code}` | {component}: {fault} | {remedy} | {link(os.path.basename(path_of(test)), test)} |")
    lines += [
        "",
        "## What scripts and alerts are told",
        "",
        "`/readyz`, and the alerts of [the rules](../conf/prometheus-rules.yml) that hold, while a program records. Of outputs that do not",
        "deliver: 200, and `BlkinCollectorDown`; of those that are slow, and of losses, 200, and what [the alerts](alerts.md) say.",
        "",
        "| part | what happens to it | what the status says | `/readyz` | alerts |",
        "|---|---|---|---|---|",
    ]
    for part, fault, codes, ready, alerts in CELLS:
        said = ", ".join(f"`{code}`" for code in codes) or "nothing: the agent has seen to it"
        lines.append(f"| {part} | {fault} | {said} | {ready} | {', '.join(f'`{name}`' for name in sorted(alerts)) or 'none'} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page())
