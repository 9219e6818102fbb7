"""Load test of the smart-meter relay: asyncio server, many meters, one store.

Meters send framed batches of readings over TCP; the relay validates them,
keeps hourly aggregates, writes them to SQLite in batches and acknowledges.
"""
import asyncio
import json
import random
import sqlite3
import struct
import tempfile
import zlib
from pathlib import Path

METERS = 48
BATCHES = 420
READINGS = 72
FRAME = struct.Struct(">II")


def encode(message):
    body = zlib.compress(json.dumps(message, separators=(",", ":")).encode(), 1)
    return FRAME.pack(len(body), zlib.crc32(body)) + body


async def read_frame(reader):
    try:
        head = await reader.readexactly(FRAME.size)
    except asyncio.IncompleteReadError:
        return None
    size, crc = FRAME.unpack(head)
    body = await reader.readexactly(size)
    if zlib.crc32(body) != crc:
        raise ValueError("damaged frame")
    return json.loads(zlib.decompress(body))


class Store:
    """Hourly sums by meter; rows are written when enough of them wait."""

    def __init__(self, path, flush_at=4000):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=NORMAL")
        self.db.execute(
            "CREATE TABLE hourly(meter INTEGER, hour INTEGER, wh REAL, peak REAL, n INTEGER,"
            " PRIMARY KEY(meter, hour)) WITHOUT ROWID"
        )
        self.pending = {}
        self.flush_at = flush_at

    def add(self, meter, readings):
        pending = self.pending
        for ts, wh, volts in readings:
            key = (meter, ts // 3600)
            entry = pending.get(key)
            if entry is None:
                pending[key] = [wh, wh, 1]
            else:
                entry[0] += wh
                entry[2] += 1
                if wh > entry[1]:
                    entry[1] = wh
        if len(pending) >= self.flush_at:
            self.flush()

    def flush(self):
        rows = [(m, h, wh, peak, n) for (m, h), (wh, peak, n) in self.pending.items()]
        with self.db:
            self.db.executemany(
                "INSERT INTO hourly VALUES(?,?,?,?,?) ON CONFLICT(meter, hour) DO UPDATE SET"
                " wh = wh + excluded.wh, peak = max(peak, excluded.peak), n = n + excluded.n",
                rows,
            )
        self.pending.clear()

    def summary(self):
        self.flush()
        return self.db.execute("SELECT count(*), sum(wh), max(peak), sum(n) FROM hourly").fetchone()

    def close(self):
        self.db.close()


class Relay:
    def __init__(self, store):
        self.store = store
        self.rejected = 0
        self.frames = 0

    @staticmethod
    def valid(reading, last_ts):
        ts, wh, volts = reading
        return ts > last_ts and 0 <= wh < 5000 and 180 <= volts <= 260

    async def handle(self, reader, writer):
        last_ts = -1
        while (message := await read_frame(reader)) is not None:
            self.frames += 1
            good = []
            for reading in message["readings"]:
                if self.valid(reading, last_ts):
                    last_ts = reading[0]
                    good.append(reading)
                else:
                    self.rejected += 1
            self.store.add(message["meter"], good)
            writer.write(encode({"ack": message["seq"], "accepted": len(good)}))
            await writer.drain()
        writer.close()
        await writer.wait_closed()


async def meter(number, port):
    """One meter: readings every 5 minutes, up to three batches not yet acknowledged."""
    rng = random.Random(5000 + number)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    window = asyncio.Semaphore(3)
    accepted = 0

    async def collect():
        nonlocal accepted
        for _ in range(BATCHES):
            answer = await read_frame(reader)
            accepted += answer["accepted"]
            window.release()

    collector = asyncio.create_task(collect())
    ts, base = number, rng.uniform(20, 120)
    for seq in range(BATCHES):
        readings = []
        for _ in range(READINGS):
            ts += 300
            daily = 1.4 if 6 <= ts // 3600 % 24 <= 22 else 0.5
            wh = round(base * daily * rng.uniform(0.6, 1.5), 2)
            volts = round(rng.gauss(230, 4), 1) if rng.random() > 0.001 else 0.0
            readings.append((ts, wh, volts))
        await window.acquire()
        writer.write(encode({"meter": number, "seq": seq, "readings": readings}))
        await writer.drain()
    await collector
    writer.close()
    await writer.wait_closed()
    return accepted


async def soak(path):
    store = Store(path)
    relay = Relay(store)
    server = await asyncio.start_server(relay.handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        accepted = await asyncio.gather(*(meter(n, port) for n in range(METERS)))
    hours, wh, peak, n = store.summary()
    store.close()
    if n != sum(accepted):
        raise SystemExit(f"store holds {n} readings, meters count {sum(accepted)}")
    return relay, hours, wh, peak, n


def main():
    with tempfile.TemporaryDirectory() as folder:
        relay, hours, wh, peak, n = asyncio.run(soak(Path(folder) / "relay.db"))
    print(f"{relay.frames} frames, {n} readings accepted, {relay.rejected} rejected")
    print(f"{hours} meter hours, {wh / 1000:.2f} kWh, peak {peak:.2f} Wh")


if __name__ == "__main__":
    main()
