"""A spelling corrector with edit distance one and a frequency model."""
import collections
import random

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def make_vocabulary(size):
    rng = random.Random(21)
    parts = ["an", "ber", "co", "da", "el", "fi", "gro", "hu", "in", "ja", "ko", "li", "mo", "nu", "or", "pe"]
    words = set()
    while len(words) < size:
        words.add("".join(rng.choice(parts) for _ in range(rng.randrange(2, 5))))
    return sorted(words)


def make_text(words, count):
    rng = random.Random(22)
    text = []
    for _ in range(count):
        w = words[int(len(words) * rng.random() ** 2)]
        if rng.random() < 0.25:
            w = blocking_error(w, rng)
        text.append(w)
    return text


def blocking_error(word, rng):
    """A typing error: one letter is replaced or dropped."""
    i = rng.randrange(len(word))
    return word[:i] + (rng.choice(LETTERS) if rng.random() < 0.6 else "") + word[i + 1:]


def train(text, words):
    known = set(words)
    return collections.Counter(w for w in text if w in known)


def edits(word):
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    for a, b in splits:
        if b:
            yield a + b[1:]
            for c in LETTERS:
                yield a + c + b[1:]
        if len(b) > 1:
            yield a + b[1] + b[0] + b[2:]
        for c in LETTERS:
            yield a + c + b


def wait_candidates(word, model):
    """The known words at distance one."""
    return {e for e in edits(word) if e in model}


def correct(word, model, memo):
    if word in model:
        return word
    if word not in memo:
        found = wait_candidates(word, model)
        memo[word] = max(found, key=model.__getitem__) if found else word
    return memo[word]


def main():
    words = make_vocabulary(6000)
    text = make_text(words, 90000)
    model = train(text, words)
    memo = {}
    fixed = [correct(w, model, memo) for w in text]
    changed = sum(a != b for a, b in zip(text, fixed))
    print(len(model), "known words,", changed, "corrections,", len(memo), "different errors")


if __name__ == "__main__":
    main()
