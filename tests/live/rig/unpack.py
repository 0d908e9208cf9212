# SPDX-License-Identifier: BSD-2-Clause
"""HTTP bodies as they were before they were compressed: by zlib, and by libzstd, which Python does not come with."""

import ctypes
import gzip

ZSTD_UNKNOWN = 2**64 - 2  # and what is larger is an error


def unzstd(body):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_uint64
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    size = zstd.ZSTD_getFrameContentSize(body, ctypes.c_size_t(len(body)))
    assert size < ZSTD_UNKNOWN, "no zstd, or of unknown size"
    out = ctypes.create_string_buffer(size)
    done = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), body, ctypes.c_size_t(len(body)))
    assert done == size, "zstd that is damaged"
    return out.raw


def unpack(body, encoding):
    """@encoding: of HTTP's Content-Encoding, as a str, or None."""
    return {None: bytes, "gzip": gzip.decompress, "zstd": unzstd}[encoding](body)
