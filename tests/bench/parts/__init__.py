# SPDX-License-Identifier: BSD-2-Clause
"""The parts of the bench; each measures a floor and a candidate in turns, and gives back tables.

setup.py         the build, and namespaces of one's own
trace.py         LTTng sessions to record with, babeltrace2 to compare with, the CPU time of a process
processes.py     CPU time and memory of all the processes of a node's tracing
callgrind.py     instructions by function, from callgrind
limits.py        what the guard expects of them
table.py         medians with their spread, ratios, and how they are printed

client.py        what a span costs the traced program
instructions.py  the same, the formats, and a span in the agent by stage, in instructions
live.py          what an event costs the agent, from the live stream to the acknowledgement
files.py         the same from traces on disk
outputs.py       what each output and compression costs, and its bytes on the wire
agent.py         time to delivery, memory, and what the agent costs when nothing happens
node.py          the agent together with LTTng's daemons, per span and idle
rate.py          the rate that holds, and what broke first
crowd.py         memory with many programs and many users
spool.py         to store spans while the collector is down, and to deliver them then
growth.py        whether costs stay what they are over services, names and time
rivals.py        others for the same span, in the program and on the node
"""
