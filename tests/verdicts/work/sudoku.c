/* Solve generated sudoku puzzles with bit masks and the most constrained cell first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PUZZLES 2800

struct board { unsigned char cell[81]; unsigned short row[9], column[9], box[9]; int filled; };

static unsigned char row_of[81], column_of[81], box_of[81];
static unsigned long nodes;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static unsigned next_random(void)
{
    static unsigned s = 20240229u;
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

static void put(struct board *b, int at, int digit)
{
    unsigned short bit = (unsigned short)(1u << digit);
    b->cell[at] = (unsigned char)(digit + 1);
    b->row[row_of[at]] |= bit;
    b->column[column_of[at]] |= bit;
    b->box[box_of[at]] |= bit;
    b->filled++;
}

static void take(struct board *b, int at)
{
    unsigned short keep = (unsigned short)~(1u << (b->cell[at] - 1));
    b->cell[at] = 0;
    b->row[row_of[at]] &= keep;
    b->column[column_of[at]] &= keep;
    b->box[box_of[at]] &= keep;
    b->filled--;
}

static unsigned choices(const struct board *b, int at)
{
    return 511u & ~(unsigned)(b->row[row_of[at]] | b->column[column_of[at]] | b->box[box_of[at]]);
}

/* Counts solutions up to a limit; the first one is kept in `found`. */
static int solve(struct board *b, int limit, struct board *found)
{
    int at = -1, fewest = 10, count = 0;
    unsigned best = 0;
    nodes++;
    if (b->filled == 81) {
        if (found) *found = *b;
        return 1;
    }
    for (int i = 0; i < 81; i++) {
        if (b->cell[i]) continue;
        unsigned c = choices(b, i);
        int n = __builtin_popcount(c);
        if (n < fewest) {
            fewest = n;
            best = c;
            at = i;
            if (n < 2) break;
        }
    }
    for (; best && count < limit; best &= best - 1) {
        put(b, at, __builtin_ctz(best));
        count += solve(b, limit - count, count ? NULL : found);
        take(b, at);
    }
    return count;
}

/* A full board by shuffling a pattern, then holes as long as the solution stays the only one. */
static void generate(struct board *b, int holes)
{
    int digit[9], band[9], stack[9];
    for (int i = 0; i < 9; i++) digit[i] = i;
    for (int i = 8; i > 0; i--) {
        int k = (int)(next_random() % (unsigned)(i + 1)), t = digit[i];
        digit[i] = digit[k];
        digit[k] = t;
    }
    unsigned r = next_random();
    for (int i = 0; i < 9; i++) {
        band[i] = (i / 3 + (int)(r % 3)) % 3 * 3 + (i + (int)(r >> 4) % 3) % 3;
        stack[i] = (i / 3 + (int)(r >> 8) % 3) % 3 * 3 + (i + (int)(r >> 12) % 3) % 3;
    }
    memset(b, 0, sizeof *b);
    for (int i = 0; i < 81; i++) {
        int y = band[i / 9], x = stack[i % 9];
        put(b, i, digit[(y * 3 + y / 3 + x) % 9]);
    }
    for (int tries = 0; holes > 0 && tries < 200; tries++) {
        int at = (int)(next_random() % 81);
        if (!b->cell[at]) continue;
        int was = b->cell[at] - 1;
        take(b, at);
        if (solve(b, 2, NULL) == 1) holes--;
        else put(b, at, was);
    }
}

int main(void)
{
    double start = now();
    unsigned long checksum = 0, most = 0;
    int clues = 0;
    struct board b, found;
    for (int i = 0; i < 81; i++) {
        row_of[i] = (unsigned char)(i / 9);
        column_of[i] = (unsigned char)(i % 9);
        box_of[i] = (unsigned char)(i / 27 * 3 + i % 9 / 3);
    }
    for (int p = 0; p < PUZZLES; p++) {
        generate(&b, 58);
        unsigned long before = nodes;
        int n = solve(&b, 2, &found);
        if (nodes - before > most) most = nodes - before;
        clues += b.filled;
        for (int i = 0; i < 81; i++) checksum = checksum * 31 + found.cell[i];
        if (n != 1) printf("puzzle %d has %d solutions\n", p, n);
    }
    for (int y = 0; y < 9; y++) {
        for (int x = 0; x < 9; x++) putchar('0' + found.cell[y * 9 + x]);
        putchar('\n');
    }
    printf("%d puzzles, %.1f clues on average, %lu positions, hardest %lu, checksum %lx\n", PUZZLES, (double)clues / PUZZLES, nodes, most, checksum);
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", now() - start);
    return 0;
}
