"""Reverse geocoding as a small TCP service, with the nightly job that uses it.

The service finds the nearest named places for batches of coordinates; the job
enriches the day's vehicle positions and counts the visits per place.
"""
import json
import math
import random
import socket
import struct
import threading
from collections import Counter, defaultdict

PLACES = 50_000
TRIPS = 90
POINTS_PER_REQUEST = 2000
CELL = 0.05
HEADER = struct.Struct("!4sI")
MAGIC = b"RGC1"


def make_places(rng):
    syllables = ["al", "ber", "da", "en", "fal", "gro", "hin", "ka", "lo", "mar", "nor", "rad", "sten", "vik"]
    towns = [(rng.uniform(52.2, 55.0), rng.uniform(6.0, 12.0)) for _ in range(260)]
    places = []
    for i in range(PLACES):
        lat, lon = rng.choice(towns)
        name = "".join(rng.choice(syllables) for _ in range(rng.randint(2, 4))).title()
        places.append((lat + rng.gauss(0, 0.09), lon + rng.gauss(0, 0.14), f"{name}-{i % 97}"))
    return places, towns


class PlaceIndex:
    """Uniform grid; searches rings of cells until nothing nearer can follow."""

    def __init__(self, places):
        self.cells = defaultdict(list)
        for lat, lon, name in places:
            self.cells[int(lat // CELL), int(lon // CELL)].append((lat, lon, name))

    def nearest(self, lat, lon):
        row, col = int(lat // CELL), int(lon // CELL)
        shrink = math.cos(math.radians(lat))
        best, best_d2 = None, math.inf
        ring = 0
        while ring <= 60:
            reach = (ring - 1) * CELL * shrink
            if best is not None and reach > 0 and reach * reach > best_d2:
                break
            for r, c in self.ring(row, col, ring):
                for plat, plon, name in self.cells.get((r, c), ()):
                    dx = (plon - lon) * shrink
                    d2 = (plat - lat) ** 2 + dx * dx
                    if d2 < best_d2:
                        best, best_d2 = name, d2
            ring += 1
        return best, math.sqrt(best_d2) * 111.2

    @staticmethod
    def ring(row, col, n):
        if n == 0:
            yield row, col
            return
        for c in range(col - n, col + n + 1):
            yield row - n, c
            yield row + n, c
        for r in range(row - n + 1, row + n):
            yield r, col - n
            yield r, col + n


def receive_exactly(sock, n):
    chunks = []
    while n:
        chunk = sock.recv(min(n, 65536))
        if not chunk:
            return None
        chunks.append(chunk)
        n -= len(chunk)
    return b"".join(chunks)


def receive_message(sock):
    header = receive_exactly(sock, HEADER.size)
    if header is None:
        return None
    magic, length = HEADER.unpack(header)
    if magic != MAGIC:
        raise ValueError("not a geocoding message")
    return json.loads(receive_exactly(sock, length))


def send_message(sock, message):
    body = json.dumps(message, separators=(",", ":")).encode()
    sock.sendall(HEADER.pack(MAGIC, len(body)))
    sock.sendall(body)


class Service(threading.Thread):
    def __init__(self, index):
        super().__init__(daemon=True)
        self.index = index
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()

    def run(self):
        connection, _ = self.listener.accept()
        with connection:
            while (request := receive_message(connection)) is not None:
                result = []
                for lat, lon in request["points"]:
                    name, km = self.index.nearest(lat, lon)
                    result.append([name, round(km, 3)])
                send_message(connection, {"trip": request["trip"], "places": result})
        self.listener.close()


class GeocodeClient:
    def __init__(self, address):
        self.sock = socket.create_connection(address)

    def lookup(self, trip, points):
        send_message(self.sock, {"trip": trip, "points": points})
        answer = receive_message(self.sock)
        if answer["trip"] != trip:
            raise RuntimeError("answers out of order")
        return answer["places"]

    def close(self):
        self.sock.close()


def make_trip(rng, towns):
    """Positions along a drive between two towns, with GPS scatter."""
    (lat0, lon0), (lat1, lon1) = rng.sample(towns, 2)
    points = []
    for i in range(POINTS_PER_REQUEST):
        f = i / (POINTS_PER_REQUEST - 1)
        bend = 0.06 * math.sin(math.pi * f)
        points.append([round(lat0 + f * (lat1 - lat0) + bend + rng.gauss(0, 0.002), 5),
                       round(lon0 + f * (lon1 - lon0) - bend + rng.gauss(0, 0.003), 5)])
    return points


def main():
    rng = random.Random(54)
    places, towns = make_places(rng)
    service = Service(PlaceIndex(places))
    service.start()

    client = GeocodeClient(service.address)
    visits, distance, far = Counter(), 0.0, 0
    for trip in range(TRIPS):
        last = None
        for name, km in client.lookup(trip, make_trip(rng, towns)):
            distance += km
            if km > 5.0:
                far += 1
            elif name != last:
                visits[name] += 1
                last = name
    client.close()
    service.join(timeout=5)

    total = TRIPS * POINTS_PER_REQUEST
    print(f"{total} positions, mean distance {distance / total:.4f} km, {far} in open country")
    for name, n in sorted(visits.items(), key=lambda v: (-v[1], v[0]))[:5]:
        print(f"{name:20s} {n}")


if __name__ == "__main__":
    main()
