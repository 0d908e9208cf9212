# SPDX-License-Identifier: BSD-2-Clause
"""
The agents and the collector of tests/cluster/simulate. An agent is what agent/output/server/, and agent/output/spool/
spooler.c and due.c do with one server; its spans are numbers. The collector is collector.py's: it judges a call when it comes.
"""

import heapq
import math
import random
from collections import Counter, deque

from rules import Backoff, Courtesy, FixedBackoff, Share

LATENCY = 0.001  # seconds from a call to its answer
PERIOD = 0.2  # between two batches of an agent
FULL = 0.3  # seconds of work that may wait at a collector
SPAN = 430  # bytes in queue and spool
TAKEN, BUSY, CLOSED, LOST = range(4)
STORED = 1 << 30  # among ages: it is delivered behind all that was stored before


class Collector:
    """As tests/cluster/collector.py."""

    def __init__(self, capacity, refusal, closes):
        self.capacity, self.refusal, self.closes = capacity, refusal, closes
        self.away = False
        self.asks = self.free = 0.0
        self.asks_for = 0
        self.sick = None  # puts off a call for which it is true, whatever else there is to do
        self.taken = self.refused = self.tries = 0

    def connect(self):
        self.tries += 1
        return not self.away

    def judge(self, spans, now):
        free = max(self.free, now)
        takes = free - now < FULL and now >= self.asks and not (self.sick and self.sick(now))
        self.free = free + spans * (1 if takes else self.refusal) / self.capacity
        if takes:
            self.taken += spans
            return TAKEN
        self.refused += spans
        return CLOSED if self.closes else BUSY

    def wait(self, now):
        """What it names as Retry-After."""
        return self.asks_for if now < self.asks else 0


class Batch:
    """In one agent's hands."""

    __slots__ = ("spans", "left", "stored", "came", "failures", "alone")

    def __init__(self, spans, stored, came=0.0):
        self.spans = self.left = spans
        self.stored, self.came = stored, came
        self.failures, self.alone = 0, False


