# SPDX-License-Identifier: BSD-2-Clause
"""Hosts of one's own: Debian systems, of the release that the tests run on, that boot, on a network that nothing else is on.

host.py      one of them: boot, run commands, install packages, reboot, pull the plug
rack.py      what they stand in: the folder of what was prepared, the network, their disks in memory
collector.py a host that receives spans, and counts them by id
repository.py our packages, as apt fetches them
"""
