# SPDX-License-Identifier: BSD-2-Clause
"""Completion in bash, zsh and fish: each command, and each option that --help lists, in the shell itself."""

import contextlib
import os
import re
import subprocess
import tempfile

import pytest
from rig.node import TOP, build_dir

BLKIN = os.path.join(build_dir(), "cli/blkin")
COMPLETION = os.path.join(TOP, "doc/completion")
ENVIRONMENT = {"PATH": f"{os.path.dirname(BLKIN)}:/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8"}
RATES = {"1/10", "1/100", "1/1000", "default", "off"}

BASH = """
. "$1/blkin"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_blkin 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = 'source "$argv[1]/blkin.fish"; complete --do-complete -- (string join " " -- $argv[2..])'
# What a shell on a terminal reads first: its candidates go to a file, and it ends after them.
ZSH_START = r"""
PS1= fpath=("$COMPLETION" $fpath)
autoload -Uz compinit && compinit -u -D
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
compadd() {
    local -a found
    if [[ ${@[1,(i)(-|--)]} != *-[OAD]* ]]; then
        builtin compadd -A found "$@"
        (( ! $#found )) || print -rl -- $found >>candidates
    fi
    builtin compadd "$@"
}
finish() { print >>finished; exit }
comppostfuncs=(finish)
print ready >>started
"""
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source start.zsh'
until [[ -e started ]] || ! zpty -t shell; do sleep 0.02; done
zpty -w -n shell "${(j: :)@}"$'\t'
until [[ -e finished ]] || ! zpty -t shell; do sleep 0.02; done
zpty -d shell
"""


def complete_bash(*words, cwd):
    done = subprocess.run(["bash", "-c", BASH, "bash", COMPLETION, *words], cwd=cwd, **RUN)
    return set(done.stdout.split("\n")) - {""}


def complete_fish(*words, cwd):
    environment = dict(ENVIRONMENT, HOME=cwd)
    done = subprocess.run(["fish", "--no-config", "-c", FISH, COMPLETION, *words], cwd=cwd, **dict(RUN, env=environment))
    return {line.split("\t")[0] for line in done.stdout.split("\n")} - {""}


def complete_zsh(*words, cwd):
    environment = dict(ENVIRONMENT, HOME=cwd, COMPLETION=COMPLETION)
    with tempfile.TemporaryDirectory(dir=cwd, prefix=".") as folder:
        for name in os.listdir(cwd):
            os.symlink(os.path.join(cwd, name), os.path.join(folder, name))
        with open(os.path.join(folder, "start.zsh"), "w", encoding="utf-8") as file:
            file.write(ZSH_START)
        subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", *words], cwd=folder, **dict(RUN, env=environment))
        assert os.path.exists(os.path.join(folder, "finished"))
        with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, "candidates"), encoding="utf-8") as file:
            return set(file.read().split("\n")) - {""}
    return set()


RUN = {"env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": True, "timeout": 30}
SHELLS = {"bash": complete_bash, "fish": complete_fish, "zsh": complete_zsh}


@pytest.fixture(params=SHELLS)
def complete(request, tmp_path):
    """Completes the last of the words, in a folder with one file and one folder; returns the candidates."""
    (tmp_path / "a-file").touch()
    (tmp_path / "a-folder").mkdir()
    return lambda *words: SHELLS[request.param](*words, cwd=str(tmp_path))


def help_of(*words):
    return subprocess.run([BLKIN, *words, "--help"], capture_output=True, text=True, check=True).stdout


def commands():
    return set(re.findall(r"^  ([a-z]+) ", help_of(), re.MULTILINE))


def options(command):
    return set(re.findall(r"^  (--[a-z-]+)", help_of(command), re.MULTILINE)) | {"--help"}


def files(found):
    return {name.rstrip("/") for name in found}


def test_commands(complete):
    assert len(commands()) >= 6
    assert complete("blkin", "") - {"--help", "--version"} == commands()
    assert complete("blkin", "s") == {name for name in commands() if name.startswith("s")}
    assert complete("blkin", "--") == {"--help", "--version"}


def test_options(complete):
    for command in commands():
        assert complete("blkin", command, "--") == options(command), command


def test_rates(complete):
    assert complete("blkin", "sampling", "") == RATES
    assert complete("blkin", "sampling", "o") == {"off"}
    assert complete("blkin", "sampling", "--now", "d") == {"default"}
    assert complete("blkin", "sampling", "--service", "") == set()


def test_words_and_files(complete):
    assert complete("blkin", "spool", "") == {"check", "discard", "list"}
    for words in (["validate"], ["import"], ["sampling", "--page"], ["status", "--socket"], ["spool", "list", "--config"]):
        assert files(complete("blkin", *words, "a-")) == {"a-file", "a-folder"}, words
    for words in (["spool", "check", "--directory"], ["why", "60609aef70af5592"]):
        assert files(complete("blkin", *words, "a-")) == {"a-folder"}, words
    assert complete("blkin", "collect", "--listen", "") == set()


def test_configured_names(complete, tmp_path, monkeypatch):
    """Of outputs, also of another configuration; and of services that have a rate of their own."""
    config = tmp_path / "other.conf"
    config.write_text("[output one]\ntype = none\n[output two]\ntype = none\n")
    assert complete("blkin", "spool", "list", "--output", "") == {"default"}
    assert complete("blkin", "spool", "discard", "--config", str(config), "--output", "") == {"default", "one", "two"}
    assert complete("blkin", "spool", "discard", "--config", str(config), "--output", "t") == {"two"}
    other = tmp_path / ".bin/blkin"  # the rates are the node's
    other.parent.mkdir()
    other.write_text(
        f"""#!/bin/sh\n[ "$*" = sampling ] || exec {BLKIN} "$@"\n"""
        "printf '%s\\n' 'every service: 1/7' 'mon.0: off, also after a reboot' 'osd.3: 1/2 until the next boot, then off'\n"
    )
    other.chmod(0o755)
    monkeypatch.setitem(ENVIRONMENT, "PATH", f"{other.parent}:{ENVIRONMENT['PATH']}")
    assert complete("blkin", "sampling", "--service", "") == {"mon.0", "osd.3"}


def test_each_file_is_for_its_shell():
    for shell, name in (("bash", "blkin"), ("fish", "blkin.fish"), ("zsh", "_blkin")):
        subprocess.run([shell, "-n", os.path.join(COMPLETION, name)], check=True)
