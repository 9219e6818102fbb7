"""Collects machine readings over TCP: devices send newline-delimited JSON, the
gateway validates them, keeps the latest state of each device, raises alarms,
and answers with an acknowledgement per batch."""
import asyncio
import json
import logging
import random
import statistics
from collections import Counter, deque

DEVICES = 8
BATCHES = 350
READINGS_PER_BATCH = 20
FIELDS = ("temperature", "pressure", "vibration", "current")
LIMITS = {"temperature": 92.0, "pressure": 9.3, "vibration": 4.6, "current": 31.0}

log = logging.getLogger("gateway")


class DeviceState:
    def __init__(self, name):
        self.name = name
        self.readings = 0
        self.recent = {f: deque(maxlen=64) for f in FIELDS}
        self.alarms = Counter()
        self.last_time = 0.0

    def summary(self):
        return {
            "name": self.name,
            "readings": self.readings,
            "last_time": self.last_time,
            "recent": {f: list(v) for f, v in self.recent.items()},
            "alarms": dict(self.alarms),
        }


class Gateway:
    def __init__(self):
        self.devices = {}
        self.rejected = 0

    def validate(self, message):
        if message.get("type") != "reading" or "device" not in message:
            raise ValueError("not a reading")
        if message["time"] <= 0:
            raise ValueError("bad time")
        return {f: float(message["values"][f]) for f in FIELDS}

    def accept(self, message):
        try:
            values = self.validate(message)
        except (KeyError, ValueError) as e:
            self.rejected += 1
            log.info("rejected: %s", e)
            return
        state = self.devices.setdefault(message["device"], DeviceState(message["device"]))
        if log.isEnabledFor(logging.DEBUG):
            log.debug("before: %s", json.dumps(state.summary(), sort_keys=True))
        state.readings += 1
        state.last_time = message["time"]
        for field, value in values.items():
            window = state.recent[field]
            window.append(value)
            if value > LIMITS[field] or self.drifting(window, value):
                state.alarms[field] += 1
                log.info("alarm %s %s %.2f", state.name, field, value)

    @staticmethod
    def drifting(window, value):
        if len(window) < 32:
            return False
        mean = statistics.fmean(window)
        spread = statistics.fmean(abs(v - mean) for v in window)
        return abs(value - mean) > 6 * spread

    async def serve(self, reader, writer):
        accepted = 0
        while line := await reader.readline():
            message = json.loads(line)
            if message["type"] == "end":
                writer.write(json.dumps({"ack": message["batch"], "accepted": accepted}).encode() + b"\n")
                await writer.drain()
                accepted = 0
            else:
                self.accept(message)
                accepted += 1
        writer.close()


class Device:
    def __init__(self, number):
        self.name = f"press-{number:02d}"
        self.rng = random.Random(1000 + number)
        self.clock = 0.0
        self.level = {"temperature": 70.0, "pressure": 6.0, "vibration": 2.0, "current": 20.0}
        self.acknowledged = 0

    def reading(self):
        self.clock += 0.5
        for f in FIELDS:
            home = LIMITS[f] * 0.7
            self.level[f] += 0.05 * (home - self.level[f]) + self.rng.gauss(0, LIMITS[f] * 0.02)
        values = {f: round(v, 4) for f, v in self.level.items()}
        if self.rng.random() < 0.01:
            del values["current"]
        return {"type": "reading", "device": self.name, "time": self.clock, "values": values}

    async def run(self, host, port):
        reader, writer = await asyncio.open_connection(host, port)
        for batch in range(BATCHES):
            lines = [json.dumps(self.reading()) for _ in range(READINGS_PER_BATCH)]
            lines.append(json.dumps({"type": "end", "batch": batch}))
            writer.write(("\n".join(lines) + "\n").encode())
            await writer.drain()
            answer = json.loads(await reader.readline())
            assert answer["ack"] == batch
            self.acknowledged += answer["accepted"]
        writer.close()
        await writer.wait_closed()


async def main():
    logging.basicConfig(level=logging.WARNING)
    gateway = Gateway()
    server = await asyncio.start_server(gateway.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    devices = [Device(n) for n in range(DEVICES)]
    await asyncio.gather(*(d.run(host, port) for d in devices))
    server.close()
    await server.wait_closed()

    print("acknowledged", sum(d.acknowledged for d in devices), "rejected", gateway.rejected)
    alarms = Counter()
    for state in sorted(gateway.devices.values(), key=lambda s: s.name):
        alarms.update(state.alarms)
        print(state.name, state.readings, f"{statistics.fmean(state.recent['temperature']):.3f}")
    print("alarms", dict(sorted(alarms.items())))


if __name__ == "__main__":
    asyncio.run(main())
