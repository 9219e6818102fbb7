/*
 * kmer_index - count the canonical 23-mers of a draft assembly and screen
 * sequencing reads against them: a read is kept when enough of its k-mers
 * are known and not repetitive.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 23
#define GENOME_LEN 1950000
#define NREADS 150000
#define READ_LEN 150
#define TABLE_BITS 23
#define MAX_REPEAT 8

typedef struct {
    uint64_t kmer;      /* stored + 1, 0 is an empty slot */
    uint32_t count;
    uint32_t first_pos;
} slot_t;

typedef struct {
    slot_t *slots;
    uint64_t mask;
    uint64_t used;
} index_t_;

static uint64_t rng_state = 88172645463325252ULL;
static uint64_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

static double uniform(void)
{
    return (double)(rnd() >> 11) / 9007199254740992.0;
}

/* Plasmodium-like base composition, with microsatellites here and there. */
static void make_genome(uint8_t *g, size_t n)
{
    size_t i = 0;
    while (i < n) {
        if (uniform() < 0.0006) {
            int unit = 1 + (int)(rnd() % 4);
            size_t len = 12 + rnd() % 40;
            uint8_t motif[4];
            for (int j = 0; j < unit; j++)
                motif[j] = rnd() % 2 ? 3 : 0;
            for (size_t j = 0; j < len && i < n; j++)
                g[i++] = motif[j % (size_t)unit];
        } else {
            double u = uniform();
            g[i++] = u < 0.36 ? 0 : u < 0.50 ? 1 : u < 0.64 ? 2 : 3;
        }
    }
}

static inline uint64_t slot_of(const index_t_ *ix, uint64_t kmer)
{
    kmer ^= kmer >> 31;
    kmer *= 0x9e3779b97f4a7c15ULL;
    return (kmer >> (64 - TABLE_BITS)) & ix->mask;
}

static slot_t *find_slot(const index_t_ *ix, uint64_t kmer)
{
    uint64_t i = slot_of(ix, kmer);
    while (ix->slots[i].kmer && ix->slots[i].kmer != kmer + 1)
        i = (i + 1) & ix->mask;
    return &ix->slots[i];
}

static void count_kmer(index_t_ *ix, uint64_t kmer, uint32_t pos)
{
    slot_t *s = find_slot(ix, kmer);
    if (!s->kmer) {
        s->kmer = kmer + 1;
        s->first_pos = pos;
        ix->used++;
    }
    s->count++;
}

/* Rolling forward and reverse-complement encodings, two bits per base. */
typedef struct {
    uint64_t fwd, rev;
    int filled;
} roller_t;

static inline int roll(roller_t *r, uint8_t base, uint64_t *canonical)
{
    const uint64_t mask = (1ULL << (2 * K)) - 1;
    r->fwd = ((r->fwd << 2) | base) & mask;
    r->rev = (r->rev >> 2) | ((uint64_t)(3 - base) << (2 * (K - 1)));
    if (r->filled < K - 1) {
        r->filled++;
        return 0;
    }
    *canonical = r->fwd < r->rev ? r->fwd : r->rev;
    return 1;
}

static void sample_read(const uint8_t *genome, uint8_t *read)
{
    if (rnd() % 10 < 3) {               /* contamination */
        for (int i = 0; i < READ_LEN; i++)
            read[i] = (uint8_t)(rnd() & 3);
        return;
    }
    size_t at = rnd() % (GENOME_LEN - READ_LEN);
    int reverse = (int)(rnd() & 1);
    for (int i = 0; i < READ_LEN; i++) {
        uint8_t b = reverse ? (uint8_t)(3 - genome[at + READ_LEN - 1 - i]) : genome[at + i];
        if (uniform() < 0.008)
            b = (uint8_t)(rnd() & 3);
        read[i] = b;
    }
}

static int screen_read(const index_t_ *ix, const uint8_t *read, uint64_t *anchor)
{
    roller_t r = {0, 0, 0};
    int known = 0, repetitive = 0;
    uint64_t kmer;
    for (int i = 0; i < READ_LEN; i++) {
        if (!roll(&r, read[i], &kmer))
            continue;
        const slot_t *s = find_slot(ix, kmer);
        if (!s->kmer)
            continue;
        known++;
        if (s->count > MAX_REPEAT)
            repetitive++;
        else
            *anchor += s->first_pos;
    }
    return known >= 40 && repetitive * 4 < known;
}

int main(void)
{
    index_t_ ix = {calloc(1ULL << TABLE_BITS, sizeof(slot_t)), (1ULL << TABLE_BITS) - 1, 0};
    uint8_t *genome = malloc(GENOME_LEN);
    if (!ix.slots || !genome) {
        perror("kmer_index");
        return 1;
    }
    make_genome(genome, GENOME_LEN);

    roller_t r = {0, 0, 0};
    uint64_t kmer;
    for (size_t i = 0; i < GENOME_LEN; i++)
        if (roll(&r, genome[i], &kmer))
            count_kmer(&ix, kmer, (uint32_t)i);

    uint64_t histogram[MAX_REPEAT + 2] = {0};
    for (uint64_t i = 0; i <= ix.mask; i++)
        if (ix.slots[i].kmer)
            histogram[ix.slots[i].count > MAX_REPEAT ? MAX_REPEAT + 1 : ix.slots[i].count]++;

    uint8_t read[READ_LEN];
    uint64_t anchor = 0;
    long kept = 0;
    for (int i = 0; i < NREADS; i++) {
        sample_read(genome, read);
        kept += screen_read(&ix, read, &anchor);
    }

    printf("distinct %llu  single %llu  repeat %llu\n", (unsigned long long)ix.used,
           (unsigned long long)histogram[1], (unsigned long long)histogram[MAX_REPEAT + 1]);
    printf("kept %ld of %d reads, anchor sum %llu\n", kept, NREADS, (unsigned long long)anchor);
    free(genome);
    free(ix.slots);
    return 0;
}
