"""A small job broker: agents fetch delivery rounds over TCP and optimise them.

The broker hands out jobs in order and collects the tours.  Messages are a
fixed header (kind, job number, body length) followed by a JSON body; each
request is answered before the agent goes on.
"""
import json
import math
import multiprocessing as mp
import random
import socket
import struct
import threading

JOBS = 170
STOPS = 240
AGENTS = 2
HEADER = struct.Struct("!BIH")
FETCH, JOB, RESULT, ACK, DONE = range(5)


def receive_exactly(sock, n):
    parts = bytearray()
    while len(parts) < n:
        piece = sock.recv(n - len(parts))
        if not piece:
            raise ConnectionError("peer closed the connection")
        parts += piece
    return bytes(parts)


def send_message(sock, kind, number=0, body=None):
    payload = json.dumps(body, separators=(",", ":")).encode() if body is not None else b""
    sock.sendall(HEADER.pack(kind, number, len(payload)) + payload)


def receive_message(sock):
    kind, number, length = HEADER.unpack(receive_exactly(sock, HEADER.size))
    return kind, number, json.loads(receive_exactly(sock, length)) if length else None


class Broker:
    def __init__(self, jobs):
        self.jobs = jobs
        self.next = 0
        self.results = {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))

    @property
    def address(self):
        return self.listener.getsockname()

    def serve(self, agents):
        threads = []
        for _ in range(agents):
            connection, _ = self.listener.accept()
            thread = threading.Thread(target=self.attend, args=(connection,))
            thread.start()
            threads.append(thread)
        for thread in threads:
            thread.join()
        self.listener.close()

    def take(self):
        with self.lock:
            number = self.next
            self.next += 1
        return number

    def attend(self, connection):
        with connection:
            while True:
                kind, number, body = receive_message(connection)
                if kind == FETCH:
                    number = self.take()
                    if number >= len(self.jobs):
                        send_message(connection, DONE)
                        return
                    send_message(connection, JOB, number, {"job": number, "stops": self.jobs[number]})
                elif kind == RESULT:
                    with self.lock:
                        self.results[number] = body
                    send_message(connection, ACK, number)
                else:
                    raise ValueError(f"unexpected message {kind}")


def distances(stops):
    return [[math.hypot(ax - bx, ay - by) for bx, by in stops] for ax, ay in stops]


def nearest_neighbour(dist):
    left = set(range(1, len(dist)))
    tour = [0]
    while left:
        row = dist[tour[-1]]
        nearest = min(left, key=row.__getitem__)
        left.remove(nearest)
        tour.append(nearest)
    return tour


def two_opt(tour, dist):
    n = len(tour)
    moves = 0
    improved = True
    while improved:
        improved = False
        for i in range(n - 2):
            a, b = tour[i], tour[i + 1]
            row_a, row_b, ab = dist[a], dist[b], dist[a][b]
            for j in range(i + 2, n):
                c, d = tour[j], tour[(j + 1) % n]
                if d != a and row_a[c] + row_b[d] < ab + dist[c][d] - 1e-9:
                    tour[i + 1:j + 1] = tour[i + 1:j + 1][::-1]
                    b = tour[i + 1]
                    row_b, ab = dist[b], row_a[b]
                    moves += 1
                    improved = True
    return tour, moves


def agent(address):
    with socket.create_connection(address) as sock:
        while True:
            send_message(sock, FETCH)
            kind, number, job = receive_message(sock)
            if kind == DONE:
                return
            dist = distances(job["stops"])
            tour, moves = two_opt(nearest_neighbour(dist), dist)
            length = sum(dist[tour[i - 1]][tour[i]] for i in range(len(tour)))
            send_message(sock, RESULT, number, {"tour": tour, "moves": moves, "km": round(length, 3)})
            receive_message(sock)


def main():
    rng = random.Random(15)
    jobs = [[(round(rng.uniform(0, 30), 2), round(rng.uniform(0, 30), 2)) for _ in range(STOPS)] for _ in range(JOBS)]
    broker = Broker(jobs)
    processes = [mp.Process(target=agent, args=(broker.address,)) for _ in range(AGENTS)]
    for process in processes:
        process.start()
    broker.serve(AGENTS)
    for process in processes:
        process.join()
    assert len(broker.results) == JOBS
    assert all(sorted(r["tour"]) == list(range(STOPS)) for r in broker.results.values())
    km = sum(broker.results[i]["km"] for i in range(JOBS))
    print(f"jobs {JOBS}  total {km:.1f} km  longest {max(r['km'] for r in broker.results.values()):.1f} km  "
          f"improvements {sum(r['moves'] for r in broker.results.values())}")


if __name__ == "__main__":
    main()
