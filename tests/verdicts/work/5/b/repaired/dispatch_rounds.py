"""Courier dispatch: a planning process answers assignment rounds over TCP.

The depot process keeps the open orders, asks the planner for each round of
assignments and moves the couriers on; both speak a length-prefixed JSON protocol.
"""
import json
import math
import multiprocessing
import random
import socket
import struct

ROUNDS = 90
COURIERS = 260
NEW_ORDERS = 80
SOUTH, NORTH = 52.45, 52.575
WEST, EAST = 13.28, 13.49
HEADER = struct.Struct("!IB")
PLAN, RESULT, STOP = 1, 2, 3


# ---- wire format --------------------------------------------------------------

def send_message(sock, kind, body):
    data = json.dumps(body, separators=(",", ":")).encode()
    sock.sendall(HEADER.pack(len(data), kind) + data)


def receive_exactly(sock, count):
    parts = []
    while count:
        part = sock.recv(min(count, 65536))
        if not part:
            raise ConnectionError("peer closed the connection")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def receive_message(sock):
    length, kind = HEADER.unpack(receive_exactly(sock, HEADER.size))
    return kind, json.loads(receive_exactly(sock, length))


# ---- planner ------------------------------------------------------------------

def travel_minutes(a, b):
    """Great-circle distance between (lat, lon) points, with a detour factor, at 22 km/h."""
    lat1, lat2 = math.radians(a[0]), math.radians(b[0])
    s = math.sin(0.5 * (lat2 - lat1)) ** 2
    t = math.sin(0.5 * math.radians(b[1] - a[1])) ** 2
    km = 2 * 6371.0 * math.asin(math.sqrt(s + math.cos(lat1) * math.cos(lat2) * t))
    return 60 * 1.3 * km / 22.0


def auction(cost, epsilon=0.02):
    """Forward auction for the assignment of rows (orders) to columns (couriers)."""
    columns = len(cost[0])
    price = [0.0] * columns
    owner = [-1] * columns
    waiting = list(range(len(cost)))
    while waiting:
        row = waiting.pop()
        best = second = -math.inf
        pick = -1
        for col, value in enumerate(cost[row]):
            net = -value - price[col]
            if net > best:
                second, best, pick = best, net, col
            elif net > second:
                second = net
        price[pick] += best - second + epsilon
        if owner[pick] >= 0:
            waiting.append(owner[pick])
        owner[pick] = row
    return {row: col for col, row in enumerate(owner) if row >= 0}


def plan(request):
    now = request["now"]
    couriers, orders = request["couriers"], request["orders"]
    orders.sort(key=lambda o: o["due"])
    orders = orders[:len(couriers)]
    cost = []
    for order in orders:
        leg = travel_minutes(order["from"], order["to"])
        row = []
        for c in couriers:
            arrive = max(c["free"], now) + travel_minutes(c["at"], order["from"]) + leg
            late = max(0.0, arrive - order["due"])
            row.append(arrive - now + 3.0 * late)
        cost.append(row)
    chosen = auction(cost) if orders else {}
    return [[orders[r]["id"], couriers[c]["id"]] for r, c in sorted(chosen.items())]


def serve(listener):
    conn, _ = listener.accept()
    with conn:
        while True:
            kind, body = receive_message(conn)
            if kind == STOP:
                return
            send_message(conn, RESULT, plan(body))


# ---- depot --------------------------------------------------------------------

class Depot:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.couriers = {i: {"id": i, "at": self.place(), "free": 0.0} for i in range(COURIERS)}
        self.orders = {}
        self.made = self.delivered = self.late = 0
        self.minutes = 0.0

    def place(self):
        return [round(self.rng.uniform(SOUTH, NORTH), 4), round(self.rng.uniform(WEST, EAST), 4)]

    def take_orders(self, now):
        for _ in range(NEW_ORDERS):
            self.orders[self.made] = {"id": self.made, "from": self.place(), "to": self.place(),
                                      "placed": now, "due": round(now + self.rng.uniform(40, 90), 1)}
            self.made += 1

    def request(self, now):
        free = [c for c in self.couriers.values() if c["free"] <= now + 25]
        return {"now": now, "couriers": free, "orders": list(self.orders.values())}

    def apply(self, assignments, now):
        for order_id, courier_id in assignments:
            order, courier = self.orders.pop(order_id), self.couriers[courier_id]
            start = max(courier["free"], now)
            done = start + travel_minutes(courier["at"], order["from"]) + travel_minutes(
                order["from"], order["to"])
            courier["at"], courier["free"] = order["to"], round(done, 2)
            self.delivered += 1
            self.late += done > order["due"]
            self.minutes += done - order["placed"]


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    planner = multiprocessing.Process(target=serve, args=(listener,))
    planner.start()
    depot = Depot(seed=6)
    with socket.create_connection(listener.getsockname()) as sock:
        listener.close()
        for i in range(ROUNDS):
            now = 12.0 * i
            depot.take_orders(now)
            send_message(sock, PLAN, depot.request(now))
            kind, assignments = receive_message(sock)
            assert kind == RESULT
            depot.apply(assignments, now)
        send_message(sock, STOP, {})
    planner.join()
    print(f"{depot.made} orders, {depot.delivered} delivered, {depot.late} late, "
          f"mean {depot.minutes / depot.delivered:.1f} min door to door")


if __name__ == "__main__":
    main()
