"""Invoice pricing service and its batch client, talking over a local socket.

Frames are a 4-byte length and a JSON body.  The client sends orders one after
another, because the customer's remaining credit depends on the last invoice.
"""
import decimal
import hashlib
import json
import random
import socket
import struct
import threading

D = decimal.Decimal
CENT = D("0.01")
TAX = {"food": D("0.07"), "books": D("0.07"), "tools": D("0.19"), "toys": D("0.19")}
REQUESTS = 200


class Channel:
    """Length-prefixed JSON messages on a stream socket."""

    def __init__(self, sock):
        self.sock = sock
        self.reader = sock.makefile("rb")

    def send(self, message):
        body = json.dumps(message, separators=(",", ":")).encode()
        self.sock.sendall(struct.pack("!I", len(body)))
        self.sock.sendall(body)

    def receive(self):
        head = self.reader.read(4)
        if len(head) < 4:
            return None
        (length,) = struct.unpack("!I", head)
        return json.loads(self.reader.read(length))

    def close(self):
        self.reader.close()
        self.sock.close()


class PriceBook:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.items = {
            f"SKU{i:05d}": (rng.choice(sorted(TAX)), D(rng.randint(50, 50_000)) / 100)
            for i in range(4000)
        }

    def tiers(self, quantity):
        if quantity >= 100:
            return D("0.88")
        if quantity >= 20:
            return D("0.95")
        return D("1")


class InvoiceService:
    def __init__(self, book):
        self.book = book
        self.credit = {}

    def price(self, order):
        net = {}
        for sku, quantity in order["lines"]:
            kind, unit = self.book.items[sku]
            amount = (unit * quantity * self.book.tiers(quantity)).quantize(CENT, decimal.ROUND_HALF_EVEN)
            net[kind] = net.get(kind, D(0)) + amount
        tax = {k: (v * TAX[k]).quantize(CENT, decimal.ROUND_HALF_EVEN) for k, v in net.items()}
        total = sum(net.values()) + sum(tax.values())
        customer = order["customer"]
        left = self.credit.get(customer, D(60_000_000)) - total
        accepted = left >= 0
        if accepted:
            self.credit[customer] = left
        return {
            "order": order["order"],
            "total": str(total),
            "tax": {k: str(v) for k, v in sorted(tax.items())},
            "accepted": accepted,
            "credit": str(self.credit.get(customer, D(60_000_000))),
        }

    def serve(self, listener):
        sock, _ = listener.accept()
        channel = Channel(sock)
        while (order := channel.receive()) is not None:
            channel.send(self.price(order))
        channel.close()


class BatchClient:
    def __init__(self, address, book):
        self.channel = Channel(socket.create_connection(address))
        self.book = book
        self.audit = hashlib.sha256()
        self.skus = sorted(book.items)

    def make_order(self, rng, number):
        lines = [(rng.choice(self.skus), min(400, int(rng.paretovariate(1.1)))) for _ in range(rng.randint(5000, 8500))]
        return {"order": number, "customer": f"C{rng.randrange(12):03d}", "lines": lines}

    def expected(self, order):
        """Independent estimate in binary floating point, to catch pricing faults."""
        total = 0.0
        for sku, quantity in order["lines"]:
            kind, unit = self.book.items[sku]
            total += float(unit) * quantity * float(self.book.tiers(quantity)) * (1 + float(TAX[kind]))
        return total

    def run(self, rng):
        accepted, revenue = 0, D(0)
        for number in range(REQUESTS):
            order = self.make_order(rng, number)
            self.channel.send(order)
            answer = self.channel.receive()
            if abs(float(answer["total"]) - self.expected(order)) > 30.0:
                raise ValueError(f"order {number} is priced wrongly")
            self.audit.update(json.dumps(answer, sort_keys=True).encode())
            if answer["accepted"]:
                accepted += 1
                revenue += D(answer["total"])
        self.channel.close()
        return accepted, revenue


def main():
    book = PriceBook(70)
    listener = socket.create_server(("127.0.0.1", 0))
    server = threading.Thread(target=InvoiceService(book).serve, args=(listener,))
    server.start()
    client = BatchClient(listener.getsockname(), book)
    accepted, revenue = client.run(random.Random(71))
    server.join()
    listener.close()
    print(f"{accepted} of {REQUESTS} accepted, revenue {revenue}, audit {client.audit.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
