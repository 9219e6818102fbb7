"""Order matching for the energy day-ahead desk: an asyncio service that speaks
JSON lines, keeps one book per delivery hour, matches by price and time, and a
replay of yesterday's traffic over two connections to check its fills."""
import asyncio
import bisect
import hashlib
import json
import logging
import random
from collections import deque
from dataclasses import dataclass, field

HOURS, CLIENTS, MESSAGES, WINDOW = 24, 2, 34_000, 64
log = logging.getLogger("matching")


@dataclass
class Order:
    id: str
    owner: str
    side: str
    price: int
    qty: int


@dataclass
class Side:
    """One side of a book; levels sorted so that the best price is last."""
    sign: int
    keys: list = field(default_factory=list)
    levels: dict = field(default_factory=dict)

    def add(self, order):
        level = self.levels.get(order.price)
        if level is None:
            level = self.levels[order.price] = deque()
            bisect.insort(self.keys, self.sign * order.price)
        level.append(order)

    def best(self):
        return self.sign * self.keys[-1] if self.keys else None

    def drop_best(self):
        del self.levels[self.sign * self.keys.pop()]

    def remove(self, order):
        level = self.levels[order.price]
        level.remove(order)
        if not level:
            del self.levels[order.price]
            del self.keys[bisect.bisect_left(self.keys, self.sign * order.price)]

    def depth(self):
        return [[self.sign * k, sum(o.qty for o in self.levels[self.sign * k])] for k in reversed(self.keys)]


class Book:
    def __init__(self, hour):
        self.hour = hour
        self.bids, self.asks = Side(1), Side(-1)
        self.orders = {}
        self.volume = 0

    def snapshot(self):
        return {"hour": self.hour, "bids": self.bids.depth(), "asks": self.asks.depth(), "volume": self.volume}

    def place(self, order):
        mine, other = (self.bids, self.asks) if order.side == "buy" else (self.asks, self.bids)
        fills = []
        while order.qty:
            best = other.best()
            if best is None or (best > order.price if order.side == "buy" else best < order.price):
                break
            level = other.levels[best]
            while level and order.qty:
                rest = level[0]
                n = min(rest.qty, order.qty)
                rest.qty -= n
                order.qty -= n
                self.volume += n
                fills.append([rest.id, best, n])
                if not rest.qty:
                    level.popleft()
                    del self.orders[rest.id]
            if not level:
                other.drop_best()
        if order.qty:
            mine.add(order)
            self.orders[order.id] = order
        return fills

    def cancel(self, order_id):
        order = self.orders.pop(order_id, None)
        if order is None:
            return False
        (self.bids if order.side == "buy" else self.asks).remove(order)
        return True


class Service:
    def __init__(self):
        self.books = [Book(h) for h in range(HOURS)]
        self.fills = 0

    def handle(self, msg):
        book = self.books[msg["hour"]]
        kind = msg["type"]
        if kind == "place":
            order = Order(msg["id"], msg["owner"], msg["side"], msg["price"], msg["qty"])
            fills = book.place(order)
            self.fills += len(fills)
            if log.isEnabledFor(logging.DEBUG):
                log.debug("placed %s, book is %s", msg["id"], json.dumps(book.snapshot()))
            return {"id": msg["id"], "fills": fills, "open": order.qty}
        if kind == "cancel":
            done = book.cancel(msg["id"])
            if log.isEnabledFor(logging.DEBUG):
                log.debug("cancelled %s (%s), book is %s", msg["id"], done, json.dumps(book.snapshot()))
            return {"id": msg["id"], "cancelled": done}
        return {"book": {"hour": msg["hour"], "bid": book.bids.best(), "ask": book.asks.best(), "volume": book.volume}}

    async def serve(self, reader, writer):
        peer = writer.get_extra_info("peername")
        log.info("connected %s", peer)
        while line := await reader.readline():
            try:
                reply = self.handle(json.loads(line))
            except (KeyError, ValueError, IndexError) as e:
                log.warning("bad request from %s: %s", peer, e)
                reply = {"error": str(e)}
            writer.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
            await writer.drain()
        writer.close()
        await writer.wait_closed()


def traffic(client):
    """Orders around a curve of prices that wanders over the day."""
    rng = random.Random(100 + client)
    live = []
    for n in range(MESSAGES):
        r = rng.random()
        hour = (client + CLIENTS * rng.randrange(HOURS // CLIENTS)) % HOURS
        if r < 0.42 and len(live) > 400:
            i = rng.randrange(len(live))
            live[i], live[-1] = live[-1], live[i]
            order_id, hour = live.pop()
            yield {"type": "cancel", "id": order_id, "hour": hour}
        elif r < 0.48:
            yield {"type": "quote", "hour": hour}
        else:
            side = "buy" if rng.random() < 0.5 else "sell"
            mid = 6000 + 80 * hour + n // 40
            price = mid + int(rng.gauss(-60 if side == "buy" else 60, 50))
            order_id = f"{client}-{n}"
            live.append((order_id, hour))
            yield {"type": "place", "id": order_id, "owner": f"desk{client}", "hour": hour, "side": side,
                   "price": price, "qty": rng.randint(1, 40)}


async def replay(client, port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    digest = hashlib.sha256()
    counts = {"fills": 0, "cancelled": 0, "errors": 0}

    async def take():
        line = await reader.readline()
        digest.update(line)
        reply = json.loads(line)
        counts["fills"] += len(reply.get("fills", ()))
        counts["cancelled"] += bool(reply.get("cancelled"))
        counts["errors"] += "error" in reply

    waiting = 0
    for msg in traffic(client):
        writer.write(json.dumps(msg).encode() + b"\n")
        waiting += 1
        if waiting == WINDOW:
            await writer.drain()
            for _ in range(WINDOW // 2):
                await take()
            waiting -= WINDOW // 2
    for _ in range(waiting):
        await take()
    writer.close()
    await writer.wait_closed()
    return counts, digest.hexdigest()[:16]


async def run():
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    service = Service()
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        results = await asyncio.gather(*(replay(c, port) for c in range(CLIENTS)))
    for c, (counts, digest) in enumerate(results):
        print(f"client {c}: {counts} {digest}")
    print(f"volume {sum(b.volume for b in service.books)}, open orders {sum(len(b.orders) for b in service.books)}")


if __name__ == "__main__":
    asyncio.run(run())
