"""Tags support tickets with the products and faults they mention.

The rules come from the product catalogue (one pattern for each article and
one for each fault), are applied to every new ticket of the night, and the
counts go into the morning report.
"""
import json
import random
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

TICKETS = 3200
FAMILIES = ["router", "switch", "camera", "sensor", "modem", "dock", "scanner", "printer"]
SERIES = ["AX", "BR", "CQ", "DL", "EN", "FT", "GX", "HV"]
FAULTS = {
    "power": r"(no|lost|bad) power|does not (start|boot)|dead on arrival",
    "network": r"(drops?|loses?|lost) (the )?(link|connection|wifi)|packet loss|time[d]? ?out",
    "firmware": r"firmware (update|upgrade) (fail\w*|stuck|loops?)|bootloop",
    "hardware": r"(broken|cracked|loose) (port|case|screen|cable)",
    "refund": r"(money|payment) back|refund|chargeback",
}
PHRASES = [
    "since yesterday it does not boot", "the unit lost power twice", "we see packet loss under load",
    "firmware upgrade stuck at 40 percent", "the port is loose", "please send my money back",
    "everything works but the lamp is amber", "it timed out during the night", "cracked screen out of the box",
    "how do I change the password", "the manual is missing", "drops the link every hour",
    "after the firmware update loops", "asked for a refund in May", "a colleague has the same", "broken cable",
]


def build_catalogue(rng, size):
    """Article -> names under which customers write about it."""
    catalogue = {}
    while len(catalogue) < size:
        family, series = rng.choice(FAMILIES), rng.choice(SERIES)
        number = rng.randrange(100, 999)
        catalogue[f"{series}{number}"] = {
            "family": family,
            "suffixes": rng.sample(["pro", "mini", "plus", "se", "max"], 2),
        }
    return catalogue


def article_pattern(article, entry):
    series, number = article[:2], article[2:]
    suffixes = "|".join(entry["suffixes"])
    return rf"\b{series}[- ]?{number}(?:[- ]?(?:{suffixes}))?\b"


class Rule:
    def __init__(self, tag, pattern, family=None):
        self.tag = tag
        self.pattern = pattern
        self.family = family

    def matches(self, text):
        return re.search(self.pattern, text, re.IGNORECASE) is not None


class Tagger:
    def __init__(self, catalogue):
        self.faults = [Rule(name, pattern) for name, pattern in FAULTS.items()]
        self.families = {f: re.compile(rf"\b{f}s?\b", re.IGNORECASE) for f in FAMILIES}
        self.articles = defaultdict(list)
        for article, entry in sorted(catalogue.items()):
            rule = Rule(article, article_pattern(article, entry), entry["family"])
            self.articles[entry["family"]].append(rule)

    def tag(self, text):
        families = [f for f, pattern in self.families.items() if pattern.search(text)]
        tags = [rule.tag for rule in self.faults if rule.matches(text)]
        for family in families:
            tags.extend(rule.tag for rule in self.articles[family] if rule.matches(text))
        return families, tags


def write_tickets(path, rng, catalogue, count):
    articles = sorted(catalogue)
    with path.open("w") as out:
        for number in range(count):
            article = rng.choice(articles)
            entry = catalogue[article]
            spelled = rng.choice([article, f"{article[:2]}-{article[2:]}", f"{article[:2]} {article[2:]}".lower()])
            if rng.random() < 0.3:
                spelled += " " + rng.choice(entry["suffixes"])
            body = [f"My {entry['family']} {spelled} gives trouble"]
            body += rng.sample(PHRASES, rng.randrange(4, 11))
            out.write(json.dumps({
                "id": number,
                "customer": rng.randrange(4000),
                "hour": rng.randrange(24),
                "text": ". ".join(body) + ".",
            }) + "\n")


def read_tickets(path):
    with path.open() as lines:
        for line in lines:
            yield json.loads(line)


def process(path, tagger):
    per_fault, per_article, per_family = Counter(), Counter(), Counter()
    hours = defaultdict(Counter)
    repeat = defaultdict(set)
    untagged = 0
    for ticket in read_tickets(path):
        families, tags = tagger.tag(ticket["text"])
        if not tags:
            untagged += 1
        per_family.update(families)
        for tag in tags:
            if tag in FAULTS:
                per_fault[tag] += 1
                hours[ticket["hour"]][tag] += 1
            else:
                per_article[tag] += 1
                repeat[ticket["customer"]].add(tag)
    return {
        "faults": dict(sorted(per_fault.items())),
        "families": dict(sorted(per_family.items())),
        "top": sorted(per_article.items(), key=lambda kv: (-kv[1], kv[0]))[:5],
        "busiest": max(hours, key=lambda h: (sum(hours[h].values()), -h)),
        "customers": sum(len(v) > 1 for v in repeat.values()),
        "untagged": untagged,
    }


def main():
    rng = random.Random(8128)
    catalogue = build_catalogue(rng, 720)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tickets.jsonl"
        write_tickets(path, rng, catalogue, TICKETS)
        report = process(path, Tagger(catalogue))
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
