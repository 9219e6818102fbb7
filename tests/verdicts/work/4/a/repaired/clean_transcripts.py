"""Cleans transcripts exported from a call centre's fixed-width archive and
extracts key phrases per queue."""
import math
import random
import re
from collections import Counter, defaultdict

SPEAKER = re.compile(r"^(AGENT|CALLER)\s*(\d{2}:\d{2}:\d{2})\s+")
FILLER = re.compile(r"\b(?:uh+|um+|erm|you know|i mean)\b,?\s*", re.IGNORECASE)
BLANKS = re.compile(r"[ \t]{2,}")
ACCOUNT = re.compile(r"\b\d{4}[- ]?\d{4}[- ]?\d{2,4}\b")
WORD = re.compile(r"[a-z']+")

QUEUES = ("billing", "outage", "moving", "sales")
TOPICS = {
    "billing": "invoice refund charge payment overdue direct debit statement twice",
    "outage": "router lights red signal fibre engineer outage restart down slow",
    "moving": "address moving flat transfer date keys install landlord contract",
    "sales": "upgrade bundle offer price discount speed television mobile plan",
}
COMMON = ("the i we you to a is it that on my for have was please with and but can "
          "will not this just about when day call number account check").split()
STOP = set(COMMON)


def export_archive(calls, seed):
    """The archive pads the speaker's text into a column and appends the
    wrap-up code in the last column of wide records."""
    rng = random.Random(seed)
    for number in range(calls):
        queue = QUEUES[number % len(QUEUES)]
        topic = TOPICS[queue].split()
        lines = []
        for turn in range(rng.randint(10, 30)):
            who = "AGENT " if turn % 2 else "CALLER"
            words = []
            for _ in range(rng.randint(6, 40)):
                r = rng.random()
                if r < 0.08:
                    words.append(rng.choice(["uh,", "umm", "erm", "you know,"]))
                elif r < 0.10:
                    words.append(f"{rng.randint(1000, 9999)}-{rng.randint(1000, 9999)}-{rng.randint(10, 99)}")
                else:
                    words.append(rng.choice(topic if r < 0.3 else COMMON))
            text = f"{who}{turn // 60:02d}:{turn % 60:02d}:{rng.randint(0, 59):02d} " + " ".join(words)
            if rng.random() < 0.07:
                text = text.ljust(1200) + f"W{rng.randint(100, 999)}"
            else:
                text += " " * rng.randint(0, 8)
            lines.append(text)
        yield number, queue, "\n".join(lines)


def clean_line(line):
    line = line.rstrip()
    line = SPEAKER.sub(lambda m: m.group(1).lower() + ": ", line)
    line = FILLER.sub("", line)
    line = ACCOUNT.sub("<account>", line)
    return BLANKS.sub(" ", line)


def clean(transcript):
    return [clean_line(line) for line in transcript.split("\n") if line.strip()]


class PhraseCounter:
    """Collects word pairs per queue and scores them against the other queues."""

    def __init__(self):
        self.pairs = defaultdict(Counter)
        self.words = defaultdict(Counter)

    def add(self, queue, lines):
        for line in lines:
            words = WORD.findall(line.partition(": ")[2].lower())
            self.words[queue].update(words)
            self.pairs[queue].update(
                pair for pair in zip(words, words[1:])
                if pair[0] not in STOP and pair[1] not in STOP)

    def key_phrases(self, queue, top):
        """Pointwise mutual information, weighted by frequency."""
        words, pairs = self.words[queue], self.pairs[queue]
        total_words, total_pairs = sum(words.values()), sum(pairs.values())
        scored = []
        for (a, b), n in pairs.items():
            if n < 5 or a == b:
                continue
            pmi = math.log(n / total_pairs * total_words ** 2 / (words[a] * words[b]))
            scored.append((n * pmi, f"{a} {b}"))
        scored.sort(key=lambda s: (-s[0], s[1]))
        return [phrase for _, phrase in scored[:top]]


class CallStatistics:
    def __init__(self):
        self.turns = Counter()
        self.length = Counter()
        self.masked = 0
        self.wrap_up = Counter()

    def add(self, queue, lines):
        self.turns[queue] += len(lines)
        for line in lines:
            self.length[queue] += len(line)
            self.masked += line.count("<account>")
            head, _, tail = line.rpartition(" W")
            if head and len(tail) == 3 and tail.isdigit():
                self.wrap_up[tail[0]] += 1


def main():
    phrases, stats = PhraseCounter(), CallStatistics()
    for number, queue, transcript in export_archive(1000, 12):
        lines = clean(transcript)
        phrases.add(queue, lines)
        stats.add(queue, lines)
    for queue in QUEUES:
        mean = stats.length[queue] / stats.turns[queue]
        print(f"{queue}: {stats.turns[queue]} turns, {mean:.1f} characters, "
              f"{', '.join(phrases.key_phrases(queue, 3))}")
    print(f"accounts masked {stats.masked}, wrap-up codes {sum(stats.wrap_up.values())}, "
          f"most common group {stats.wrap_up.most_common(1)[0]}")


if __name__ == "__main__":
    main()
