"""Routes incoming support mails to teams with the routing rules of the help desk.

Rules are kept by the team leads (team, weight, pattern); a mail goes to the team
with the highest score.  The run is summarised for the weekly review.
"""
import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

TEAMS = ["billing", "shipping", "accounts", "hardware", "network", "legal", "returns", "vip"]
STEMS = ["invoice", "refund", "charge", "parcel", "courier", "customs", "password", "login",
         "token", "screen", "battery", "charger", "router", "signal", "outage", "contract",
         "clause", "notice", "return", "label", "warranty", "manager", "priority", "renewal"]
ENDINGS = ["", "s", "ed", "ing"]
PLACES = ["berlin", "oslo", "porto", "lyon", "turin", "gdansk", "ghent", "graz"]
WORDS = ("hello i would like to know why my the order has not been since last week and it is "
         "still open please let me know what we can do about this thank you regards").split()


@dataclass(frozen=True)
class Rule:
    team: str
    weight: int
    pattern: str


def load_rules(seed):
    """The rule book as the leads maintain it: one pattern per stem and place or number."""
    rng = random.Random(seed)
    rules = []
    for i, stem in enumerate(STEMS):
        team = TEAMS[i // 3]
        for place in PLACES:
            rules.append(Rule(team, 2, rf"\b{stem}(?:s|ed|ing)?\b.{{0,40}}\b{place}\b"))
        for _ in range(14):
            number = rng.randrange(100, 999)
            rules.append(Rule(team, 3, rf"\b{stem}\s+(?:no\.?|#)\s*{number}\d{{2,4}}\b"))
        rules.append(Rule(team, 1, rf"\b{stem}(?:s|ed|ing)?\b"))
    rng.shuffle(rules)
    return rules


class Mailbox:
    def __init__(self, n, seed):
        self.n = n
        self.rng = random.Random(seed)

    def __iter__(self):
        for number in range(self.n):
            rng = self.rng
            words = rng.choices(WORDS, k=rng.randint(20, 50))
            for _ in range(rng.randint(1, 4)):
                stem = rng.choice(STEMS)
                at = rng.randrange(len(words))
                kind = rng.random()
                if kind < 0.4:
                    words[at:at] = [stem + rng.choice(ENDINGS), "in", rng.choice(PLACES)]
                elif kind < 0.7:
                    words[at:at] = [stem, "no.", str(rng.randrange(10000, 9999999))]
                else:
                    words[at:at] = [stem + rng.choice(ENDINGS)]
            text = " ".join(words)
            yield json.dumps({"id": number, "lang": "en", "body": text.capitalize()})


class Router:
    def __init__(self, rules):
        self.rules = rules
        self.compiled = [(re.compile(r.pattern, re.IGNORECASE), r) for r in rules]
        self.fired = Counter()

    def score(self, body):
        scores = defaultdict(int)
        for pattern, rule in self.compiled:
            if pattern.search(body):
                scores[rule.team] += rule.weight
                self.fired[rule.pattern] += 1
        return scores

    def route(self, body):
        scores = self.score(body)
        if not scores:
            return "front-desk", 0
        team = max(sorted(scores), key=scores.get)
        return team, scores[team]


def normalise(body):
    body = re.sub(r"\s+", " ", body)
    return re.sub(r"[^\w\s.#]", "", body).strip()


def main():
    router = Router(load_rules(seed=1))
    assigned = Counter()
    strength = Counter()
    digest = hashlib.sha256()
    for raw in Mailbox(280, seed=2):
        mail = json.loads(raw)
        team, score = router.route(normalise(mail["body"]))
        assigned[team] += 1
        strength[team] += score
        digest.update(f"{mail['id']}:{team}:{score}\n".encode())

    print(f"rules {len(router.rules)}, fired {len(router.fired)}")
    for team, n in sorted(assigned.items()):
        print(f"{team:10s} {n:5d} mails, mean score {strength[team] / n:.2f}")
    print("routing", digest.hexdigest()[:16])


if __name__ == "__main__":
    main()
