/*
 * align_reads - maps long reads to a reference.
 *
 * Seeds come from a direct-address table of 11-mers; the diagonal with most
 * seeds is refined by banded affine-gap alignment and the result is piled up
 * to a depth profile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define REF_LEN 1500000
#define READ_LEN 2000
#define READS 6000
#define SEED 11
#define SEEDS (1u << (2 * SEED))
#define MAX_OCC 12
#define BAND 48
#define WIDTH (2 * BAND + 1)
#define BIN 64
#define NEG (-1000000)

enum { MATCH = 2, MISMATCH = -4, GAP_OPEN = -5, GAP_EXTEND = -1 };

typedef struct { uint32_t *start, *pos; } table_t;
typedef struct { int score, ref_begin, ref_end; } alignment_t;

static uint64_t state = 0x2545F4914F6CDD1Dull;

static uint32_t rnd(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545F4914F6CDD1Dull) >> 32);
}

static table_t build_table(const uint8_t *ref)
{
    table_t t = { calloc(SEEDS + 1, sizeof(uint32_t)), malloc(sizeof(uint32_t) * REF_LEN) };
    uint32_t key = 0;
    for (int i = 0; i < REF_LEN; i++) {
        key = ((key << 2) | ref[i]) & (SEEDS - 1);
        if (i >= SEED - 1)
            t.start[key + 1]++;
    }
    for (uint32_t k = 0; k < SEEDS; k++)
        t.start[k + 1] += t.start[k];
    key = 0;
    uint32_t *fill = malloc(sizeof(uint32_t) * SEEDS);
    memcpy(fill, t.start, sizeof(uint32_t) * SEEDS);
    for (int i = 0; i < REF_LEN; i++) {
        key = ((key << 2) | ref[i]) & (SEEDS - 1);
        if (i >= SEED - 1)
            t.pos[fill[key]++] = (uint32_t)(i - SEED + 1);
    }
    free(fill);
    return t;
}

/* A read of the reference with 8% errors; returns its true position. */
static int draw_read(const uint8_t *ref, uint8_t *read)
{
    int pos = (int)(rnd() % (REF_LEN - 2 * READ_LEN)), at = pos;
    for (int i = 0; i < READ_LEN;) {
        uint32_t u = rnd() % 100;
        if (u < 3)
            read[i++] = (uint8_t)(rnd() & 3), at++;
        else if (u < 6)
            read[i++] = (uint8_t)(rnd() & 3);
        else if (u < 8)
            at++;
        else
            read[i++] = ref[at++];
    }
    return pos;
}

/* Votes for diagonals; returns the best one's reference offset, or -1. */
static int best_diagonal(const table_t *t, const uint8_t *read, uint16_t *votes, uint32_t *touched)
{
    uint32_t key = 0, n = 0, best = 0;
    int where = -1;
    for (int i = 0; i < READ_LEN; i++) {
        key = ((key << 2) | read[i]) & (SEEDS - 1);
        if (i < SEED - 1)
            continue;
        uint32_t a = t->start[key], b = t->start[key + 1];
        if (b - a > MAX_OCC)
            continue;
        for (; a < b; a++) {
            uint32_t bin = (t->pos[a] + READ_LEN - (uint32_t)(i - SEED + 1)) / BIN;
            if (votes[bin]++ == 0)
                touched[n++] = bin;
            if (votes[bin] > best) {
                best = votes[bin];
                where = (int)(bin * BIN + BIN / 2) - READ_LEN;
            }
        }
    }
    for (uint32_t k = 0; k < n; k++)
        votes[touched[k]] = 0;
    return best >= 6 ? where : -1;
}

/*
 * Affine alignment of the whole read within +-BAND of the diagonal.  Cell k of
 * row i is reference position ref[offset + i + k - BAND]; only two rows are kept,
 * each cell carries the reference position where its path began.
 */
