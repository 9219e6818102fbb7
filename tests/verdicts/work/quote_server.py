"""Signed-quote service on a thread pool: price an order, sign it, answer over a socket."""
import argparse
import hashlib
import json
import math
import random
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SIGNING_KEY = "k-2026-03"
tally = threading.Lock()
sign_seconds = handle_seconds = 0.0


def price(order):
    """Monte-Carlo freight surcharge on top of the list price."""
    rnd = random.Random(order["id"])
    total = 0.0
    for _ in range(1500):
        fuel = math.exp(rnd.gauss(0, 0.2))
        total += max(0.0, order["weight"] * fuel - 12.0) * 0.35
    return round(order["list"] + total / 1500, 2)


def sign(text, inside):
    if inside:
        return hashlib.sha256((SIGNING_KEY + text).encode()).hexdigest()
    done = subprocess.run(["sha256sum"], input=(SIGNING_KEY + text).encode(),
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.split()[0].decode()


def handle(conn, inside):
    global sign_seconds, handle_seconds
    with conn:
        reader = conn.makefile("rb")
        line = reader.readline()
        begin = time.perf_counter()
        order = json.loads(line)
        quote = {"id": order["id"], "price": price(order)}
        text = json.dumps(quote, sort_keys=True)
        start = time.perf_counter()
        quote["signature"] = sign(text, inside)
        signed = time.perf_counter() - start
        conn.sendall(json.dumps(quote).encode() + b"\n")
        with tally:
            sign_seconds += signed
            handle_seconds += time.perf_counter() - begin


def serve(listener, pool, inside):
    while True:
        try:
            conn, _ = listener.accept()
        except OSError:
            return
        pool.submit(handle, conn, inside)


def ask(address, order):
    with socket.create_connection(address) as sock:
        sock.sendall(json.dumps(order).encode() + b"\n")
        return json.loads(sock.makefile("rb").readline())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--orders", type=int, default=1000)
    args = ap.parse_args()
    rnd = random.Random(8)
    orders = [{"id": n, "weight": rnd.uniform(5, 40), "list": rnd.uniform(20, 900)} for n in range(args.orders)]
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    with ThreadPoolExecutor(2) as pool:
        threading.Thread(target=serve, args=(listener, pool, args.repaired), daemon=True).start()
        begin = time.perf_counter()
        took, prices = [], []
        for order in orders:
            start = time.perf_counter()
            prices.append(ask(address, order)["price"])
            took.append(time.perf_counter() - start)
        total = time.perf_counter() - begin
        listener.close()
    took.sort()
    print(f"{len(prices)} quotes, mean {sum(prices) / len(prices):.2f}")
    print(f"latency ms: p50 {took[len(took) // 2] * 1e3:.1f}  p95 {took[int(len(took) * 0.95)] * 1e3:.1f}")
    print("TRUTH", json.dumps({"share": round(sign_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
