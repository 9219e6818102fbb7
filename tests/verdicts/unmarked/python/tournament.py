"""Plays a card game between simple players and keeps the score table."""
import copy
import random


class Table:
    def __init__(self, rng):
        cards = [{"suit": s, "rank": r, "marks": []} for s in "CDHS" for r in range(2, 15)]
        rng.shuffle(cards)
        self.hands = [cards[i::4] for i in range(4)]
        self.tricks = [0, 0, 0, 0]
        self.trump = rng.choice("CDHS")

    def play(self, player, card):
        self.hands[player].remove(card)


def legal_cards(table, player, suit):
    hand = table.hands[player]
    same = [c for c in hand if c["suit"] == suit]
    return same or hand


def strength(card, suit, trump):
    base = card["rank"]
    if card["suit"] == trump:
        return base + 100
    return base if card["suit"] == suit else 0


def rate_move(table, player, card, suit):
    trial = copy.deepcopy(table)
    trial.play(player, next(c for c in trial.hands[player] if c == card))
    rest = [strength(c, suit, trial.trump) for c in trial.hands[player]]
    return strength(card, suit, trial.trump) - 0.1 * sum(rest)


def choose(table, player, suit):
    options = legal_cards(table, player, suit)
    return max(options, key=lambda c: rate_move(table, player, c, suit))


def play_trick(table, leader, rng):
    lead = rng.choice(table.hands[leader])
    table.play(leader, lead)
    best, winner = strength(lead, lead["suit"], table.trump), leader
    for k in range(1, 4):
        p = (leader + k) % 4
        card = choose(table, p, lead["suit"])
        table.play(p, card)
        if strength(card, lead["suit"], table.trump) > best:
            best, winner = strength(card, lead["suit"], table.trump), p
    table.tricks[winner] += 1
    return winner


def recompile_scores(history):
    """Elo style ratings over the history of games."""
    elo = [1500.0] * 4
    for _ in range(1100):
        for tricks in history:
            for a in range(4):
                for b in range(a + 1, 4):
                    exp = 1 / (1 + 10 ** ((elo[b] - elo[a]) / 400))
                    won = 1.0 if tricks[a] > tricks[b] else 0.5 if tricks[a] == tricks[b] else 0.0
                    elo[a] += 0.1 * (won - exp)
                    elo[b] -= 0.1 * (won - exp)
    return elo


def main():
    rng = random.Random(4)
    history = []
    for _ in range(120):
        table, leader = Table(rng), 0
        for _ in range(13):
            leader = play_trick(table, leader, rng)
        history.append(table.tricks)
    print(" ".join(f"{e:.1f}" for e in recompile_scores(history)))


if __name__ == "__main__":
    main()
