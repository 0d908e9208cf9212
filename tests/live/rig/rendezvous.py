# SPDX-License-Identifier: BSD-2-Clause
"""Which server a node prefers, as blkin-agent.conf(5) has it: an oracle of `balance = yes`."""

import struct

MASK = (1 << 64) - 1
KEY = bytes(range(16))


def siphash(key, data):
    """SipHash-2-4."""
    low, high = struct.unpack("<QQ", key)
    a, b, c, d = low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573

    def turn(value, bits):
        return (value << bits | value >> 64 - bits) & MASK

    def rounds(count):
        nonlocal a, b, c, d
        for _ in range(count):
            a = (a + b) & MASK
            b = turn(b, 13) ^ a
            a = turn(a, 32)
            c = (c + d) & MASK
            d = turn(d, 16) ^ c
            a = (a + d) & MASK
            d = turn(d, 21) ^ a
            c = (c + b) & MASK
            b = turn(b, 17) ^ c
            c = turn(c, 32)

    data += bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", data):
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xFF
    rounds(4)
    return a ^ b ^ c ^ d


def weight(node, server):
    return siphash(KEY, node.encode() + b"\0" + server.encode())


def in_order(node, servers):
    """The servers, HOST:PORT each, the one that the node prefers first."""
    return sorted(servers, key=lambda server: weight(node, server), reverse=True)
