/* Connect Four solver: bitboards, negamax with a window, moves from the centre
 * out, and a table of positions already valued. Solves a list of openings. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 7, HEIGHT = 6, STRIDE = HEIGHT + 1, MIN_SCORE = -(WIDTH * HEIGHT) / 2 + 3 };
#define TABLE_SIZE ((1u << 22) + 15)

struct position {
    uint64_t own, all;
    int moves;
};

struct entry {
    uint32_t key;
    int8_t value;
};

static struct entry *table;
static uint64_t nodes;
static int order[WIDTH];

static uint64_t bottom(int column)
{
    return 1ull << (column * STRIDE);
}

static uint64_t column_mask(int column)
{
    return ((1ull << HEIGHT) - 1) << (column * STRIDE);
}

static uint64_t bottom_row(void)
{
    uint64_t m = 0;
    for (int c = 0; c < WIDTH; c++)
        m |= bottom(c);
    return m;
}

static uint64_t board_mask(void)
{
    return bottom_row() * ((1ull << HEIGHT) - 1);
}

/* Free cells that complete four in a row for the stones given. */
static uint64_t winning_cells(uint64_t p, uint64_t all)
{
    uint64_t r = (p << 1) & (p << 2) & (p << 3);
    static const int directions[3] = {STRIDE, STRIDE - 1, STRIDE + 1};
    for (int i = 0; i < 3; i++) {
        int d = directions[i];
        uint64_t two = (p << d) & (p << 2 * d);
        r |= two & (p << 3 * d);
        r |= two & (p >> d);
        two = (p >> d) & (p >> 2 * d);
        r |= two & (p << d);
        r |= two & (p >> 3 * d);
    }
    return r & (board_mask() ^ all);
}

static uint64_t possible(const struct position *p)
{
    return (p->all + bottom_row()) & board_mask();
}

/* Moves that do not let the opponent win at once. */
static uint64_t sound_moves(const struct position *p)
{
    uint64_t moves = possible(p), threats = winning_cells(p->own ^ p->all, p->all);
    uint64_t forced = moves & threats;
    if (forced) {
        if (forced & (forced - 1))
            return 0;
        moves = forced;
    }
    return moves & ~(threats >> 1);
}

static struct position play(const struct position *p, uint64_t move)
{
    struct position n = {p->own ^ p->all, p->all | move, p->moves + 1};
    return n;
}

static struct entry *slot(uint64_t key)
{
    return &table[key % TABLE_SIZE];
}

struct candidate {
    uint64_t move;
    int threats;
};

static int list_moves(const struct position *p, uint64_t sound, struct candidate *out)
{
    int n = 0;
    for (int i = 0; i < WIDTH; i++) {
        uint64_t move = sound & column_mask(order[i]);
        if (!move)
            continue;
        int threats = __builtin_popcountll(winning_cells(p->own | move, p->all));
        int k = n++;
        for (; k > 0 && out[k - 1].threats < threats; k--)
            out[k] = out[k - 1];
        out[k].move = move;
        out[k].threats = threats;
    }
    return n;
}

static int negamax(const struct position *p, int alpha, int beta)
{
    nodes++;
    uint64_t sound = sound_moves(p);
    if (!sound)
        return -(WIDTH * HEIGHT - p->moves) / 2;
    if (p->moves >= WIDTH * HEIGHT - 2)
        return 0;
    int least = -(WIDTH * HEIGHT - 2 - p->moves) / 2;
    if (alpha < least) {
        alpha = least;
        if (alpha >= beta)
            return alpha;
    }
    int most = (WIDTH * HEIGHT - 1 - p->moves) / 2;
    uint64_t key = p->own + p->all;
    struct entry *e = slot(key);
    if (e->key == (uint32_t)key && e->value)
        most = e->value + MIN_SCORE - 1;
    if (beta > most) {
        beta = most;
        if (alpha >= beta)
            return beta;
    }
    struct candidate moves[WIDTH];
    int n = list_moves(p, sound, moves);
    for (int i = 0; i < n; i++) {
        struct position next = play(p, moves[i].move);
        int score = -negamax(&next, -beta, -alpha);
        if (score >= beta)
            return score;
        if (score > alpha)
            alpha = score;
    }
    e = slot(key);
    e->key = (uint32_t)key;
    e->value = (int8_t)(alpha - MIN_SCORE + 1);
    return alpha;
}

static int solve(const struct position *p)
{
    if (winning_cells(p->own, p->all) & possible(p))
        return (WIDTH * HEIGHT + 1 - p->moves) / 2;
    int low = -(WIDTH * HEIGHT - p->moves) / 2, high = (WIDTH * HEIGHT + 1 - p->moves) / 2;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (middle <= 0 && low / 2 < middle)
            middle = low / 2;
        else if (middle >= 0 && high / 2 > middle)
            middle = high / 2;
        int r = negamax(p, middle, middle + 1);
        if (r <= middle)
            high = r;
        else
            low = r;
    }
    return low;
}

static int set_up(struct position *p, const char *columns)
{
    memset(p, 0, sizeof *p);
    for (; *columns; columns++) {
        uint64_t move = possible(p) & column_mask(*columns - '1');
        if (!move || (winning_cells(p->own, p->all) & move))
            return 0;
        *p = play(p, move);
    }
    return 1;
}

int main(void)
{
    static const char *openings[] = {
        "2342261122", "7524614444", "1714574161", "2515146227", "5465435374",
        "2275156363", "6745523235", "3561775652", "3213323143", "26275461671",
        "4674467542311", "55235465151", "15512435326", "5554112672", "246463472",
        "256344226", "747525527", "126711714", "413546163",
    };
    int n = (int)(sizeof openings / sizeof *openings), sum = 0, solved = 0;
    table = calloc(TABLE_SIZE, sizeof *table);
    for (int c = 0; c < WIDTH; c++)
        order[c] = WIDTH / 2 + (c % 2 ? -1 : 1) * (c + 1) / 2;
    for (int i = 0; i < n; i++) {
        struct position p;
        if (!set_up(&p, openings[i]))
            continue;
        memset(table, 0, TABLE_SIZE * sizeof *table);
        int score = solve(&p);
        sum += score * (i + 1);
        solved++;
    }
    printf("solved %d of %d, checksum %d\n", solved, n, sum);
    printf("nodes %llu\n", (unsigned long long)nodes);
    free(table);
    return 0;
}
