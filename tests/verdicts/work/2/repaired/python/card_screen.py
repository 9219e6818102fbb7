"""Screens card transactions against per-segment limits and keeps cardholder profiles."""
import json
import random
from collections import Counter

SEGMENTS = ("student", "retail", "gold", "business")
COUNTRIES = ("DE", "FR", "IT", "US", "BR", "JP", "NG", "IN")


def make_policy(seed):
    rng = random.Random(seed)
    return {
        segment: {
            "limits": {"single": rng.randint(200, 4000), "daily": rng.randint(800, 9000)},
            "countries": {c: {"risk": rng.random(), "blocked": rng.random() < 0.05} for c in COUNTRIES},
            "merchant": [rng.random() for _ in range(20)],
            "weights": {"amount": 0.5, "country": 0.3, "merchant": 0.2},
        }
        for segment in SEGMENTS
    }


def make_feed(count, seed):
    rng = random.Random(seed)
    for number in range(count):
        yield json.dumps({
            "id": number,
            "card": rng.randrange(9000),
            "segment": SEGMENTS[rng.randrange(4)],
            "amount": round(rng.expovariate(1 / 120), 2),
            "country": COUNTRIES[min(rng.randrange(8), rng.randrange(8))],
            "merchant": rng.randrange(20),
            "hour": number // 4000 % 24,
        })


class Profile:
    __slots__ = ("spent", "hour", "countries", "mean")

    def __init__(self):
        self.spent, self.hour, self.mean = 0.0, -1, 0.0
        self.countries = Counter()

    def update(self, event):
        if event["hour"] != self.hour:
            self.spent, self.hour = 0.0, event["hour"]
        self.spent += event["amount"]
        self.countries[event["country"]] += 1
        self.mean += 0.1 * (event["amount"] - self.mean)

    def novelty(self, country):
        return 1.0 / (1 + self.countries[country])


class Screener:
    def __init__(self, policy):
        self.policy = policy
        self.profiles = {}
        self.outcome = Counter()

    def settings(self, event):
        chosen = self.policy[event["segment"]]
        if event["hour"] >= 22 or event["hour"] < 5:
            limits = chosen["limits"]
            chosen = {**chosen, "limits": {**limits, "single": limits["single"] // 2}}
        return chosen

    def score(self, event, profile, settings):
        weights, limits = settings["weights"], settings["limits"]
        country = settings["countries"][event["country"]]
        amount = min(1.0, event["amount"] / limits["single"])
        jump = min(1.0, event["amount"] / (1 + 8 * profile.mean))
        place = country["risk"] * profile.novelty(event["country"])
        return (weights["amount"] * max(amount, jump) + weights["country"] * place
                + weights["merchant"] * settings["merchant"][event["merchant"]])

    def screen(self, line):
        event = json.loads(line)
        profile = self.profiles.setdefault(event["card"], Profile())
        settings = self.settings(event)
        profile.update(event)
        if settings["countries"][event["country"]]["blocked"]:
            verdict = "blocked"
        elif event["amount"] > settings["limits"]["single"] or profile.spent > settings["limits"]["daily"]:
            verdict = "limit"
        elif self.score(event, profile, settings) > 0.62:
            verdict = "review"
        else:
            verdict = "pass"
        self.outcome[verdict] += 1
        return json.dumps({"id": event["id"], "verdict": verdict, "spent": round(profile.spent, 2)})


def main():
    screener = Screener(make_policy(6))
    size = 0
    for line in make_feed(130_000, 7):
        size += len(screener.screen(line))
    print(sorted(screener.outcome.items()), size)


if __name__ == "__main__":
    main()
