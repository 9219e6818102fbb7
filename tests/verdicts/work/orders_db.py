"""Nightly customer statement run over an orders database."""
import argparse
import json
import os
import random
import sqlite3
import tempfile
import time

CUSTOMERS, ORDERS = 3000, 40000


def fill(db, seed):
    rnd = random.Random(seed)
    db.executescript("""
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER, cents INTEGER, state TEXT);
        CREATE TABLE statements (customer INTEGER PRIMARY KEY, orders INTEGER, cents INTEGER, body TEXT);
    """)
    cities = ["Leeds", "Porto", "Lyon", "Graz", "Turku", "Gdansk"]
    db.executemany("INSERT INTO customers VALUES (?, ?, ?)",
                   ((i, f"Customer {i}", rnd.choice(cities)) for i in range(CUSTOMERS)))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)",
                   ((i, rnd.randrange(CUSTOMERS), rnd.randrange(365), rnd.randrange(300, 60000),
                     rnd.choice(["paid", "paid", "paid", "open", "returned"])) for i in range(ORDERS)))
    db.commit()


def render(name, city, rows):
    lines = [f"Statement for {name}, {city}"]
    balance = 0
    for day, cents, state in rows:
        if state == "open":
            balance += cents
        lines.append(f"  day {day:3d}  {cents / 100:10.2f}  {state}")
    lines.append(f"  balance due {balance / 100:.2f}")
    return "\n".join(lines), balance


def run(db, limit):
    lookup = 0.0
    due, made = 0, []
    people = db.execute("SELECT id, name, city FROM customers ORDER BY id LIMIT ?", (limit,)).fetchall()
    for number, name, city in people:
        start = time.perf_counter()
        rows = db.execute("SELECT day, cents, state FROM orders WHERE customer = ? ORDER BY day",
                          (number,)).fetchall()
        lookup += time.perf_counter() - start
        body, balance = render(name, city, rows)
        due += balance
        made.append((number, len(rows), sum(r[1] for r in rows), body))
    db.executemany("INSERT INTO statements VALUES (?, ?, ?, ?)", made)
    db.commit()
    return len(made), due, lookup


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--customers", type=int, default=1900)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(os.path.join(folder, "orders.db"))
        fill(db, 6)
        begin = time.perf_counter()
        if args.repaired:
            db.execute("CREATE INDEX orders_customer ON orders (customer, day)")
        made, due, lookup = run(db, args.customers)
        total = time.perf_counter() - begin
        print(f"{made} statements, {due / 100:.2f} due")
        for city, n, cents in db.execute("""
                SELECT c.city, COUNT(*), SUM(s.cents) FROM statements s JOIN customers c ON c.id = s.customer
                GROUP BY c.city ORDER BY 3 DESC"""):
            print(f"  {city:8}{n:6} statements{cents / 100:14.2f}")
        db.close()
    print("TRUTH", json.dumps({"share": round(lookup / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
