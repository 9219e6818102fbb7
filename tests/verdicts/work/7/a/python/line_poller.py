"""Polls the drives of a bottling line and flags those whose vibration changes.

Every drive answers a register request after its own scan cycle.  The drives are
simulated by small TCP servers in this process, with the protocol of the real ones:
request  ">HH" (first register, count), reply ">H" count and the registers.
"""
import asyncio
import cmath
import math
import random
import struct
from collections import deque
from dataclasses import dataclass, field

N_DRIVES = 36
ROUNDS = 16
REGISTERS = 256
SCAN_CYCLE = 0.009


class SimulatedDrive:
    def __init__(self, number):
        self.rng = random.Random(number)
        self.frequency = 18 + number % 11
        self.fault_from = 6 if number % 9 == 4 else ROUNDS + 1
        self.requests = 0
        self.server = None
        self.finished = asyncio.Event()

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    def registers(self, first, count):
        faulty = self.requests >= self.fault_from
        values = []
        for i in range(first, first + count):
            v = 900 * math.sin(2 * math.pi * self.frequency * i / REGISTERS) + self.rng.gauss(0, 60)
            if faulty:
                v += 700 * math.sin(2 * math.pi * 47 * i / REGISTERS)
            values.append(int(v) & 0xFFFF)
        return values

    async def serve(self, reader, writer):
        try:
            while True:
                first, count = struct.unpack(">HH", await reader.readexactly(4))
                await asyncio.sleep(SCAN_CYCLE)
                values = self.registers(first, count)
                self.requests += 1
                writer.write(struct.pack(f">H{count}H", count, *values))
                await writer.drain()
        except asyncio.IncompleteReadError:
            writer.close()
            self.finished.set()


def spectrum(samples):
    """Power per bin of a radix-2 FFT over a Hann window."""
    n = len(samples)
    data = [s * (0.5 - 0.5 * math.cos(2 * math.pi * i / n)) for i, s in enumerate(samples)]

    def fft(x):
        m = len(x)
        if m == 1:
            return x
        even, odd = fft(x[0::2]), fft(x[1::2])
        half = [TWIDDLE[m][k] * odd[k] for k in range(m // 2)]
        return [e + h for e, h in zip(even, half)] + [e - h for e, h in zip(even, half)]

    return [abs(z) ** 2 / n for z in fft([complex(d) for d in data])[: n // 2]]


TWIDDLE = {m: [cmath.exp(-2j * math.pi * k / m) for k in range(m // 2)] for m in (2**p for p in range(1, 13))}


@dataclass
class DriveState:
    name: str
    window: deque = field(default_factory=lambda: deque(maxlen=8))
    reference: list = None
    alarms: list = field(default_factory=list)

    def update(self, round_no, samples):
        self.window.append(samples)
        joined = [s for block in self.window for s in block]
        size = 1 << (len(joined).bit_length() - 1)
        power = spectrum(joined[-size:])
        bands = [sum(power[i : i + size // 32]) for i in range(0, size // 2, size // 32)]
        total = sum(bands)
        profile = [b / total for b in bands]
        if self.reference is None or len(self.window) < 4:
            self.reference = profile
            return
        distance = sum(abs(a - b) for a, b in zip(profile, self.reference))
        if distance > 0.25:
            self.alarms.append(round_no)
        else:
            self.reference = [0.9 * a + 0.1 * b for a, b in zip(self.reference, profile)]


class DriveClient:
    def __init__(self, name, port):
        self.name, self.port = name, port
        self.reader = self.writer = None

    async def connect(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def read_registers(self, first, count):
        self.writer.write(struct.pack(">HH", first, count))
        await self.writer.drain()
        (n,) = struct.unpack(">H", await self.reader.readexactly(2))
        return struct.unpack(f">{n}h", await self.reader.readexactly(2 * n))


class LinePoller:
    def __init__(self, clients):
        self.clients = clients
        self.states = {c.name: DriveState(c.name) for c in clients}

    async def poll_round(self):
        readings = {}
        for client in self.clients:
            readings[client.name] = await client.read_registers(0, REGISTERS)
        return readings

    async def run(self, rounds):
        for client in self.clients:
            await client.connect()
        for round_no in range(rounds):
            for name, samples in (await self.poll_round()).items():
                self.states[name].update(round_no, samples)


async def main():
    drives = [SimulatedDrive(i) for i in range(N_DRIVES)]
    clients = [DriveClient(f"drive-{i:02d}", await d.start()) for i, d in enumerate(drives)]
    poller = LinePoller(clients)
    await poller.run(ROUNDS)
    for client in clients:
        client.writer.close()
    for drive in drives:
        await drive.finished.wait()
        drive.server.close()
    flagged = {s.name: s.alarms[0] for s in poller.states.values() if s.alarms}
    print(f"{len(clients)} drives, {ROUNDS} rounds, flagged: {flagged}")


if __name__ == "__main__":
    asyncio.run(main())
