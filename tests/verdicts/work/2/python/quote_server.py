"""Quote service on localhost: clients ask for route prices over a framed JSON protocol."""
import heapq
import json
import random
import socket
import struct
import threading

HEADER = struct.Struct("!IHH")
CITIES = 1200
VERSION = 3


class RoadMap:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.links = [[] for _ in range(CITIES)]
        for a in range(CITIES):
            for _ in range(5):
                b = rng.randrange(CITIES)
                length = rng.randint(5, 90)
                self.links[a].append((b, length))
                self.links[b].append((a, length))

    def distances(self, start):
        best = [10 ** 9] * CITIES
        best[start] = 0
        queue = [(0, start)]
        while queue:
            spent, at = heapq.heappop(queue)
            if spent > best[at]:
                continue
            for to, length in self.links[at]:
                total = spent + length
                if total < best[to]:
                    best[to] = total
                    heapq.heappush(queue, (total, to))
        return best


def receive_exactly(sock, count):
    parts = []
    while count:
        part = sock.recv(count)
        if not part:
            return b""
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def receive_message(sock):
    head = receive_exactly(sock, HEADER.size)
    if not head:
        return None
    length, version, _ = HEADER.unpack(head)
    if version != VERSION:
        raise ValueError(f"protocol version {version}")
    return json.loads(receive_exactly(sock, length))


def send_message(sock, message):
    body = json.dumps(message).encode()
    sock.sendall(HEADER.pack(len(body), VERSION, 0))
    sock.sendall(body)


class QuoteServer(threading.Thread):
    def __init__(self, roads):
        super().__init__(daemon=True)
        self.roads = roads
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()

    def price(self, request):
        distance = self.roads.distances(request["from"])
        quotes = []
        for stop in request["to"]:
            km = distance[stop]
            quotes.append({"to": stop, "km": km, "cents": 950 + 110 * km + (km > 150) * 4000})
        return {"id": request["id"], "quotes": quotes}

    def run(self):
        connection, _ = self.listener.accept()
        with connection:
            while (request := receive_message(connection)) is not None:
                send_message(connection, self.price(request))


class QuoteClient:
    def __init__(self, address):
        self.sock = socket.create_connection(address)

    def ask(self, number, start, stops):
        send_message(self.sock, {"id": number, "from": start, "to": stops})
        return receive_message(self.sock)["quotes"]

    def close(self):
        self.sock.close()


def main():
    server = QuoteServer(RoadMap(3))
    server.start()
    client = QuoteClient(server.address)
    rng = random.Random(4)
    total = 0
    for number in range(110):
        stops = [rng.randrange(CITIES) for _ in range(12)]
        quotes = client.ask(number, rng.randrange(CITIES), stops)
        total += sum(q["cents"] for q in quotes)
    client.close()
    server.join()
    print("quoted", total)


if __name__ == "__main__":
    main()
