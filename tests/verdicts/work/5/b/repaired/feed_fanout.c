/* Replays a market-data capture: a decoder thread checks and unpacks packets
 * and hands them in batches to two subscribers (book keeper and bar builder). */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SYMBOLS 512
#define PACKET 1200
#define TICKS_PER_PACKET 60
#define PACKETS_PER_BATCH 40
#define BATCHES 18000
#define RING 64

struct tick {
    uint32_t symbol, size;
    double price;
};

struct batch {
    int count, last;
    struct tick ticks[PACKETS_PER_BATCH * TICKS_PER_PACKET];
};

struct channel {
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    unsigned head, tail;
    struct batch slot[RING];
};

static struct channel channels[2];

static void chan_init(struct channel *c)
{
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->filled, NULL);
    pthread_cond_init(&c->freed, NULL);
    c->head = c->tail = 0;
}

static struct batch *chan_reserve(struct channel *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->head - c->tail == RING)
        pthread_cond_wait(&c->freed, &c->lock);
    struct batch *b = &c->slot[c->head % RING];
    pthread_mutex_unlock(&c->lock);
    return b;
}

static void chan_publish(struct channel *c)
{
    pthread_mutex_lock(&c->lock);
    c->head++;
    pthread_cond_signal(&c->filled);
    pthread_mutex_unlock(&c->lock);
}

static struct batch *chan_receive(struct channel *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->head == c->tail)
        pthread_cond_wait(&c->filled, &c->lock);
    struct batch *b = &c->slot[c->tail % RING];
    pthread_mutex_unlock(&c->lock);
    return b;
}

static void chan_release(struct channel *c)
{
    pthread_mutex_lock(&c->lock);
    c->tail++;
    pthread_cond_signal(&c->freed);
    pthread_mutex_unlock(&c->lock);
}

/* ---- capture --------------------------------------------------------- */

static uint64_t x = 0x243F6A8885A308D3ull;
static uint32_t rnd(void)
{
    x = x * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(x >> 33);
}

static uint32_t mid[SYMBOLS];

static void next_packet(uint8_t *p)
{
    for (int i = 0; i < TICKS_PER_PACKET; i++) {
        uint32_t r = rnd(), sym = r % SYMBOLS;
        mid[sym] += (r >> 9) % 11 - 5;
        uint32_t f[4] = {sym, mid[sym], 1 + (r >> 13) % 900, (uint32_t)i};
        memcpy(p + i * 20, f, sizeof f);
        uint32_t c = (uint32_t)crc32(0, p + i * 20, 16);
        memcpy(p + i * 20 + 16, &c, 4);
    }
}

static long bad_ticks;

static void decode(const uint8_t *p, struct batch *b)
{
    for (int i = 0; i < TICKS_PER_PACKET; i++) {
        uint32_t f[5];
        memcpy(f, p + i * 20, sizeof f);
        if (f[4] != (uint32_t)crc32(0, p + i * 20, 16)) {
            bad_ticks++;
            continue;
        }
        b->ticks[b->count++] = (struct tick){f[0], f[2], f[1] * 0.01};
    }
}

/* ---- subscribers ------------------------------------------------------ */

static double last_price[SYMBOLS], notional[SYMBOLS], variance[SYMBOLS];

static void *book_keeper(void *arg)
{
    struct channel *c = arg;
    for (int done = 0; !done;) {
        struct batch *b = chan_receive(c);
        for (int i = 0; i < b->count; i++) {
            struct tick *t = &b->ticks[i];
            if (last_price[t->symbol] > 0) {
                double r = log(t->price / last_price[t->symbol]);
                variance[t->symbol] = 0.97 * variance[t->symbol] + 0.03 * r * r;
            }
            last_price[t->symbol] = t->price;
            notional[t->symbol] += t->price * t->size;
        }
        done = b->last;
        chan_release(c);
    }
    return NULL;
}

static struct { double hi, lo; uint64_t volume, n; } bar[SYMBOLS];
static long bars_closed;
static double range_sum;

static void *bar_builder(void *arg)
{
    struct channel *c = arg;
    for (int done = 0; !done;) {
        struct batch *b = chan_receive(c);
        for (int i = 0; i < b->count; i++) {
            struct tick *t = &b->ticks[i];
            if (!bar[t->symbol].n || t->price > bar[t->symbol].hi)
                bar[t->symbol].hi = t->price;
            if (!bar[t->symbol].n || t->price < bar[t->symbol].lo)
                bar[t->symbol].lo = t->price;
            bar[t->symbol].volume += t->size;
            if (++bar[t->symbol].n == 500) {
                range_sum += bar[t->symbol].hi - bar[t->symbol].lo;
                bars_closed++;
                bar[t->symbol].n = 0;
            }
        }
        done = b->last;
        chan_release(c);
    }
    return NULL;
}

int main(void)
{
    pthread_t th[2];
    uint8_t packet[PACKET];
    for (int i = 0; i < SYMBOLS; i++)
        mid[i] = 1000000 + 977 * i;
    for (int i = 0; i < 2; i++)
        chan_init(&channels[i]);
    pthread_create(&th[0], NULL, book_keeper, &channels[0]);
    pthread_create(&th[1], NULL, bar_builder, &channels[1]);
    long ticks = 0;
    for (int k = 0; k < BATCHES; k++) {
        struct batch *a = chan_reserve(&channels[0]);
        a->count = 0;
        a->last = k == BATCHES - 1;
        for (int p = 0; p < PACKETS_PER_BATCH; p++) {
            next_packet(packet);
            decode(packet, a);
        }
        ticks += a->count;
        struct batch *b = chan_reserve(&channels[1]);
        memcpy(b->ticks, a->ticks, a->count * sizeof(struct tick));
        b->count = a->count;
        b->last = a->last;
        chan_publish(&channels[0]);
        chan_publish(&channels[1]);
    }
    pthread_join(th[0], NULL);
    pthread_join(th[1], NULL);
    double vol = 0, money = 0;
    for (int i = 0; i < SYMBOLS; i++) {
        vol += sqrt(variance[i]) / SYMBOLS;
        money += notional[i];
    }
    printf("%ld ticks (%ld bad), notional %.4e, mean tick vol %.3e, %ld bars, mean range %.3f\n",
           ticks, bad_ticks, money, vol, bars_closed, range_sum / bars_closed);
    return 0;
}
