# SPDX-License-Identifier: BSD-2-Clause
"""A sender that hands spans over until each of them has its OK, whatever it speaks."""

import threading
import time


class Persistent(threading.Thread):
    """
    Hands over @count spans, @batch at a time, @rate a second (0: as fast as it goes). Who derives from it has connect(), which
    gives a connection with close(); request(ordinals), which is what is sent, again and again; and hand(connection, request),
    which gives the seconds after which to try it again, or None when it is taken, and raises one of BREAKS when the connection is
    of no more use.
    """

    BREAKS = (OSError,)
    PAUSE = 0.1  # seconds, before another connection

    def __init__(self, process, thread, count, batch, rate):
        super().__init__(daemon=True)
        self.process, self.number = process, thread
        self.count, self.batch, self.rate = count, batch, rate
        self.put_off = self.broken = self.calls = 0
        self.done = 0  # spans that were answered OK
        self.error = None
        self.stopped = False  # it gives up

    def run(self):
        try:
            self._run()
        except Exception as error:  # noqa: BLE001
            self.error = error
            raise

    def _run(self):
        client, began = None, time.monotonic()
        while self.done < self.count and not self.stopped:
            ordinals = range(self.done, min(self.done + self.batch, self.count))
            client, taken = self._insist(client, ordinals)
            self.done += len(ordinals) if taken else 0
            if self.rate:
                time.sleep(max(0, began + self.done / self.rate - time.monotonic()))
        if client:
            client.close()

    def _insist(self, client, ordinals):
        """Tries until it is OK, or it is stopped; returns the connection, and whether it is OK."""
        request = self.request(ordinals)
        while not self.stopped:
            try:
                client = client or self.connect()
                self.calls += 1
                wait = self.hand(client, request)
                if wait is None:
                    return client, True
                self.put_off += 1
            except self.BREAKS:
                self.broken += 1
                wait = self.PAUSE
                if client:
                    client.close()
                client = None
            self.failed(ordinals)
            time.sleep(self.pause(wait))
        return client, False

    def failed(self, ordinals):
        """These had no answer, or another one than OK."""

    def pause(self, wait):
        """How long it waits when it is told to wait so long."""
        return wait
