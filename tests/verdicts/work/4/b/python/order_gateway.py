"""Delivery-slot gateway: an asyncio service that speaks JSON lines, and the
load driver that is used for its nightly soak test."""
import asyncio
import json
import logging
import os
import random
import tempfile
from collections import Counter

log = logging.getLogger("gateway")

SLOTS = 48
REQUESTS = 56000
CLIENTS = 8


class Rejected(Exception):
    def __init__(self, code, reason):
        super().__init__(reason)
        self.code = code


class SlotBook:
    """Capacity per delivery slot, in litres of van space."""

    def __init__(self):
        self.capacity = {f"S{i:02d}": 400 + 40 * (i % 5) for i in range(SLOTS)}
        self.used = dict.fromkeys(self.capacity, 0)
        self.orders = {}

    def snapshot(self):
        return {
            slot: {"capacity": cap, "used": self.used[slot], "free": cap - self.used[slot]}
            for slot, cap in self.capacity.items()
        }

    def reserve(self, order, slot, volume):
        if slot not in self.capacity:
            raise Rejected(404, "no such slot")
        if order in self.orders:
            raise Rejected(409, "order exists")
        if self.used[slot] + volume > self.capacity[slot]:
            raise Rejected(410, "slot is full")
        self.used[slot] += volume
        self.orders[order] = (slot, volume)
        return self.capacity[slot] - self.used[slot]

    def cancel(self, order):
        if order not in self.orders:
            raise Rejected(404, "no such order")
        slot, volume = self.orders.pop(order)
        self.used[slot] -= volume
        return self.capacity[slot] - self.used[slot]

    def offer(self, volume, wanted):
        """Slots nearest to the wanted one that still have room."""
        fits = [s for s, cap in self.capacity.items() if cap - self.used[s] >= volume]
        fits.sort(key=lambda s: (abs(int(s[1:]) - wanted), s))
        return fits[:5]


class Gateway:
    def __init__(self):
        self.book = SlotBook()
        self.served = Counter()

    def handle(self, request):
        op = request["op"]
        try:
            if op == "reserve":
                free = self.book.reserve(request["order"], request["slot"], request["volume"])
                reply = {"code": 200, "free": free}
            elif op == "cancel":
                reply = {"code": 200, "free": self.book.cancel(request["order"])}
            elif op == "offer":
                reply = {"code": 200, "slots": self.book.offer(request["volume"], request["near"])}
            else:
                raise Rejected(400, f"unknown operation {op}")
        except Rejected as e:
            reply = {"code": e.code, "reason": str(e)}
        self.served[op, reply["code"]] += 1
        log.debug("%s -> %s, book %s", op, reply["code"], json.dumps(self.book.snapshot()))
        return reply

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                reply = self.handle(json.loads(line))
                writer.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
                await writer.drain()
        finally:
            writer.close()


class Driver:
    """One shop front: reserves, asks for offers, and sometimes cancels."""

    def __init__(self, number, path):
        self.number, self.path = number, path
        self.rng = random.Random(1000 + number)
        self.mine = []
        self.codes = Counter()

    def next_request(self, i):
        roll = self.rng.random()
        if roll < 0.25:
            return {"op": "offer", "volume": self.rng.randint(5, 40), "near": self.rng.randrange(SLOTS)}
        if roll < 0.6 and self.mine:
            order = self.mine.pop(self.rng.randrange(len(self.mine)))
            return {"op": "cancel", "order": order}
        order = f"{self.number}-{i}"
        # every shop front has slots of its own, so that the result does not
        # depend on the order in which the connections are served
        slot = f"S{self.rng.randrange(SLOTS // CLIENTS) * CLIENTS + self.number:02d}"
        return {"op": "reserve", "order": order, "slot": slot, "volume": self.rng.randint(5, 60)}

    async def run(self, count):
        reader, writer = await asyncio.open_unix_connection(self.path)
        for i in range(count):
            request = self.next_request(i)
            writer.write(json.dumps(request).encode() + b"\n")
            await writer.drain()
            reply = json.loads(await reader.readline())
            self.codes[request["op"], reply["code"]] += 1
            if request["op"] == "reserve" and reply["code"] == 200:
                self.mine.append(request["order"])
        writer.close()
        await writer.wait_closed()


async def soak(path):
    gateway = Gateway()
    server = await asyncio.start_unix_server(gateway.serve, path)
    async with server:
        drivers = [Driver(n, path) for n in range(CLIENTS)]
        await asyncio.gather(*(d.run(REQUESTS // CLIENTS) for d in drivers))
    total = sum((d.codes for d in drivers), Counter())
    for (op, code), n in sorted(total.items()):
        print(f"{op:8s} {code} {n}")
    used = sum(gateway.book.used.values())
    print(f"{sum(total.values())} requests, {len(gateway.book.orders)} open orders, {used} litres")


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(soak(os.path.join(folder, "gateway.sock")))


if __name__ == "__main__":
    main()
