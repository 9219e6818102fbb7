"""Sales report: parses a CSV export on two threads and prints totals by region and month."""
import collections
import csv
import io
import random
import statistics
import threading

REGIONS = ("north", "south", "east", "west")
HEADER = ["date", "region", "article", "quantity", "price"]


def make_export(seed, rows):
    rng = random.Random(seed)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADER)
    for _ in range(rows):
        writer.writerow([f"2026-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}", rng.choice(REGIONS),
                         f"A{rng.randrange(400):04d}", rng.randrange(1, 30), f"{rng.random() * 90 + 5:.2f}"])
    return out.getvalue()


class Totals:
    def __init__(self):
        self.lock = threading.Lock()
        self.by_region = collections.defaultdict(float)
        self.by_article = collections.defaultdict(list)

    def merge(self, regions, articles):
        with self.lock:
            for key, value in regions.items():
                self.by_region[key] += value
            for key, values in articles.items():
                self.by_article[key].extend(values)


def parse_blocking(text):
    """Parses one block (the export comes in blocks)."""
    for row in csv.DictReader(io.StringIO(text)):
        yield row["date"][:7], row["region"], row["article"], int(row["quantity"]), float(row["price"])


def tally(text, totals):
    regions = collections.defaultdict(float)
    articles = collections.defaultdict(list)
    for month, region, article, quantity, price in parse_blocking(text):
        regions[region, month] += quantity * price
        articles[article].append(price)
    totals.merge(regions, articles)


def copy_editor(totals):
    """Formats the report lines."""
    return [f"{r:<6} {m} {v:12.2f}" for (r, m), v in sorted(totals.by_region.items())]


def price_spread(totals):
    return max(statistics.pstdev(v) for v in totals.by_article.values())


def main():
    exports = [make_export(i, 110000) for i in range(2)]
    totals = Totals()
    threads = [threading.Thread(target=tally, args=(e, totals), name=f"tally-{i}") for i, e in enumerate(exports)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    lines = copy_editor(totals)
    print(lines[0])
    print(lines[-1], f"spread {price_spread(totals):.3f}")


if __name__ == "__main__":
    main()
