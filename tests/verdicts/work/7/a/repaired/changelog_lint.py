"""Checks the release notes of the product family against the style guide.

Finds product and feature names that are not written as the glossary wants them,
banned phrases, undated sections and dangling ticket numbers; prints a summary per rule.
"""
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass

SYLLABLES = "ka lo mi ter vo nex ra du pli son ar qui bel to rin fa".split()
BANNED = ["please note that", "in order to", "as of now", "going forward", "state-of-the-art", "easily", "simply"]
SECTION = re.compile(r"^## (?P<version>\d+\.\d+\.\d+)(?: - (?P<date>\d{4}-\d{2}-\d{2}))?$")
TICKET = re.compile(r"\b(?P<project>[A-Z]{2,5})-(?P<number>\d+)\b")


@dataclass(frozen=True)
class Finding:
    line: int
    rule: str
    text: str


@dataclass(frozen=True)
class Term:
    preferred: str
    area: str


def make_glossary(rng, n):
    terms = {}
    while len(terms) < n:
        word = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4)))
        style = rng.randrange(3)
        preferred = (word.capitalize(), word.upper(), word[:3].capitalize() + word[3:].capitalize())[style]
        terms.setdefault(word, Term(preferred, rng.choice(["core", "cloud", "mobile"])))
    return list(terms.values())


def make_notes(rng, glossary, n_sections):
    verbs = ["Fixed", "Improved", "Added", "Removed", "Reworked"]
    filler = "the way a request is handled when several clients share one session and the queue is full".split()
    lines = ["# Release notes", ""]
    for s in range(n_sections):
        date = f" - 20{10 + s % 15:02d}-{1 + s % 12:02d}-{1 + s % 28:02d}" if rng.random() < 0.95 else ""
        lines += [f"## {s // 40}.{s // 5 % 8}.{s % 5}{date}", ""]
        for _ in range(rng.randint(3, 8)):
            name = rng.choice(glossary).preferred
            if rng.random() < 0.15:
                name = rng.choice([name.lower(), name.upper(), name.capitalize()])
            words = rng.sample(filler, rng.randint(5, 12))
            words.insert(rng.randint(0, len(words)), name)
            if rng.random() < 0.1:
                words.insert(rng.randint(0, len(words)), rng.choice(BANNED))
            project = rng.choice(["CORE", "WEB", "MOB", "OPS"])
            lines.append(f"- {rng.choice(verbs)} {' '.join(words)} ({project}-{rng.randint(1, 9000)})")
        lines.append("")
    return "\n".join(lines)


class Linter:
    def __init__(self, glossary, known_tickets):
        self.glossary = glossary
        self.known_tickets = known_tickets
        self.patterns = [(t, re.compile(rf"\b{re.escape(t.preferred)}\b", re.IGNORECASE)) for t in glossary]
        self.rules = [self.check_sections, self.check_tickets, self.check_banned, self.check_terms]

    def run(self, text):
        findings = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            for rule in self.rules:
                findings.extend(rule(number, line))
        return findings

    def check_sections(self, number, line):
        if line.startswith("## "):
            m = SECTION.match(line)
            if not m:
                yield Finding(number, "malformed-section", line)
            elif not m["date"]:
                yield Finding(number, "undated-section", m["version"])

    def check_tickets(self, number, line):
        for m in TICKET.finditer(line):
            if (m["project"], int(m["number"])) not in self.known_tickets:
                yield Finding(number, "unknown-ticket", m[0])

    def check_banned(self, number, line):
        low = line.lower()
        for phrase in BANNED:
            if phrase in low:
                yield Finding(number, "banned-phrase", phrase)

    def check_terms(self, number, line):
        for term, pattern in self.patterns:
            m = pattern.search(line)
            if m and m[0] != term.preferred:
                yield Finding(number, "spelling-of-term", f"{m[0]} -> {term.preferred}")


def main():
    rng = random.Random(12)
    glossary = make_glossary(rng, 560)
    known = {(p, n) for p in ("CORE", "WEB", "MOB", "OPS") for n in range(1, 9001) if n % 50}
    text = make_notes(rng, glossary, 100)
    findings = Linter(glossary, known).run(text)
    by_rule = Counter(f.rule for f in findings)
    for rule, count in sorted(by_rule.items()):
        first = next(f for f in findings if f.rule == rule)
        print(f"{rule:20s} {count:5d}   first: line {first.line}: {first.text}")
    print(f"{len(text.splitlines())} lines, {len(findings)} findings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
