/*
 * telemetry_relay: decodes the frames of a vehicle bus recorder.
 *
 * The receiver thread reassembles, checks and decodes the raw frames; the
 * analyser thread keeps the running statistics by signal and the trip events.
 * The two are connected by a bounded ring of decoded blocks.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING 16
#define BLOCK_SAMPLES 512
#define BLOCKS 21000
#define SIGNALS 24
#define TAPS 40

struct block {
    uint32_t sequence;
    uint16_t signal[BLOCK_SAMPLES];
    float value[BLOCK_SAMPLES];
};

struct ring {
    struct block slot[RING];
    atomic_uint head, tail;     /* head: next to write, tail: next to read */
    atomic_int closed;
};

struct receiver {
    struct ring *ring;
    uint64_t state;
    float fir[TAPS];
    float history[SIGNALS][TAPS];
    long crc_errors;
};

struct stats {
    double sum, sumsq;
    float min, max;
    long n, events;
    int above;
};

static uint32_t draw(uint64_t *s)
{
    *s = *s * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*s >> 33);
}

static void ring_init(struct ring *r)
{
    memset(r, 0, sizeof *r);
}

static void ring_put(struct ring *r, const struct block *b)
{
    unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);
    while (head - atomic_load_explicit(&r->tail, memory_order_acquire) == RING)
        ;
    r->slot[head % RING] = *b;
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

/* Takes the oldest block; returns 0 when the ring is closed and empty. */
static int ring_get(struct ring *r, struct block *b)
{
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    while (atomic_load_explicit(&r->head, memory_order_acquire) == tail)
        if (atomic_load_explicit(&r->closed, memory_order_acquire) &&
            atomic_load_explicit(&r->head, memory_order_acquire) == tail)
            return 0;
    *b = r->slot[tail % RING];
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return 1;
}

static void ring_close(struct ring *r)
{
    atomic_store_explicit(&r->closed, 1, memory_order_release);
}

static uint8_t crc8(const uint8_t *p, size_t n)
{
    uint8_t c = 0xff;
    while (n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++)
            c = (uint8_t)((c & 0x80) ? (c << 1) ^ 0x1d : c << 1);
    }
    return c;
}

static float smooth(struct receiver *rx, int signal, float x)
{
    float *h = rx->history[signal];
    float y = 0.0f;
    memmove(h + 1, h, (TAPS - 1) * sizeof *h);
    h[0] = x;
    for (int i = 0; i < TAPS; i++)
        y += rx->fir[i] * h[i];
    return y;
}

static void *receive(void *arg)
{
    struct receiver *rx = arg;
    struct block b;
    uint8_t frame[32];

    for (uint32_t seq = 0; seq < BLOCKS; seq++) {
        b.sequence = seq;
        for (int i = 0; i < BLOCK_SAMPLES; i++) {
            for (size_t k = 0; k < sizeof frame; k += 4) {
                uint32_t w = draw(&rx->state);
                memcpy(frame + k, &w, 4);
            }
            if (crc8(frame, sizeof frame) == 0)
                rx->crc_errors++;
            int signal = frame[0] % SIGNALS;
            float raw = (float)(frame[1] | frame[2] << 8) / 65536.0f - 0.5f;
            b.signal[i] = (uint16_t)signal;
            b.value[i] = smooth(rx, signal, raw);
        }
        ring_put(rx->ring, &b);
    }
    ring_close(rx->ring);
    return NULL;
}

static void analyse(struct ring *r, struct stats *st)
{
    struct block b;
    while (ring_get(r, &b))
        for (int i = 0; i < BLOCK_SAMPLES; i++) {
            struct stats *s = &st[b.signal[i]];
            float v = b.value[i];
            s->sum += v;
            s->sumsq += (double)v * v;
            if (v < s->min) s->min = v;
            if (v > s->max) s->max = v;
            int above = v > 0.12f;
            s->events += above && !s->above;
            s->above = above;
            s->n++;
        }
}

int main(void)
{
    static struct ring ring;
    static struct receiver rx;
    struct stats st[SIGNALS];
    pthread_t thread;
    long n = 0, events = 0;
    double sumsq = 0.0;

    ring_init(&ring);
    memset(st, 0, sizeof st);
    rx.ring = &ring;
    rx.state = 4711;
    for (int i = 0; i < TAPS; i++)
        rx.fir[i] = (float)((0.54 - 0.46 * cos(6.2831853 * i / (TAPS - 1))) / 21.0);
    if (pthread_create(&thread, NULL, receive, &rx) != 0)
        return 1;
    analyse(&ring, st);
    pthread_join(thread, NULL);
    for (int i = 0; i < SIGNALS; i++) {
        n += st[i].n;
        events += st[i].events;
        sumsq += st[i].sumsq;
    }
    printf("samples %ld  rms %.6f  events %ld  crc zero %ld\n",
           n, sqrt(sumsq / (double)n), events, rx.crc_errors);
    printf("signal 0: mean %.6f  min %.4f  max %.4f\n",
           st[0].sum / (double)st[0].n, st[0].min, st[0].max);
    return 0;
}
