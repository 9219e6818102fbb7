"""Books customer orders against a multi-warehouse stock ledger."""
import json
import random
import shutil
import sqlite3
import tempfile
from pathlib import Path

WAREHOUSES = 16
ARTICLES = 375

SCHEMA = """
CREATE TABLE article (sku TEXT PRIMARY KEY, title TEXT, weight INTEGER);
CREATE TABLE stock (warehouse INTEGER, sku TEXT, quantity INTEGER, PRIMARY KEY (warehouse, sku));
CREATE TABLE movement (id INTEGER PRIMARY KEY, warehouse INTEGER, sku TEXT, quantity INTEGER, reason TEXT);
CREATE TABLE booking (order_id INTEGER PRIMARY KEY, payload TEXT, weight INTEGER);
"""


def sku_of(number):
    return f"SKU-{number * 7919 % 1000003:07d}"


class Ledger:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.executescript(SCHEMA)

    def load(self, rng):
        with self.db:
            self.db.executemany(
                "INSERT INTO article VALUES (?, ?, ?)",
                ((sku_of(n), f"article {n}", rng.randint(10, 4000)) for n in range(ARTICLES)))
            self.db.executemany(
                "INSERT INTO stock VALUES (?, ?, ?)",
                ((w, sku_of(n), rng.randint(0, 60)) for n in range(ARTICLES) for w in range(WAREHOUSES)))

    def weight(self, sku):
        return self.db.execute("SELECT weight FROM article WHERE sku = ?", (sku,)).fetchone()[0]

    def sources(self, sku, needed):
        rows = self.db.execute(
            "SELECT warehouse, quantity FROM stock WHERE sku = ? AND quantity > 0"
            " ORDER BY quantity DESC, warehouse", (sku,)).fetchall()
        picked = []
        for warehouse, quantity in rows:
            if needed <= 0:
                break
            take = min(quantity, needed)
            picked.append((warehouse, take))
            needed -= take
        return picked if needed <= 0 else []

    def take(self, sku, picked, reason):
        for warehouse, quantity in picked:
            self.db.execute("UPDATE stock SET quantity = quantity - ? WHERE warehouse = ? AND sku = ?",
                            (quantity, warehouse, sku))
            self.db.execute("INSERT INTO movement (warehouse, sku, quantity, reason) VALUES (?, ?, ?, ?)",
                            (warehouse, sku, -quantity, reason))

    def book(self, order):
        lines, total = [], 0
        for sku, needed in order["lines"]:
            picked = self.sources(sku, needed)
            if not picked:
                lines.append({"sku": sku, "state": "backorder"})
                continue
            self.take(sku, picked, f"order {order['id']}")
            total += needed * self.weight(sku)
            lines.append({"sku": sku, "state": "booked", "from": picked})
        self.db.execute("INSERT INTO booking VALUES (?, ?, ?)", (order["id"], json.dumps(lines), total))
        return sum(line["state"] == "backorder" for line in lines)

    def summary(self):
        return self.db.execute("SELECT COUNT(*), SUM(quantity) FROM movement").fetchone()


def orders(count, rng):
    for number in range(count):
        lines = [(sku_of(rng.randrange(ARTICLES)), rng.randint(1, 9)) for _ in range(rng.randint(1, 6))]
        yield json.dumps({"id": number, "lines": lines})


def main():
    rng = random.Random(12)
    folder = Path(tempfile.mkdtemp(prefix="ledger"))
    try:
        ledger = Ledger(folder / "stock.db")
        ledger.load(rng)
        missing = 0
        pending = list(orders(6000, rng))
        for start in range(0, len(pending), 50):
            with ledger.db:
                for text in pending[start:start + 50]:
                    missing += ledger.book(json.loads(text))
        print("backordered", missing, "movements", *ledger.summary())
        ledger.db.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
