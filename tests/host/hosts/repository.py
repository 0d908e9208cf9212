# SPDX-License-Identifier: BSD-2-Clause
"""A repository of packages, made by scripts/apt-repository."""

import os
import shutil
import subprocess

TOP = os.path.join(os.path.dirname(__file__), "../../..")


class Repository:
    """Made in @folder, with a key of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = dict(os.environ, GNUPGHOME=f"{folder}/gnupg")
        os.makedirs(f"{folder}/gnupg", mode=0o700)
        self.key = self.run("make-key", "BlkKin's tests").strip()

    def run(self, *words, code=0):
        done = subprocess.run(
            [os.path.join(TOP, "scripts/apt-repository"), *words],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def add(self, packages):
        """For both releases of Debian the same ones, as only this machine's are here."""
        for codename in ("bookworm", "trixie"):
            os.makedirs(f"{self.folder}/packages/{codename}")
            for package in packages:
                shutil.copy(package, f"{self.folder}/packages/{codename}")
        self.run("add", self.key, f"{self.folder}/packages", f"{self.folder}/made")
        shutil.rmtree(f"{self.folder}/packages")

    def publish(self, host):
        """Puts it where the host's file: leads."""
        shutil.copytree(f"{self.folder}/made", host.path("/srv/blkin"), dirs_exist_ok=True)

    def close(self):
        subprocess.run(["gpgconf", "--kill", "all"], env=self.environment, check=False)
