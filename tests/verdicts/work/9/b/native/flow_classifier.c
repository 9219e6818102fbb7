/* Classifies packets with a prefix trie and keeps flow and class statistics,
 * splitting each captured burst between two workers. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 2
#define BURST 128
#define BURSTS 110000
#define FLOWS (1 << 14)
#define PREFIXES 20000

typedef struct { uint32_t src, dst; uint16_t sport, dport, len; uint8_t proto; uint8_t class_id; } Packet;
typedef struct { int child[2]; int class_id; } Node;
typedef struct { uint64_t packets, bytes; } Flow;

typedef struct {
    uint64_t seed, packets;
    Flow flows[FLOWS];
    uint64_t class_bytes[16];
} Worker;

static Node *trie;
static int trie_used = 1;
static Worker *worker[WORKERS];

static uint32_t mix(uint64_t *s)
{
    *s += 0x9e3779b97f4a7c15ull;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)(z ^ (z >> 31));
}

static void trie_insert(uint32_t prefix, int bits, int class_id)
{
    int n = 0;
    for (int i = 0; i < bits; i++) {
        int b = prefix >> (31 - i) & 1;
        if (!trie[n].child[b]) {
            trie[trie_used].class_id = -1;
            trie[n].child[b] = trie_used++;
        }
        n = trie[n].child[b];
    }
    trie[n].class_id = class_id;
}

static int trie_lookup(uint32_t addr)
{
    int n = 0, best = 0;
    for (int i = 0; i < 32; i++) {
        n = trie[n].child[addr >> (31 - i) & 1];
        if (!n)
            break;
        if (trie[n].class_id >= 0)
            best = trie[n].class_id;
    }
    return best;
}

static uint16_t checksum(const unsigned char *p, int n)
{
    uint32_t sum = 0;
    for (int i = 0; i + 1 < n; i += 2)
        sum += (uint32_t)(p[i] << 8 | p[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void decode(Packet *p, uint64_t *s)
{
    unsigned char frame[256];
    for (int i = 0; i < 256; i += 4) {
        uint32_t v = mix(s);
        memcpy(frame + i, &v, 4);
    }
    memcpy(&p->src, frame + 12, 4);
    memcpy(&p->dst, frame + 16, 4);
    p->sport = frame[20] << 8 | frame[21];
    p->dport = frame[22] << 8 | frame[23];
    p->proto = frame[9] & 1 ? 6 : 17;
    p->len = 64 + checksum(frame, 256) % 1400;
    p->class_id = (uint8_t)trie_lookup(p->dst);
}

static void account(Worker *w, const Packet *p)
{
    uint32_t h = (p->src ^ p->dst * 31u ^ (uint32_t)p->sport << 8 ^ p->dport ^ p->proto) * 2654435761u;
    Flow *f = &w->flows[h >> 18];
    f->packets++;
    f->bytes += p->len;
    w->class_bytes[p->class_id & 15] += p->len;
}

static void *run_share(void *arg)
{
    Worker *w = arg;
    Packet p;
    for (int k = 0; k < BURST / WORKERS; k++) {
        decode(&p, &w->seed);
        account(w, &p);
        w->packets++;
    }
    return NULL;
}

static void process_burst(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, run_share, worker[i]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
}

int main(void)
{
    uint64_t seed = 7, total = 0;
    trie = calloc((size_t)PREFIXES * 26 + 1, sizeof *trie);
    trie[0].class_id = -1;
    for (int i = 0; i < PREFIXES; i++) {
        uint32_t prefix = mix(&seed);
        trie_insert(prefix, 8 + (int)(mix(&seed) % 17), i % 16);
    }
    for (int i = 0; i < WORKERS; i++) {
        worker[i] = calloc(1, sizeof *worker[i]);
        worker[i]->seed = 1000003u * (i + 1);
    }

    for (int i = 0; i < BURSTS; i++)
        process_burst();

    static Flow all[FLOWS];
    uint64_t class_bytes[16] = { 0 };
    int busiest = 0;
    for (int i = 0; i < WORKERS; i++) {
        total += worker[i]->packets;
        for (int f = 0; f < FLOWS; f++) {
            all[f].packets += worker[i]->flows[f].packets;
            all[f].bytes += worker[i]->flows[f].bytes;
        }
        for (int c = 0; c < 16; c++)
            class_bytes[c] += worker[i]->class_bytes[c];
        free(worker[i]);
    }
    for (int f = 0; f < FLOWS; f++)
        if (all[f].bytes > all[busiest].bytes)
            busiest = f;
    printf("packets %llu busiest %d bytes %llu\n", (unsigned long long)total, busiest,
           (unsigned long long)all[busiest].bytes);
    for (int i = 0; i < 16; i++)
        printf("class %2d %llu\n", i, (unsigned long long)class_bytes[i]);
    free(trie);
    return 0;
}
