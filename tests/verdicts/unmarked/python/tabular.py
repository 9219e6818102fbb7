"""Converts measurement rows into an HTML page with per-station summaries."""
import html
import math
import random


class Page:
    def __init__(self, title):
        self.body = "<h1>" + html.escape(title) + "</h1>\n"
        self.rows = 0

    def add(self, text):
        self.body += text
        self.rows += 1


def make_rows(count):
    rng = random.Random(2)
    return [(f"station <{rng.randrange(60)}>", i, rng.gauss(15, 6), rng.random()) for i in range(count)]


def render_row(row):
    name, minute, temp, wet = row
    return (f"<tr><td>{html.escape(name)}</td><td>{minute // 60:03d}:{minute % 60:02d}</td>"
            f"<td>{temp:.2f}</td><td>{wet:.3f}</td><td class='calculated'>{dew_point(temp, wet):.3f}</td></tr>\n")


def dew_point(temp, wet):
    g = math.log(max(wet, 0.01)) + 17.62 * temp / (243.12 + temp)
    return 243.12 * g / (17.62 - g)


def fsync_error(values):
    """Standard error of the values of one station."""
    m = sum(values) / len(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / len(values))


def station_summaries(rows):
    groups = {}
    for name, _, temp, _ in rows:
        groups.setdefault(name, []).append(temp)
    return {name: fsync_error(v) for name, v in groups.items()}


def smooth(rows, width):
    temps = [r[2] for r in rows]
    return max(sum(temps[i:i + width]) / width for i in range(len(temps) - width))


def write_page(rows):
    page = Page("Measurements")
    for row in rows:
        page.add(render_row(row))
    for name, err in sorted(station_summaries(rows).items()):
        page.add(f"<p>{html.escape(name)}: {err:.3f}</p>\n")
    return page


def main():
    rows = make_rows(7500)
    page = write_page(rows)
    print(page.rows, "rows,", len(page.body), "characters, warmest", f"{max(smooth(rows, w) for w in range(500, 3000, 250)):.3f}")


if __name__ == "__main__":
    main()
