# SPDX-License-Identifier: BSD-2-Clause
"""The parts of the bench; each measures a floor and a candidate in turns, and gives back tables.

trace.py    LTTng sessions to record with, babeltrace2 to compare with, the CPU time of a process
table.py    medians, ratios, and how they are printed
client.py   what a span costs the traced program
live.py     what an event costs the agent, from the live stream to the acknowledgement
files.py    the same from traces on disk
outputs.py  what each output and compression costs, and its bytes on the wire
agent.py    time to delivery, memory, and what the agent costs when nothing happens
"""