class Agent:
    """By today's rules."""

    def __init__(self, is_, world, rate, phase):
        self.world, self.collector = world, world.collector
        self.period = max(PERIOD, 1 / rate)
        self.size, self.phase = max(round(rate * self.period), 1), phase
        self.row = max(round(rate * is_["due.GROUP_NS"]), 1) if world.fed else self.size
        self.courtesy = Courtesy(is_)
        self.pace = self.courtesy.pace
        self.share = Share(is_)
        self.backoff = Backoff(is_)
        self.window, self.batch_spans, self.limit = is_["window"], is_["batch-spans"], is_["queue-size"] / SPAN
        self.patience, self.busy_patience = is_["due.PATIENCE_NS"], is_["due.BUSY_NS"]
        self.step, self.floor = is_["spooler.STEP_NS"], is_["replay-floor"]
        # the queue: what has come since the beginning is a matter of the time
        self.gone = 0  # so many of these were taken or stored
        self.back = deque()  # fresh batches that were given back
        self.ready = deque()  # from disk
        self.handed = 0  # spans from disk that are not finished
        self.disk = self.released = 0
        self.replay_pace = 0
        self.delivering, self.busy, self.since, self.busy_at, self.returns = True, False, phase, 0.0, 0
        self.paced = None
        # the server
        self.linked = self.failing = self.put_off = self.answers = self.taking = False
        self.asked = 0.0
        self.resting = 0.0  # until then
        self.batches = []  # taken, and not finished
        self.rest = deque()  # of these, what is not sent
        self.open = []
        self.turn = 0

    def came(self, now):
        return max(int((min(now, self.world.ends) - self.phase) / self.period + 1e-9), 0) * self.size

    def wake(self, when):
        self.turn += 1
        heapq.heappush(self.world.events, (when, next(self.world.count), self, self.turn))

    # The queue

    def set_delivering(self, delivering, busy, now):
        if self.delivering != delivering:
            self.since = now
        if delivering and not self.delivering and not self.busy:
            self.returns += 1
        self.delivering, self.busy = delivering, busy
        if busy:
            self.busy_at = now

    def oldest(self):
        """When what has waited longest came."""
        return self.back[0].came if self.back else self.phase + (self.gone // self.size + 1) * self.period

    def due(self, now, waiting):
        """How many of the spans that wait are to be stored."""
        oldest = self.oldest()
        late = oldest < self.busy_at and now >= oldest + self.busy_patience
        away = not self.delivering and now >= self.since + (self.busy_patience if self.busy else self.patience)
        if late or away or (not self.delivering and waiting > self.limit / 8):
            return waiting
        return waiting - self.limit * 3 / 8 if waiting > self.limit / 2 else 0

    def store(self, now):
        waiting = self.came(now) - self.gone + sum(batch.left for batch in self.back)
        due = self.due(now, waiting) if waiting else 0
        if not self.world.spools:
            return
        self.world.ages[STORED] += due
        while due > 0 and self.back:
            left = self.back.popleft().left
            self.disk += left
            due -= left
        if due > 0:
            spans = -int(-due // self.size) * self.size
            self.gone += spans
            self.disk += spans

    def call_spans(self):
        """How many spans from disk make a call: as many batches as there were when they were stored."""
        most = min(self.batch_spans, self.replay_pace or self.batch_spans)
        return max(int(most // self.row), 1) * self.row

    def ahead(self):
        return self.replay_pace + 1 / SPAN if 0 < self.replay_pace < self.limit / 8 else self.limit / 8

    def hand_over(self):
        spans = min(self.call_spans(), self.disk)
        self.disk -= spans
        self.handed += spans
        self.share.spend(spans)
        self.ready.append(Batch(spans, True))

    def serial(self):
        """The pace of the disk begins anew with each."""
        return self.returns

    def replay(self, now):
        if not self.delivering:
            if self.disk and not self.handed:
                self.hand_over()
            return
        if self.paced != self.serial():
            self.share.restart(now, self.released)
            self.paced = self.serial()
        while self.disk and self.handed < self.ahead() and self.share.step(now, self.released):
            self.hand_over()

    def take_fresh(self, now):
        if self.back:
            return self.back.popleft()
        if self.came(now) == self.gone:
            return None
        batch = Batch(self.size, False, self.oldest())
        self.gone += self.size
        return batch

    def probes_from_disk(self):
        return not self.delivering and not self.busy

    def take_batch(self, now, paced):
        if self.ready and not paced and self.probes_from_disk():
            return self.ready.popleft()
        batch = self.take_fresh(now)
        if not batch and self.ready and not paced:
            batch = self.ready.popleft()
        return batch

    def give_back(self):
        for batch in reversed(self.batches):
            batch.spans = batch.left
            (self.ready if batch.stored else self.back).appendleft(batch)
        self.batches.clear()
        self.rest.clear()
        self.open.clear()
        self.put_off, self.asked = False, 0.0

    # The server

    def take(self, now, paced):
        """A batch, and how many of its spans are to be sent; those that were ended with a connection are sent alone."""
        if self.open and self.open[-1][0].alone:
            return None, 0
        if self.rest:
            batch, spans = self.rest.popleft()
        else:
            batch = self.take_batch(now, paced)
            if not batch:
                return None, 0
            spans = batch.left
            if batch.alone and self.open:
                (self.ready if batch.stored else self.back).appendleft(batch)
                return None, 0
            self.batches.append(batch)
        return batch, spans

    def send(self, batch, spans, now):
        if self.open and self.open[-1][2] >= CLOSED:
            answer = LOST
        else:
            answer = self.collector.judge(spans, now)
        self.open.append((batch, spans, answer))

    def waiting(self, now):
        """Fresh spans that are not delivered, nor stored."""
        taken = sum(batch.left for batch in self.batches if not batch.stored)
        return self.came(now) - self.gone + sum(batch.left for batch in self.back) + taken

    def send_some(self, now):
        """Returns when the pace allows more; 0: it is not what holds them back."""
        window = 1 if self.failing else self.courtesy.window
        wait = 0.0
        while len(self.open) < window:
            wait = self.pace.wait(now)
            held = self.courtesy.wait(self.waiting(now), now)
            if held:
                return now + held
            batch, spans = self.take(now, wait > 0)
            if not batch:
                break
            most = self.courtesy.next_most()
            if (self.failing or self.courtesy.all.is_on(now) or not batch.stored) and spans > most:
                self.rest.appendleft((batch, spans - most))
                spans = most
            self.courtesy.spend(spans, batch.stored)
            self.send(batch, spans, now)
        return now + wait if wait else 0.0

    def look(self, now):
        self.pace.look(now, self.came(now), self.floor)
        self.replay_pace = self.pace.rate

    def pump(self, now):
        if not self.linked:
            if not self.collector.connect():
                self.store(now)
                self.fail(False, now)
                return
            self.linked, self.answers, self.taking = True, False, False
        self.look(now)
        self.store(now)
        self.replay(now)
        paced = self.send_some(now)
        if self.open:
            self.wake(now + LATENCY)
            return
        if not self.delivering:
            self.set_delivering(True, False, now)  # it is there, with nothing to send
        if not self.answers:
            self.backoff.connected()
        self.wake(self.next(now, paced))

    def next(self, now, paced):
        """When there may be something to do, with nothing open."""
        when = self.phase + (self.came(now) // self.size + 1) * self.period
        if paced:
            when = min(when, paced)
        if self.disk and self.delivering and self.handed < self.ahead():
            when = min(when, max(now + self.step, self.share.next(now)))
        return max(when, now + LATENCY)

    def rests(self, asked, now):
        self.resting = now + self.backoff.next(asked, now)
        self.wake(self.resting)

    def fail(self, answered, now):
        """It is away, or ended the connection with calls open, of which the first is blamed."""
        failures = 0
        if answered:
            self.open[0][0].failures += 1
            failures = self.open[0][0].failures
            for batch, _, _ in self.open:
                batch.alone = True
        self.courtesy.failed(answered, failures, now)
        self.linked, self.failing = False, True
        self.step_back(self.courtesy.busy, now)

    def step_back(self, busy, now):
        asked = self.asked
        self.give_back()
        self.rests(asked, now)
        self.set_delivering(False, busy, now)

    def finish(self, batch, spans, now):
        batch.left -= spans
        if batch.stored:
            self.handed -= spans
        else:
            self.released += spans
            self.world.ages[int((now - batch.came) * 10)] += spans
        if not batch.left:
            self.batches.remove(batch)

    def took(self, batch, spans, now):
        self.courtesy.good(now)
        self.pace.good(now)
        if not self.taking:
            self.backoff.connected()
        self.taking = True
        self.backoff.good(now)
        self.failing = False
        self.finish(batch, spans, now)

    def was_put_off(self, batch, spans, now):
        asked = self.collector.wait(now)
        if batch.stored and not batch.failures and spans == batch.spans and not asked and self.courtesy.serves(now):
            self.courtesy.too_fast(now)
            self.batches.remove(batch)
            self.ready.appendleft(batch)
            return
        self.failing = self.put_off = True
        self.courtesy.put_off(spans)
        self.asked = max(self.asked, asked)

    def answered(self, now):
        self.answers = True
        calls, self.open = self.open, []
        took = False
        for i, (batch, spans, answer) in enumerate(calls):
            if answer == TAKEN:
                self.took(batch, spans, now)
                took = True
            elif answer == BUSY:
                self.was_put_off(batch, spans, now)
            else:
                self.open = calls[i:]
                self.fail(True, now)
                return
        if self.put_off:
            self.was_busy(now)
            self.step_back(not self.asked, now)
            return
        if took:
            self.set_delivering(True, False, now)
        self.pump(now)

    def was_busy(self, now):
        self.courtesy.failed(True, 0, now)

    def stop(self, now):
        """Nothing comes any more, and there is no time for long waits."""
        self.backoff.reset()
        self.courtesy.all.end()
        if self.resting:
            self.rests(0, now)

    def lost(self, now):
        """The collector goes away."""
        if self.open:
            for i, (batch, spans, _) in enumerate(self.open):
                self.open[i] = (batch, spans, CLOSED)
            return
        self.linked = False
        if not self.resting:
            self.backoff.next(0, now)
            self.backoff.connected()
            self.wake(self.next(now, 0.0))  # who served is called again as soon as there is something to send

    def act(self, now):
        if self.open:
            self.answered(now)
            return
        self.resting = 0.0
        self.pump(now)


class FixedAgent(Agent):
    """Before sendpace.c and courtesy.c: only the disk is read at a pace; what a busy server puts off stops all."""

    def __init__(self, is_, world, rate, phase):
        super().__init__(is_, world, rate, phase)
        self.backoff = FixedBackoff(is_)

    def due(self, now, waiting):
        if not self.delivering and (now >= self.since + self.patience or waiting > self.limit / 8):
            return waiting
        return waiting - self.limit * 3 / 8 if waiting > self.limit / 2 else 0

    def call_spans(self):
        return self.size

    def serial(self):
        return self.since

    def probes_from_disk(self):
        return False

    def look(self, now):
        pass

    def send_some(self, now):
        window = 1 if self.failing else self.window
        while len(self.open) < window:
            batch, spans = self.take(now, False)
            if not batch:
                break
            self.send(batch, spans, now)
        return 0.0

    def took(self, batch, spans, now):
        self.backoff.good(now)
        self.failing = False
        self.finish(batch, spans, now)

    def was_put_off(self, batch, spans, now):
        self.failing = self.put_off = True
        self.asked = max(self.asked, self.collector.wait(now))

    def was_busy(self, now):
        pass


class World:
    """One collector, its agents, and the time."""

    def __init__(self, is_, kind, count, rate, collector, fed, begin=1.0):
        """@fed: programs wait until what they hand over is stored, as those of feeder.py, so that batches are larger then."""
        self.collector, self.fed, self.now = collector, fed, begin
        self.ends, self.spools = math.inf, True
        self.events, self.count = [], iter(range(1 << 62))
        self.ages = Counter()  # spans that waited in memory alone, by tenths of a second
        self.agents = []
        for _ in range(count):
            phase = begin + random.random() * max(PERIOD, 1 / rate)
            self.agents.append(kind(is_, self, rate, phase))
            self.agents[-1].wake(phase)

    def made(self):
        return sum(agent.came(self.now) for agent in self.agents)

    def run(self, until):
        events = self.events
        while events and events[0][0] < until:
            when, _, agent, turn = heapq.heappop(events)
            if turn == agent.turn:
                agent.act(when)
        self.now = until

    def stop(self):
        """All agents stop, which have no disk."""
        self.ends = self.now
        for agent in self.agents:
            agent.stop(self.now)

    def leave(self):
        self.collector.away = True
        self.collector.free = 0.0
        for agent in self.agents:
            agent.lost(self.now)
