/* Maps simulated short reads to a reference: exact k-mer seeding, seed voting
 * by diagonal, then a banded affine-gap alignment of the best candidates. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

#define REF_LEN (2 << 20)
#define SEED 12
#define READ_LEN 150
#define READS_PER_BATCH 256
#define BATCHES 1100
#define BAND 12
#define MAX_HITS 24
#define MAX_CAND 3

#define MATCH 2
#define MISMATCH (-4)
#define GAP_OPEN (-6)
#define GAP_EXT (-1)
#define NEG (-100000)

static uint64_t seed_state = 88172645463325252ull;
static uint32_t rnd(void)
{
    seed_state ^= seed_state << 13;
    seed_state ^= seed_state >> 7;
    seed_state ^= seed_state << 17;
    return (uint32_t)(seed_state >> 32);
}

static uint8_t ref[REF_LEN];
static uint32_t *bucket_start; /* 4^SEED + 1 */
static uint32_t *positions;

static void make_reference(void)
{
    for (int i = 0; i < REF_LEN; i++)
        ref[i] = rnd() & 3;
    for (int k = 0; k < 400; k++) { /* repeat families */
        uint32_t from = rnd() % (REF_LEN - 600), to = rnd() % (REF_LEN - 600);
        memmove(ref + to, ref + from, 300 + rnd() % 300);
    }
}

static uint32_t kmer_at(const uint8_t *s)
{
    uint32_t v = 0;
    for (int i = 0; i < SEED; i++)
        v = v << 2 | s[i];
    return v;
}

static void build_index(void)
{
    const uint32_t kmers = 1u << (2 * SEED), mask = kmers - 1;
    const uint32_t n = REF_LEN - SEED + 1;
    bucket_start = calloc((size_t)kmers + 2, sizeof *bucket_start);
    positions = malloc((size_t)n * sizeof *positions);
    uint32_t v = kmer_at(ref);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            v = (v << 2 | ref[i + SEED - 1]) & mask;
        bucket_start[v + 2]++;
    }
    for (uint32_t k = 2; k < kmers + 2; k++)
        bucket_start[k] += bucket_start[k - 1];
    v = kmer_at(ref);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            v = (v << 2 | ref[i + SEED - 1]) & mask;
        positions[bucket_start[v + 1]++] = i;
    }
}

static int make_read(uint8_t *read, uint32_t *origin)
{
    uint32_t at = rnd() % (REF_LEN - 2 * READ_LEN);
    int n = 0;
    *origin = at;
    while (n < READ_LEN) {
        uint32_t r = rnd() % 1000;
        if (r < 3)
            read[n++] = rnd() & 3; /* insertion */
        else if (r < 6)
            at++; /* deletion */
        else if (r < 26)
            read[n++] = (ref[at++] + 1 + rnd() % 3) & 3;
        else
            read[n++] = ref[at++];
    }
    return n;
}

/* Best score of the whole read against ref[start - BAND .. ], free ends on the reference. */
static int align_banded(const uint8_t *read, int64_t start)
{
    enum { W = 2 * BAND + 1 };
    int h[W + 2], e[W + 2];
    for (int j = 0; j < W + 2; j++) {
        h[j] = j < W ? 0 : NEG;
        e[j] = NEG;
    }
    for (int i = 0; i < READ_LEN; i++) {
        int f = NEG;
        const uint8_t *r = ref + start + i - BAND;
        uint8_t c = read[i];
        for (int j = 0; j < W; j++) {
            int diag = h[j] + (r[j] == c ? MATCH : MISMATCH);
            int up = h[j + 1] + GAP_OPEN, ue = e[j + 1] + GAP_EXT;
            int ee = up > ue ? up : ue;
            int best = diag > ee ? diag : ee;
            best = best > f ? best : f;
            h[j] = best;
            e[j] = ee;
            int fo = best + GAP_OPEN;
            f = f + GAP_EXT > fo ? f + GAP_EXT : fo;
        }
    }
    int best = NEG;
    for (int j = 0; j < W; j++)
        best = h[j] > best ? h[j] : best;
    return best;
}

struct candidate {
    int64_t diag;
    int votes;
};

static int collect(const uint8_t *read, struct candidate *out)
{
    struct candidate c[READ_LEN * MAX_HITS / 4];
    int n = 0;
    for (int q = 0; q + SEED <= READ_LEN; q += 4) {
        uint32_t v = kmer_at(read + q);
        uint32_t a = bucket_start[v], b = bucket_start[v + 1];
        if (b - a > MAX_HITS)
            continue;
        for (uint32_t k = a; k < b; k++) {
            int64_t d = (int64_t)positions[k] - q;
            int i = 0;
            while (i < n && llabs(c[i].diag - d) > BAND / 2)
                i++;
            if (i == n)
                c[n++] = (struct candidate){d, 0};
            c[i].votes++;
        }
    }
    int kept = 0;
    while (kept < MAX_CAND && kept < n) {
        int best = kept;
        for (int i = kept + 1; i < n; i++)
            if (c[i].votes > c[best].votes)
                best = i;
        struct candidate t = c[kept];
        c[kept] = c[best];
        c[best] = t;
        out[kept] = c[kept];
        kept++;
    }
    return kept;
}

int main(void)
{
    long mapped = 0, right = 0, score_sum = 0;
    make_reference();
    build_index();
    for (int batch = 0; batch < BATCHES; batch++) {
        DWELL_STEP();
        for (int k = 0; k < READS_PER_BATCH; k++) {
            uint8_t read[READ_LEN];
            uint32_t origin;
            struct candidate cand[MAX_CAND];
            make_read(read, &origin);
            int n = collect(read, cand), best = NEG;
            int64_t where = -1;
            for (int i = 0; i < n; i++) {
                if (cand[i].diag < BAND || cand[i].diag > REF_LEN - READ_LEN - 2 * BAND)
                    continue;
                int s = align_banded(read, cand[i].diag);
                if (s > best) {
                    best = s;
                    where = cand[i].diag;
                }
            }
            if (best >= READ_LEN) {
                mapped++;
                score_sum += best;
                right += llabs(where - (int64_t)origin) <= BAND;
            }
        }
    }
    long total = (long)BATCHES * READS_PER_BATCH;
    printf("%ld reads, %.2f%% mapped, %.2f%% of them at their origin, mean score %.1f\n", total,
           100.0 * mapped / total, 100.0 * right / mapped, (double)score_sum / mapped);
    return 0;
}
