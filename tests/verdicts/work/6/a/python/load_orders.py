"""Nightly load of the web shop's orders into the reporting database.

Reads the day's export (JSON lines, one order per line), cleans it, matches
customers and products to their dimensions, writes facts and rejects in one
transaction per file, and refreshes the daily summary."""
import json
import os
import random
import re
import sqlite3
import tempfile
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation

FILES, ORDERS_PER_FILE, CUSTOMERS, PRODUCTS = 5, 8000, 1200, 800
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.I)

SCHEMA = """
create table customer(id integer primary key, email text not null, name text, segment text, since text);
create unique index customer_email on customer(email);
create table product(id integer primary key, sku text not null unique, category text, cost_cents int);
create table fact_line(order_no text, line int, day text, customer_id int, product_id int, qty int, cents int,
                       margin_cents int, primary key(order_no, line)) without rowid;
create table reject(file text, line int, reason text, payload text);
create table daily(day text, category text, segment text, orders int, qty int, cents int, margin int,
                   primary key(day, category, segment)) without rowid;
"""


def write_exports(folder):
    rng = random.Random(77)
    first = ["ana", "Ben", "Chloe", "dmitri", "Eve", "farid", "Grace", "hugo", "Ines", "jun"]
    customers = [(i, f"{first[i % 10]}.{i}@{'Mail' if i % 3 else 'post'}.example", first[i % 10].title(),
                  ("retail", "business", "partner")[i % 7 % 3], str(date(2015, 1, 1) + timedelta(days=i))) for i in range(CUSTOMERS)]
    products = [(i, f"SKU-{i * 37 % 100000:05d}", ("tools", "garden", "paint", "light")[i % 4], 150 + i * 7) for i in range(PRODUCTS)]
    paths = []
    for f in range(FILES):
        path = os.path.join(folder, f"orders_{f:02d}.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            for n in range(ORDERS_PER_FILE):
                c = customers[int(CUSTOMERS * rng.random() ** 1.3)]
                email = c[1].upper() if rng.random() < 0.1 else c[1].lower() if rng.random() < 0.4 else c[1]
                lines = []
                for _ in range(rng.randint(1, 5)):
                    p = products[rng.randrange(PRODUCTS)]
                    lines.append({"sku": p[1], "qty": rng.randint(1, 6), "price": f"{p[3] * rng.uniform(1.1, 1.9) / 100:.2f}"})
                if rng.random() < 0.01:
                    lines[0]["price"] = "n/a"
                if rng.random() < 0.01:
                    email = email.replace("@", " at ")
                placed = datetime(2024, 3, 1 + f, rng.randrange(24), rng.randrange(60))
                out.write(json.dumps({"order": f"W{f:02d}{n:06d}", "placed": placed.isoformat() + "+00:00", "customer": {"email": f" {email} "},
                                      "lines": lines, "note": "leave at the door " * rng.randint(0, 6)}) + "\n")
        paths.append(path)
    return paths, customers, products


class Bad(Exception):
    pass


def clean(raw):
    order = json.loads(raw)
    email = order["customer"]["email"].strip()
    if not EMAIL.fullmatch(email):
        raise Bad("email")
    placed = datetime.fromisoformat(order["placed"])
    lines = []
    for item in order["lines"]:
        try:
            cents = int((Decimal(item["price"]) * 100).to_integral_value())
        except InvalidOperation:
            raise Bad("price") from None
        if not 0 < item["qty"] < 1000:
            raise Bad("quantity")
        lines.append((item["sku"], item["qty"], cents))
    return order["order"], email, placed.date().isoformat(), lines


class Loader:
    def __init__(self, db):
        self.db = db
        self.products = {sku: (i, cost) for i, sku, cost in db.execute("select id, sku, cost_cents from product")}
        self.loaded = self.rejected = 0

    def customer_id(self, email):
        row = self.db.execute("select id from customer where lower(email) = ?", (email.lower(),)).fetchone()
        if row is None:
            raise Bad("unknown customer")
        return row[0]

    def rows_of(self, raw):
        number, email, day, lines = clean(raw)
        customer = self.customer_id(email)
        for k, (sku, qty, cents) in enumerate(lines):
            if sku not in self.products:
                raise Bad("unknown product")
            product, cost = self.products[sku]
            yield number, k, day, customer, product, qty, qty * cents, qty * (cents - cost)

    def load(self, path):
        facts, rejects = [], []
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as lines:
            for n, raw in enumerate(lines, 1):
                try:
                    facts.extend(list(self.rows_of(raw)))
                except Bad as e:
                    rejects.append((name, n, str(e), raw))
        with self.db:
            self.db.executemany("insert into fact_line values(?,?,?,?,?,?,?,?) on conflict do update set "
                                "qty = excluded.qty, cents = excluded.cents, margin_cents = excluded.margin_cents", facts)
            self.db.executemany("insert into reject values(?,?,?,?)", rejects)
        self.loaded += len(facts)
        self.rejected += len(rejects)
        return {row[2] for row in facts}

    def summarise(self, days):
        marks = ",".join("?" * len(days))
        with self.db:
            self.db.execute(f"delete from daily where day in ({marks})", sorted(days))
            self.db.execute(f"""insert into daily
                select f.day, p.category, c.segment, count(distinct f.order_no), sum(f.qty), sum(f.cents), sum(f.margin_cents)
                from fact_line f join product p on p.id = f.product_id join customer c on c.id = f.customer_id
                where f.day in ({marks}) group by 1, 2, 3""", sorted(days))


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths, customers, products = write_exports(folder)
        db = sqlite3.connect(os.path.join(folder, "reporting.db"))
        db.executescript(SCHEMA)
        with db:
            db.executemany("insert into customer values(?,?,?,?,?)", customers)
            db.executemany("insert into product values(?,?,?,?)", products)
        loader = Loader(db)
        days = set()
        for path in paths:
            days |= loader.load(path)
        loader.summarise(days)
        print(f"loaded {loader.loaded} lines, rejected {loader.rejected} orders")
        for day, orders, cents, margin in db.execute("select day, sum(orders), sum(cents), sum(margin) from daily group by 1 order by 1"):
            print(day, orders, f"{cents / 100:.2f}", f"{margin / cents:.3f}")
        db.close()


if __name__ == "__main__":
    main()
