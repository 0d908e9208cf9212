# SPDX-License-Identifier: BSD-2-Clause
"""A node of one's own: LTTng's daemons, the agent, a collector and traced programs, all in a temporary folder.

process.py   start, watch and stop programs; free ports; waiting with a deadline
node.py      the daemons put together, with an agent; the ledger
scribe.py    an independent Scribe server, generated from proto/*.thrift for Python
moody.py     a Scribe server that answers as badly as a test wants it to
names.py     a name server
fakereader.py  a reader that says what cannot be, in the real one's place
zipkin.py    a real Zipkin server, and its HTTP API
"""
