/* Replays an exchange's order-by-order feed into a limit order book and
 * derives end-of-session statistics (volume, spread, imbalance). */
#include <dwell/probe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_BUCKETS 16384
#define N_LEVELS 2048
#define MAX_LIVE 65536
#define MSGS_PER_PACKET 400
#define N_PACKETS 2400
#define GATEWAYS 8

enum { MSG_ADD, MSG_CANCEL, MSG_EXECUTE, MSG_REDUCE };

typedef struct {
    uint64_t order_id;
    uint32_t qty;
    uint16_t level;
    uint8_t side;
    uint8_t type;
} message_t;

typedef struct order {
    uint64_t id;
    uint32_t qty;
    uint16_t level;
    uint8_t side;
    struct order *hash_next;
    struct order *prev, *next;
} order_t;

typedef struct {
    order_t *head, *tail;
    uint64_t total;
    uint32_t count;
} level_t;

typedef struct {
    order_t *buckets[N_BUCKETS];
    level_t levels[2][N_LEVELS];
    order_t *pool, *free_list;
    int best[2];
    uint64_t traded, cancelled, unknown;
} book_t;

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

static uint32_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32);
}

static inline uint32_t bucket_of(uint64_t id)
{
    return (uint32_t)(id & (N_BUCKETS - 1));
}

static book_t *book_new(void)
{
    book_t *b = calloc(1, sizeof *b);
    b->pool = calloc(MAX_LIVE, sizeof *b->pool);
    for (int i = MAX_LIVE - 1; i >= 0; i--) {
        b->pool[i].next = b->free_list;
        b->free_list = &b->pool[i];
    }
    b->best[0] = -1;
    b->best[1] = N_LEVELS;
    return b;
}

static order_t *book_find(book_t *b, uint64_t id)
{
    order_t *o = b->buckets[bucket_of(id)];
    while (o && o->id != id)
        o = o->hash_next;
    return o;
}

static void refresh_best(book_t *b, int side)
{
    if (side == 0)
        while (b->best[0] >= 0 && !b->levels[0][b->best[0]].count)
            b->best[0]--;
    else
        while (b->best[1] < N_LEVELS && !b->levels[1][b->best[1]].count)
            b->best[1]++;
}

static void book_add(book_t *b, const message_t *m)
{
    order_t *o = b->free_list;
    if (!o)
        return;
    b->free_list = o->next;
    o->id = m->order_id;
    o->qty = m->qty;
    o->level = m->level;
    o->side = m->side;
    uint32_t h = bucket_of(o->id);
    o->hash_next = b->buckets[h];
    b->buckets[h] = o;
    level_t *l = &b->levels[o->side][o->level];
    o->prev = l->tail;
    o->next = NULL;
    if (l->tail)
        l->tail->next = o;
    else
        l->head = o;
    l->tail = o;
    l->total += o->qty;
    l->count++;
    if (o->side == 0 ? o->level > b->best[0] : o->level < b->best[1])
        b->best[o->side] = o->level;
}

static void book_remove(book_t *b, order_t *o)
{
    order_t **pp = &b->buckets[bucket_of(o->id)];
    while (*pp != o)
        pp = &(*pp)->hash_next;
    *pp = o->hash_next;
    level_t *l = &b->levels[o->side][o->level];
    if (o->prev) o->prev->next = o->next; else l->head = o->next;
    if (o->next) o->next->prev = o->prev; else l->tail = o->prev;
    l->total -= o->qty;
    l->count--;
    refresh_best(b, o->side);
    o->next = b->free_list;
    b->free_list = o;
}

static void book_take(book_t *b, order_t *o, uint32_t qty, uint64_t *counter)
{
    if (qty >= o->qty) {
        *counter += o->qty;
        book_remove(b, o);
        return;
    }
    *counter += qty;
    o->qty -= qty;
    b->levels[o->side][o->level].total -= qty;
}

static void apply(book_t *b, const message_t *m)
{
    if (m->type == MSG_ADD) {
        book_add(b, m);
        return;
    }
    order_t *o = book_find(b, m->order_id);
    if (!o)
        b->unknown++;
    else if (m->type == MSG_CANCEL)
        book_take(b, o, o->qty, &b->cancelled);
    else
        book_take(b, o, m->qty, m->type == MSG_EXECUTE ? &b->traded : &b->cancelled);
}

/* Builds one packet; order ids carry the sequence in the high bits and the
 * gateway number in the low 12 bits, as the venue's specification says. */
static void make_packet(message_t *out, uint64_t *live, int *n_live, uint64_t *seq)
{
    for (int i = 0; i < MSGS_PER_PACKET; i++) {
        message_t *m = &out[i];
        int want_add = *n_live < 16000 || (rnd() % 100 < 50 && *n_live < 40000);
        if (want_add) {
            m->type = MSG_ADD;
            m->order_id = (++*seq << 12) | (rnd() % GATEWAYS);
            m->side = rnd() & 1;
            uint32_t depth = (rnd() % 400) * (rnd() % 400) / 200;
            m->level = m->side ? 1025 + depth : 1023 - depth;
            m->qty = 100 * (1 + rnd() % 20);
            live[(*n_live)++] = m->order_id;
        } else {
            int k = rnd() % *n_live;
            uint32_t r = rnd() % 10;
            m->type = r < 6 ? MSG_CANCEL : r < 8 ? MSG_EXECUTE : MSG_REDUCE;
            m->order_id = live[k];
            m->qty = 100 * (1 + rnd() % 10);
            if (m->type == MSG_CANCEL)
                live[k] = live[--*n_live];
        }
    }
}

int main(void)
{
    book_t *book = book_new();
    message_t *packet = malloc(sizeof *packet * MSGS_PER_PACKET);
    uint64_t *live = malloc(sizeof *live * MAX_LIVE), seq = 0, spread_sum = 0;
    int n_live = 0;
    double imbalance = 0;

    for (int p = 0; p < N_PACKETS; p++) {
        DWELL_STEP();
        make_packet(packet, live, &n_live, &seq);
        for (int i = 0; i < MSGS_PER_PACKET; i++)
            apply(book, &packet[i]);
        double bid = 0, ask = 0;
        for (int d = 0; d < 10; d++) {
            if (book->best[0] - d >= 0) bid += book->levels[0][book->best[0] - d].total;
            if (book->best[1] + d < N_LEVELS) ask += book->levels[1][book->best[1] + d].total;
        }
        if (bid + ask > 0)
            imbalance += (bid - ask) / (bid + ask);
        spread_sum += book->best[1] - book->best[0];
    }
    printf("orders=%llu traded=%llu cancelled=%llu late=%llu\n", (unsigned long long)seq,
           (unsigned long long)book->traded, (unsigned long long)book->cancelled,
           (unsigned long long)book->unknown);
    printf("mean spread=%.4f mean imbalance=%.6f\n", (double)spread_sum / N_PACKETS,
           imbalance / N_PACKETS);
    return 0;
}
