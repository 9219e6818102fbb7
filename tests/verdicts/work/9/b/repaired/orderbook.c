/* Replays a trading day of exchange messages through a price-time priority
 * book and prints the end-of-day statistics used for regression checks. */
#include <dwell/probe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 256
#define BATCHES 4000
#define BATCH_MSGS 6000
#define OUTSTANDING 40000
#define MAX_ORDERS (BATCHES * BATCH_MSGS)

enum { MSG_NEW = 1, MSG_CANCEL = 2, MSG_TAKE = 3 };

typedef struct Order {
    struct Order *prev, *next;
    uint32_t id, qty;
    uint16_t account;
    uint8_t side;
    uint16_t level;
} Order;

typedef struct { Order *head, *tail; uint64_t qty; uint32_t n; } Level;

typedef struct {
    Level side[2][LEVELS];
    Order *free_list;
    Order **by_id;
    uint64_t traded, notional, cancelled, rejected;
    int64_t position[1024];
} Book;

typedef struct { uint8_t type, side; uint16_t level, account; uint32_t id, qty; uint32_t crc; } Msg;

typedef struct { uint32_t id; uint16_t level; uint8_t side; } Sent;

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;
static uint32_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32);
}

static uint32_t msg_crc(const Msg *m)
{
    unsigned char b[16];
    uint32_t h = 2166136261u;
    memset(b, 0, sizeof b);
    memcpy(b, &m->id, 4);
    memcpy(b + 4, &m->qty, 4);
    memcpy(b + 8, &m->level, 2);
    memcpy(b + 10, &m->account, 2);
    b[12] = m->type;
    b[13] = m->side;
    for (int i = 0; i < 16; i++)
        h = (h ^ b[i]) * 16777619u;
    return h;
}

static Order *order_alloc(Book *b)
{
    if (!b->free_list) {
        Order *chunk = calloc(4096, sizeof *chunk);
        for (int i = 0; i < 4096; i++) {
            chunk[i].next = b->free_list;
            b->free_list = &chunk[i];
        }
    }
    Order *o = b->free_list;
    b->free_list = o->next;
    return o;
}

static void order_unlink(Book *b, Order *o)
{
    Level *l = &b->side[o->side][o->level];
    if (o->prev) o->prev->next = o->next; else l->head = o->next;
    if (o->next) o->next->prev = o->prev; else l->tail = o->prev;
    l->qty -= o->qty;
    l->n--;
    b->by_id[o->id] = NULL;
    o->next = b->free_list;
    b->free_list = o;
}

static Order *order_find(Book *b, const Msg *m)
{
    return b->by_id[m->id];
}

static void book_add(Book *b, const Msg *m)
{
    Level *l = &b->side[m->side][m->level];
    Order *o = order_alloc(b);
    o->id = m->id;
    b->by_id[o->id] = o;
    o->qty = m->qty;
    o->account = m->account;
    o->side = m->side;
    o->level = m->level;
    o->next = NULL;
    o->prev = l->tail;
    if (l->tail) l->tail->next = o; else l->head = o;
    l->tail = o;
    l->qty += o->qty;
    l->n++;
}

static void book_cancel(Book *b, const Msg *m)
{
    Order *o = order_find(b, m);
    if (!o) {
        b->rejected++;
        return;
    }
    b->cancelled += o->qty;
    order_unlink(b, o);
}

static void book_take(Book *b, const Msg *m)
{
    uint32_t left = m->qty;
    for (int lv = 0; lv < LEVELS && left; lv++) {
        Level *l = &b->side[m->side][lv];
        while (l->head && left) {
            Order *o = l->head;
            uint32_t q = o->qty < left ? o->qty : left;
            left -= q;
            b->traded += q;
            b->notional += (uint64_t)q * (10000 + (m->side ? -lv : lv));
            b->position[o->account] += m->side ? q : -(int64_t)q;
            o->qty -= q;
            l->qty -= q;
            if (!o->qty)
                order_unlink(b, o);
        }
    }
}

static void make_batch(Msg *out, Sent *sent, uint32_t *n_sent, uint32_t *n_withdrawn)
{
    for (int i = 0; i < BATCH_MSGS; i++) {
        Msg *m = &out[i];
        uint32_t r = rnd() % 100;
        memset(m, 0, sizeof *m);
        m->account = rnd() % 1024;
        m->side = rnd() & 1;
        if (r < 46 || *n_sent < OUTSTANDING) {
            uint32_t a = rnd() % LEVELS, c = rnd() % LEVELS;
            m->type = MSG_NEW;
            m->level = a < c ? a : c;
            m->qty = 1 + rnd() % 100;
            m->id = *n_sent;
            sent[(*n_sent)++] = (Sent){ m->id, m->level, m->side };
        } else if (r < 91) {
            Sent *s = &sent[*n_withdrawn + rnd() % (*n_sent - *n_withdrawn)];
            m->type = MSG_CANCEL;
            m->id = s->id;
            m->level = s->level;
            m->side = s->side;
            *s = sent[(*n_withdrawn)++];
        } else {
            m->type = MSG_TAKE;
            m->qty = 50 + rnd() % 300;
        }
        m->crc = msg_crc(m);
    }
}

static uint64_t depth_digest(const Book *b)
{
    uint64_t h = 1469598103934665603ull;
    for (int s = 0; s < 2; s++)
        for (int l = 0; l < LEVELS; l++)
            h = (h ^ (b->side[s][l].qty * 31 + b->side[s][l].n)) * 1099511628211ull;
    return h;
}

int main(void)
{
    Book *book = calloc(1, sizeof *book);
    book->by_id = calloc(MAX_ORDERS, sizeof *book->by_id);
    Sent *sent = malloc(sizeof *sent * MAX_ORDERS);
    Msg *msgs = malloc(sizeof *msgs * BATCH_MSGS);
    uint32_t n_sent = 0, n_withdrawn = 0, bad = 0;
    uint64_t digest = 0;

    for (int batch = 0; batch < BATCHES; batch++) {
        DWELL_STEP();
        make_batch(msgs, sent, &n_sent, &n_withdrawn);
        for (int i = 0; i < BATCH_MSGS; i++) {
            const Msg *m = &msgs[i];
            if (msg_crc(m) != m->crc) {
                bad++;
                continue;
            }
            switch (m->type) {
            case MSG_NEW: book_add(book, m); break;
            case MSG_CANCEL: book_cancel(book, m); break;
            case MSG_TAKE: book_take(book, m); break;
            }
        }
        digest ^= depth_digest(book) + batch;
    }
    printf("orders %u bad %u traded %llu notional %llu cancelled %llu rejected %llu digest %016llx\n",
           n_sent, bad, (unsigned long long)book->traded, (unsigned long long)book->notional,
           (unsigned long long)book->cancelled, (unsigned long long)book->rejected,
           (unsigned long long)digest);
    return 0;
}
