"""Option quoting: a pricing server on a local socket and the desk client that
walks a book of positions, asks for a quote for each, and totals the risk."""
import json
import math
import random
import socket
import struct
import threading

HEADER = struct.Struct("!4sIQ")
MAGIC = b"QTE1"
POSITIONS = 60
TREE_STEPS = 700


def price_american(spot, strike, rate, vol, years, steps, is_put):
    """Cox-Ross-Rubinstein tree; returns price and delta."""
    dt = years / steps
    up = math.exp(vol * math.sqrt(dt))
    down = 1.0 / up
    disc = math.exp(-rate * dt)
    p = (math.exp(rate * dt) - down) / (up - down)
    pu, pd = disc * p, disc * (1.0 - p)
    sign = -1.0 if is_put else 1.0
    ladder = [spot * up ** (2 * i - steps) for i in range(steps + 1)]
    intrinsic = [sign * (s - strike) for s in ladder]
    values = [v if v > 0.0 else 0.0 for v in intrinsic]
    delta = 0.0
    for step in range(steps - 1, -1, -1):
        if step == 0:
            delta = (values[1] - values[0]) / (spot * up - spot * down)
        held = [pu * b + pd * a for a, b in zip(values, values[1:])]
        if is_put:
            scale = up ** (steps - step)
            values = [h if h > strike - s * scale else strike - s * scale for h, s in zip(held, ladder)]
        else:
            values = held
    return values[0], delta


def read_exact(sock, size):
    chunks = []
    while size:
        chunk = sock.recv(size)
        if not chunk:
            raise ConnectionError("peer closed the connection")
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def read_message(sock):
    magic, size, ident = HEADER.unpack(read_exact(sock, HEADER.size))
    if magic != MAGIC:
        raise ValueError("bad frame")
    return ident, json.loads(read_exact(sock, size))


def write_message(sock, ident, message):
    body = json.dumps(message, separators=(",", ":")).encode()
    sock.sendall(HEADER.pack(MAGIC, len(body), ident) + body)


class PricingServer(threading.Thread):
    def __init__(self):
        super().__init__(name="pricing", daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.served = 0

    def quote(self, request):
        value, delta = price_american(request["spot"], request["strike"], request["rate"], request["vol"],
                                      request["years"], TREE_STEPS, request["kind"] == "put")
        bumped, _ = price_american(request["spot"], request["strike"], request["rate"], request["vol"] + 0.01,
                                   request["years"], TREE_STEPS, request["kind"] == "put")
        return {"price": value, "delta": delta, "vega": bumped - value}

    def run(self):
        conn, _ = self.listener.accept()
        with conn:
            while True:
                ident, request = read_message(conn)
                if request.get("op") == "close":
                    write_message(conn, ident, {"served": self.served})
                    return
                write_message(conn, ident, self.quote(request))
                self.served += 1


class QuoteClient:
    def __init__(self, address):
        self.sock = socket.create_connection(address)
        self.next_id = 1

    def call(self, message):
        ident, self.next_id = self.next_id, self.next_id + 1
        write_message(self.sock, ident, message)
        answered, reply = read_message(self.sock)
        if answered != ident:
            raise RuntimeError(f"reply {answered} to request {ident}")
        return reply

    def close(self):
        reply = self.call({"op": "close"})
        self.sock.close()
        return reply["served"]


def build_book(count):
    rng = random.Random(31)
    book = []
    for number in range(count):
        spot = rng.uniform(60, 140)
        book.append({
            "op": "quote", "position": number, "kind": rng.choice(["put", "call"]), "spot": round(spot, 2),
            "strike": round(spot * rng.uniform(0.85, 1.15), 1), "rate": 0.03,
            "vol": round(rng.uniform(0.15, 0.45), 3), "years": rng.choice([0.25, 0.5, 1.0, 2.0]),
            "quantity": rng.randint(-50, 50),
        })
    return book


def main():
    server = PricingServer()
    server.start()
    client = QuoteClient(server.address)
    value = delta = vega = 0.0
    for position in build_book(POSITIONS):
        quote = client.call(position)
        value += position["quantity"] * quote["price"]
        delta += position["quantity"] * quote["delta"]
        vega += position["quantity"] * quote["vega"]
    served = client.close()
    server.join()
    print(f"quotes {served}, book value {value:.3f}, delta {delta:.4f}, vega {vega:.4f}")


if __name__ == "__main__":
    main()
