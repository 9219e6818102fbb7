/* kmercount - canonical k-mer spectrum of a shotgun library.
 *
 * Simulates a small A/T-rich genome (about the composition of P. falciparum),
 * draws error-bearing reads from both strands, counts canonical 21-mers and
 * derives the coverage peak and a genome size estimate from the histogram. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 21
#define READ_LEN 150
#define HIST_MAX 256

typedef struct { uint64_t key; uint32_t count; } slot_t;   /* key is k-mer + 1 */

typedef struct {
    slot_t *slots;
    uint64_t mask;
    uint64_t used;
} kmer_table_t;

static uint64_t rng_state = 0x2545F4914F6CDD1DULL;

static inline uint64_t rng_next(void)
{
    uint64_t x = rng_state;
    x ^= x >> 12; x ^= x << 25; x ^= x >> 27;
    rng_state = x;
    return x * 0x2545F4914F6CDD1DULL;
}

static inline double rng_unit(void) { return (double)(rng_next() >> 11) * 0x1.0p-53; }

static uint8_t *make_genome(size_t n, double at)
{
    uint8_t *g = malloc(n);
    for (size_t i = 0; i < n; i++) {
        double u = rng_unit();
        if (u < at)
            g[i] = (u < at / 2) ? 0 : 3;
        else
            g[i] = (u < at + (1 - at) / 2) ? 1 : 2;
    }
    return g;
}

static void draw_read(const uint8_t *g, size_t n, double err, uint8_t *out)
{
    size_t pos = rng_next() % (n - READ_LEN);
    if (rng_next() & 1) {
        memcpy(out, g + pos, READ_LEN);
    } else {
        for (int i = 0; i < READ_LEN; i++)
            out[i] = 3 - g[pos + READ_LEN - 1 - i];
    }
    for (int i = 0; i < READ_LEN; i++)
        if (rng_unit() < err)
            out[i] = (out[i] + 1 + rng_next() % 3) & 3;
}

static void table_init(kmer_table_t *t, int log2_size)
{
    t->mask = (1ULL << log2_size) - 1;
    t->slots = calloc(t->mask + 1, sizeof *t->slots);
    t->used = 0;
    if (!t->slots) { perror("calloc"); exit(1); }
}

static inline uint64_t table_home(const kmer_table_t *t, uint64_t kmer)
{
    kmer ^= kmer >> 33; kmer *= 0xff51afd7ed558ccdULL;
    kmer ^= kmer >> 33; kmer *= 0xc4ceb9fe1a85ec53ULL;
    kmer ^= kmer >> 33;
    return kmer & t->mask;
}

static void table_grow(kmer_table_t *t);

static void table_add(kmer_table_t *t, uint64_t kmer, uint32_t by)
{
    if (t->used * 10 > (t->mask + 1) * 5)
        table_grow(t);
    uint64_t i = table_home(t, kmer);
    while (t->slots[i].key && t->slots[i].key != kmer + 1)
        i = (i + 1) & t->mask;
    if (!t->slots[i].key) {
        t->slots[i].key = kmer + 1;
        t->used++;
    }
    t->slots[i].count += by;
}

static void table_grow(kmer_table_t *t)
{
    kmer_table_t bigger;
    int bits = 0;
    while ((1ULL << bits) <= t->mask) bits++;
    table_init(&bigger, bits + 1);
    for (uint64_t i = 0; i <= t->mask; i++)
        if (t->slots[i].key)
            table_add(&bigger, t->slots[i].key - 1, t->slots[i].count);
    free(t->slots);
    *t = bigger;
}

static void count_read(kmer_table_t *t, const uint8_t *r, int len)
{
    const uint64_t kmask = (1ULL << (2 * K)) - 1;
    uint64_t fwd = 0, rev = 0;
    for (int i = 0; i < len; i++) {
        fwd = ((fwd << 2) | r[i]) & kmask;
        rev = (rev >> 2) | ((uint64_t)(3 - r[i]) << (2 * (K - 1)));
        if (i >= K - 1)
            table_add(t, fwd < rev ? fwd : rev, 1);
    }
}

static void spectrum(const kmer_table_t *t, uint64_t *hist)
{
    memset(hist, 0, (HIST_MAX + 1) * sizeof *hist);
    for (uint64_t i = 0; i <= t->mask; i++)
        if (t->slots[i].key) {
            uint32_t c = t->slots[i].count;
            hist[c > HIST_MAX ? HIST_MAX : c]++;
        }
}

int main(void)
{
    const size_t genome_len = 400000;
    const long n_reads = 46000;
    uint8_t *genome = make_genome(genome_len, 0.77);
    uint8_t read[READ_LEN];
    kmer_table_t table;
    uint64_t hist[HIST_MAX + 1];

    table_init(&table, 20);
    for (long i = 0; i < n_reads; i++) {
        draw_read(genome, genome_len, 0.004, read);
        count_read(&table, read, READ_LEN);
    }
    spectrum(&table, hist);

    int valley = 2, peak;
    while (valley < HIST_MAX && hist[valley + 1] < hist[valley]) valley++;
    peak = valley;
    uint64_t total = 0;
    for (int c = valley; c <= HIST_MAX; c++) {
        total += hist[c] * (uint64_t)c;
        if (c < HIST_MAX && hist[c] > hist[peak]) peak = c;
    }
    printf("distinct %llu singletons %llu valley %d peak %d genome~%llu\n",
           (unsigned long long)table.used, (unsigned long long)hist[1], valley, peak,
           (unsigned long long)(total / (peak ? peak : 1)));
    free(table.slots);
    free(genome);
    return 0;
}
