/* Canonical k-mer spectrum of a read set: counts every k-mer of simulated
 * reads and estimates genome size and coverage from the histogram. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 21
#define GENOME 4000000
#define READ_LEN 150
#define COVERAGE 20
#define ERROR_PPM 4000
#define HIST 256

typedef struct {
    uint64_t *keys;     /* key + 1, 0 means empty */
    uint16_t *counts;
    uint64_t mask, used;
} Table;

static uint64_t rng_state = 0x9E3779B97F4A7C15ull;

static uint64_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

static void *must(void *p)
{
    if (!p) {
        perror("alloc");
        exit(1);
    }
    return p;
}

static void table_init(Table *t, unsigned bits)
{
    t->mask = (1ull << bits) - 1;
    t->keys = must(calloc(t->mask + 1, sizeof *t->keys));
    t->counts = must(calloc(t->mask + 1, sizeof *t->counts));
    t->used = 0;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static void table_grow(Table *t);

static void table_add(Table *t, uint64_t kmer, uint16_t n)
{
    uint64_t key = kmer + 1, i = mix(kmer) & t->mask;
    while (t->keys[i] && t->keys[i] != key)
        i = (i + 1) & t->mask;
    if (!t->keys[i]) {
        t->keys[i] = key;
        t->used++;
    }
    if (t->counts[i] < UINT16_MAX - n) t->counts[i] = (uint16_t)(t->counts[i] + n);
    if (t->used * 10 > t->mask * 7) table_grow(t);
}

static void table_grow(Table *t)
{
    Table old = *t;
    unsigned bits = 1;
    while ((1ull << bits) <= old.mask + 1)
        bits++;
    table_init(t, bits);
    for (uint64_t i = 0; i <= old.mask; i++)
        if (old.keys[i]) table_add(t, old.keys[i] - 1, old.counts[i]);
    free(old.keys);
    free(old.counts);
}

/* Rolling forward and reverse-complement words; the smaller one is counted. */
static void count_read(Table *t, const uint8_t *read, int len)
{
    const uint64_t mask = (1ull << 2 * K) - 1;
    uint64_t fwd = 0, rev = 0;
    for (int i = 0; i < len; i++) {
        uint64_t c = read[i];
        fwd = (fwd << 2 | c) & mask;
        rev = rev >> 2 | (3 - c) << 2 * (K - 1);
        if (i >= K - 1) table_add(t, fwd < rev ? fwd : rev, 1);
    }
}

static uint8_t *make_genome(void)
{
    uint8_t *g = must(malloc(GENOME));
    for (int i = 0; i < GENOME; i++)
        g[i] = (uint8_t)(rng() >> 20 & 3);
    /* a few repeated elements, as real genomes have */
    for (int r = 0; r < 40; r++) {
        int from = (int)(rng() % (GENOME - 3000)), to = (int)(rng() % (GENOME - 3000));
        memmove(g + to, g + from, 2500);
    }
    return g;
}

static void make_read(const uint8_t *g, uint8_t *read)
{
    int at = (int)(rng() % (GENOME - READ_LEN));
    int reverse = (int)(rng() >> 11 & 1);
    for (int i = 0; i < READ_LEN; i++) {
        uint8_t c = reverse ? (uint8_t)(3 - g[at + READ_LEN - 1 - i]) : g[at + i];
        if (rng() % 1000000 < ERROR_PPM) c = (uint8_t)((c + 1 + rng() % 3) & 3);
        read[i] = c;
    }
}

static void histogram(const Table *t, uint64_t *h)
{
    for (uint64_t i = 0; i <= t->mask; i++)
        if (t->keys[i]) h[t->counts[i] < HIST ? t->counts[i] : HIST - 1]++;
}

int main(void)
{
    uint8_t *genome = make_genome(), read[READ_LEN];
    Table t;
    table_init(&t, 20);
    const int reads = (int)((int64_t)GENOME * COVERAGE / READ_LEN);
    for (int i = 0; i < reads; i++) {
        make_read(genome, read);
        count_read(&t, read, READ_LEN);
    }

    uint64_t h[HIST] = { 0 }, solid = 0, mass = 0;
    histogram(&t, h);
    int valley = 2, peak;
    while (valley + 1 < HIST && h[valley + 1] < h[valley])
        valley++;
    peak = valley;
    for (int i = valley; i < HIST; i++) {
        if (h[i] > h[peak]) peak = i;
        solid += h[i];
        mass += h[i] * (uint64_t)i;
    }
    printf("reads %d distinct %llu errors %llu\n", reads, (unsigned long long)t.used,
           (unsigned long long)(t.used - solid));
    printf("valley %d peak %d genome size %.0f\n", valley, peak, (double)mass / peak);
    free(genome);
    free(t.keys);
    free(t.counts);
    return 0;
}
