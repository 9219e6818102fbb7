"""Routes support tickets to queues by weighted phrases and reports the mix."""
import collections
import heapq
import math
import random
import re

QUEUES = ["billing", "login", "network", "storage", "mobile", "printing", "email", "hardware"]
STEMS = {
    "billing": "invoice refund charge payment credit subscription receipt tax discount account".split(),
    "login": "password sso token lockout session mfa signin captcha username permission".split(),
    "network": "vpn latency packet router dns gateway firewall proxy timeout wifi".split(),
    "storage": "quota disk bucket snapshot backup restore mount volume archive sync".split(),
    "mobile": "android iphone tablet push battery store roaming sim gesture widget".split(),
    "printing": "toner tray driver spooler duplex scanner label queue jam cartridge".split(),
    "email": "inbox spam attachment bounce signature calendar alias forward mailbox imap".split(),
    "hardware": "monitor keyboard docking fan charger hinge speaker webcam cable adapter".split(),
}
SUFFIXES = ["s?", "(?:ed|ing)?", "[- ]?error", " (?:fail|fails|failed)", "[- ]id", " not found", " (?:is )?slow", ""]
FILLER = ("the a my our since yesterday please help cannot after update it keeps when i try to open user "
          "reports that customer says still again urgent thanks hello team morning window office").split()


class Rule:
    __slots__ = ("queue", "pattern", "weight", "negated")

    def __init__(self, queue, pattern, weight, negated):
        self.queue = queue
        self.pattern = re.compile(pattern)
        self.weight = weight
        self.negated = negated


def load_rules(rng):
    rules = []
    for queue in QUEUES:
        for stem in STEMS[queue]:
            for suffix in SUFFIXES:
                pattern = rf"\b{stem}{suffix}\b"
                rules.append(Rule(queue, pattern, rng.choice([1, 1, 2, 3]), rng.random() < 0.04))
    return rules


def make_ticket(rng, number):
    main = rng.choice(QUEUES)
    words = []
    for _ in range(rng.randint(18, 50)):
        r = rng.random()
        if r < 0.18:
            words.append(rng.choice(STEMS[main]) + rng.choice(["", "s", " error", " failed", " not found"]))
        elif r < 0.22:
            words.append(rng.choice(STEMS[rng.choice(QUEUES)]))
        else:
            words.append(rng.choice(FILLER))
    # tickets from the web form carry a queue already
    channel = "email" if number % 10 == 0 else "form"
    return {"number": number, "channel": channel, "text": " ".join(words), "truth": main}


class Triage:
    def __init__(self, rules):
        self.rules = rules
        self.usage = collections.Counter()

    def route(self, text):
        score = dict.fromkeys(QUEUES, 0)
        for rule in self.rules:
            if rule.pattern.search(text):
                self.usage[rule.pattern.pattern] += 1
                score[rule.queue] += -rule.weight if rule.negated else rule.weight
        best = max(QUEUES, key=lambda q: (score[q], q))
        return best, score[best]


class NearDuplicates:
    """Flags a ticket that resembles one of the recent ones (cosine of tf-idf)."""

    def __init__(self, keep=250):
        self.recent = collections.deque(maxlen=keep)
        self.df = collections.Counter()
        self.seen = 0

    def vector(self, text):
        tf = collections.Counter(text.split())
        self.seen += 1
        self.df.update(tf.keys())
        v = {w: n * math.log((1 + self.seen) / (1 + self.df[w])) for w, n in tf.items()}
        norm = math.sqrt(sum(x * x for x in v.values())) or 1.0
        return {w: x / norm for w, x in v.items()}

    def closest(self, text):
        v = self.vector(text)
        best = 0.0
        for other in self.recent:
            small, large = (v, other) if len(v) < len(other) else (other, v)
            dot = sum(x * large[w] for w, x in small.items() if w in large)
            if dot > best:
                best = dot
        self.recent.append(v)
        return best


def main():
    rng = random.Random(99)
    triage = Triage(load_rules(rng))
    duplicates = NearDuplicates()
    confusion = collections.Counter()
    flagged = []
    count = 0
    for number in range(3200):
        ticket = make_ticket(rng, number)
        similarity = duplicates.closest(ticket["text"])
        if similarity > 0.75:
            flagged.append((similarity, number))
        if ticket["channel"] == "email":
            queue, _ = triage.route(ticket["text"])
            confusion[ticket["truth"], queue] += 1
            count += 1
    right = sum(n for (t, q), n in confusion.items() if t == q)
    print(f"{count} tickets, {right} routed to the right queue, {len(flagged)} near duplicates")
    for similarity, number in heapq.nlargest(2, flagged):
        print(f"  ticket {number}: {similarity:.3f}")
    for pattern, n in triage.usage.most_common(3):
        print(f"  {pattern}: {n}")


if __name__ == "__main__":
    main()
