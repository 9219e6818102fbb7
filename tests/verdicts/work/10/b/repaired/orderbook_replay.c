/* orderbook_replay - replays a synthetic limit order feed against a price-time
 * priority book and reports trades, volume and end-of-session depth. */
#include <dwell/probe.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_LEVELS 512
#define MID (N_LEVELS / 2)
#define MAX_ORDERS 4000000
#define BATCH 2000
#define N_BATCHES 350

typedef struct order {
    uint32_t id;
    uint32_t qty;
    int32_t level;
    int8_t side;                /* 0 buy, 1 sell */
    int8_t live;
    struct order *prev, *next;
} order_t;

typedef struct { order_t *head, *tail; uint64_t qty; uint32_t count; } level_t;

typedef struct {
    level_t side[2][N_LEVELS];
    int best[2];
    uint64_t trades, volume;
    double notional;
} book_t;

typedef struct { uint8_t kind; int8_t side; int32_t level; uint32_t qty; uint32_t id; } msg_t;

static order_t *orders;
static uint32_t n_orders;
static uint64_t seed = 88172645463325252ULL;

static inline uint32_t rnd(void)
{
    seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

static void level_append(level_t *l, order_t *o)
{
    o->prev = l->tail;
    o->next = NULL;
    if (l->tail) l->tail->next = o; else l->head = o;
    l->tail = o;
    l->qty += o->qty;
    l->count++;
}

static void level_unlink(level_t *l, order_t *o)
{
    if (o->prev) o->prev->next = o->next; else l->head = o->next;
    if (o->next) o->next->prev = o->prev; else l->tail = o->prev;
    l->qty -= o->qty;
    l->count--;
    o->live = 0;
}

static void refresh_best(book_t *b)
{
    while (b->best[0] > 0 && !b->side[0][b->best[0]].head) b->best[0]--;
    while (b->best[1] < N_LEVELS - 1 && !b->side[1][b->best[1]].head) b->best[1]++;
}

static void match(book_t *b, order_t *o)
{
    int opp = !o->side;
    while (o->qty) {
        int p = b->best[opp];
        level_t *l = &b->side[opp][p];
        if (!l->head) break;
        if (o->side == 0 ? p > o->level : p < o->level) break;
        order_t *r = l->head;
        uint32_t q = r->qty < o->qty ? r->qty : o->qty;
        r->qty -= q; o->qty -= q; l->qty -= q;
        b->trades++;
        b->volume += q;
        b->notional += (double)q * (100.0 + 0.01 * (p - MID));
        if (!r->qty) level_unlink(l, r);
        refresh_best(b);
    }
}

static void book_add(book_t *b, const msg_t *m)
{
    order_t *o = &orders[m->id];
    o->id = m->id; o->qty = m->qty; o->level = m->level; o->side = m->side;
    o->live = 1;
    match(b, o);
    if (!o->qty) { o->live = 0; return; }
    level_append(&b->side[o->side][o->level], o);
    if (o->side == 0 && o->level > b->best[0]) b->best[0] = o->level;
    if (o->side == 1 && o->level < b->best[1]) b->best[1] = o->level;
}

static order_t *book_find(book_t *b, const msg_t *m)
{
    (void)b;
    return orders[m->id].live ? &orders[m->id] : NULL;
}

static int book_cancel(book_t *b, const msg_t *m)
{
    order_t *o = book_find(b, m);
    if (!o)
        return 0;
    level_unlink(&b->side[o->side][o->level], o);
    refresh_best(b);
    return 1;
}

/* Participants quote around a slowly moving fair value; most quotes are pulled again. */
static void make_batch(msg_t *out, int step)
{
    double fair = MID + 40.0 * sin(step * 0.004) + 12.0 * sin(step * 0.031);
    for (int i = 0; i < BATCH; i++) {
        msg_t *m = &out[i];
        if (n_orders > 5000 && rnd() % 100 < 46) {
            uint32_t back = 1 + rnd() % (n_orders < 60000 ? n_orders - 1 : 60000);
            order_t *o = &orders[n_orders - back];
            m->kind = 1; m->id = n_orders - back; m->side = o->side; m->level = o->level;
            m->qty = 0;
            continue;
        }
        double depth = -log((rnd() + 1.0) / 4294967297.0) * 14.0 - 1.2;
        m->kind = 0;
        m->side = rnd() & 1;
        int lv = (int)(m->side ? fair + depth : fair - depth);
        m->level = lv < 1 ? 1 : lv > N_LEVELS - 2 ? N_LEVELS - 2 : lv;
        m->qty = 1 + rnd() % 200;
        m->id = n_orders;
        orders[n_orders].side = m->side;
        orders[n_orders].level = m->level;
        n_orders++;
    }
}

int main(void)
{
    orders = calloc(MAX_ORDERS, sizeof *orders);
    book_t *book = calloc(1, sizeof *book);
    msg_t *batch = malloc(BATCH * sizeof *batch);
    uint64_t cancels = 0, late = 0, spread_sum = 0;
    book->best[0] = 0;
    book->best[1] = N_LEVELS - 1;

    for (int step = 0; step < N_BATCHES; step++) {
        DWELL_STEP();
        make_batch(batch, step);
        for (int i = 0; i < BATCH; i++) {
            if (batch[i].kind == 0)
                book_add(book, &batch[i]);
            else if (book_cancel(book, &batch[i]))
                cancels++;
            else
                late++;
        }
        spread_sum += (uint64_t)(book->best[1] - book->best[0]);
    }

    uint64_t depth = 0, resting = 0;
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < N_LEVELS; p++) {
            depth += book->side[s][p].qty;
            resting += book->side[s][p].count;
        }
    printf("orders %u trades %llu volume %llu vwap %.4f\n", n_orders,
           (unsigned long long)book->trades, (unsigned long long)book->volume,
           book->notional / (double)book->volume);
    printf("cancels %llu late %llu resting %llu depth %llu mean spread %.3f\n",
           (unsigned long long)cancels, (unsigned long long)late, (unsigned long long)resting,
           (unsigned long long)depth, (double)spread_sum / N_BATCHES);
    free(batch); free(book); free(orders);
    return 0;
}