static alignment_t align(const uint8_t *ref, int offset, const uint8_t *read)
{
    static int h[2][WIDTH + 2], e[2][WIDTH + 2], hb[2][WIDTH + 2], eb[2][WIDTH + 2];
    alignment_t best = { NEG, 0, 0 };
    for (int k = 0; k < WIDTH + 2; k++) {
        h[0][k] = k < WIDTH ? 0 : NEG;
        e[0][k] = e[1][k] = h[1][k] = NEG;
        hb[0][k] = eb[0][k] = offset + k - BAND;
    }
    for (int i = 0; i < READ_LEN; i++) {
        const int *hp = h[i & 1], *ep = e[i & 1], *hpb = hb[i & 1], *epb = eb[i & 1];
        int *hc = h[(i + 1) & 1], *ec = e[(i + 1) & 1], *hcb = hb[(i + 1) & 1], *ecb = eb[(i + 1) & 1];
        int f = NEG, fb = 0;
        for (int k = 0; k < WIDTH; k++) {
            int j = offset + i + k - BAND;
            int s = j >= 0 && j < REF_LEN ? (ref[j] == read[i] ? MATCH : MISMATCH) : NEG / 4;
            int open = hp[k + 1] + GAP_OPEN, extend = ep[k + 1] + GAP_EXTEND;
            ec[k] = open > extend ? open : extend;
            ecb[k] = open > extend ? hpb[k + 1] : epb[k + 1];
            int v = hp[k] + s, from = hpb[k];
            if (ec[k] > v)
                v = ec[k], from = ecb[k];
            if (f > v)
                v = f, from = fb;
            hc[k] = v;
            hcb[k] = from;
            if (v + GAP_OPEN > f + GAP_EXTEND)
                f = v + GAP_OPEN, fb = from;
            else
                f += GAP_EXTEND;
        }
    }
    for (int k = 0; k < WIDTH; k++)
        if (h[READ_LEN & 1][k] > best.score) {
            best.score = h[READ_LEN & 1][k];
            best.ref_begin = hb[READ_LEN & 1][k];
            best.ref_end = offset + READ_LEN + k - BAND;
        }
    return best;
}

int main(void)
{
    uint8_t *ref = malloc(REF_LEN), read[READ_LEN];
    uint32_t *touched = malloc(sizeof(uint32_t) * (REF_LEN + 2 * READ_LEN) / BIN * 2);
    uint16_t *votes = calloc((REF_LEN + 2 * READ_LEN) / BIN + 2, sizeof(uint16_t));
    int *depth = calloc(REF_LEN + 1, sizeof(int));
    long mapped = 0, right = 0, score = 0, covered = 0, deepest = 0, level = 0;
    for (int i = 0; i < REF_LEN; i++)
        ref[i] = (uint8_t)(rnd() & 3);
    table_t table = build_table(ref);
    for (int r = 0; r < READS; r++) {
        DWELL_STEP();
        int truth = draw_read(ref, read);
        int offset = best_diagonal(&table, read, votes, touched);
        if (offset < 0)
            continue;
        alignment_t a = align(ref, offset, read);
        if (a.score < READ_LEN / 2)
            continue;
        mapped++;
        score += a.score;
        right += abs(a.ref_begin - truth) <= 8;
        depth[a.ref_begin < 0 ? 0 : a.ref_begin]++;
        depth[a.ref_end > REF_LEN ? REF_LEN : a.ref_end]--;
    }
    for (int i = 0; i < REF_LEN; i++) {
        level += depth[i];
        covered += level > 0;
        deepest = level > deepest ? level : deepest;
    }
    printf("reads %d  mapped %ld  at the true place %ld  mean score %.2f\n", READS, mapped, right,
           (double)score / (double)mapped);
    printf("covered %.3f%%  deepest %ld\n", 100.0 * covered / REF_LEN, deepest);
    free(ref), free(touched), free(votes), free(depth), free(table.start), free(table.pos);
    return 0;
}
