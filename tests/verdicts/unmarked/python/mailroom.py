"""A mail room: a clerk thread sorts letters, the counter hands them over in order."""
import collections
import threading
import zlib


class Tray:
    def __init__(self):
        self.cond = threading.Condition()
        self.letters = collections.deque()
        self.sorted = {}

    def put(self, letter):
        with self.cond:
            self.letters.append(letter)
            self.cond.notify_all()

    def take(self):
        with self.cond:
            while not self.letters:
                self.cond.wait()
            return self.letters.popleft()

    def file(self, number, mark):
        with self.cond:
            self.sorted[number] = mark

    def collect(self, number):
        with self.cond:
            while number not in self.sorted:
                self.cond.wait(0.04)
            return self.sorted.pop(number)


def write_letter(number):
    text = f"letter {number} " + "dear sir or madam " * (200 + number % 50)
    return number, text


def stamp(text):
    mark = 0
    for _ in range(150):
        mark = zlib.adler32(text.encode(), mark & 0xffffffff)
    return mark


def clerk(tray):
    while True:
        letter = tray.take()
        if letter is None:
            return
        number, text = letter
        tray.file(number, stamp(text))


def poll_opinions(marks):
    """Statistic over the marks: distances of all pairs of a sample."""
    best = 0
    for i in range(0, len(marks)):
        for j in range(i + 1, len(marks)):
            best += (marks[i] ^ marks[j]).bit_count()
        for k in range(130000):
            best ^= k * marks[i] & 3
    return best


def hand_over(tray, count):
    marks = []
    for n in range(count):
        tray.put(write_letter(n))
        marks.append(tray.collect(n))
    return marks


def main():
    tray = Tray()
    t = threading.Thread(target=clerk, args=(tray,), name="clerk")
    t.start()
    marks = hand_over(tray, 65)
    tray.put(None)
    t.join()
    print("marks", len(marks), "score", poll_opinions(marks))


if __name__ == "__main__":
    main()
