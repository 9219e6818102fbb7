/* Aggregates packet records of a border router into bidirectional flows.
 *
 * Packets of both directions of a connection belong to the same flow.  Flows
 * that have been idle are exported at the end of each interval.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS (1u << 17)
#define INTERVALS 20
#define PACKETS_PER_INTERVAL 250000
#define CLIENTS 2000
#define SERVERS 48

struct packet {
    uint32_t src, dst;
    uint16_t sport, dport;
    uint16_t length;
    uint8_t proto, flags;
    uint32_t ts;
};

struct flow {
    uint32_t a, b;
    uint16_t aport, bport;
    uint8_t proto;
    uint32_t first, last;
    uint32_t packets[2];
    uint64_t bytes[2];
    struct flow *next;
};

struct table {
    struct flow *bucket[BUCKETS];
    struct flow *free_list;
    size_t live;
};

struct totals {
    uint64_t flows, packets, bytes, oneway, longest;
    uint64_t by_port[1024];
};

static uint64_t rs = 88172645463325252ull;

static uint32_t rnd(void)
{
    rs ^= rs << 7;
    rs ^= rs >> 9;
    return (uint32_t)(rs >> 16);
}

/* Both directions must land in the same bucket. */
static uint32_t flow_bucket(const struct packet *p)
{
    uint64_t a = (uint64_t)p->src << 16 | p->sport, b = (uint64_t)p->dst << 16 | p->dport;
    uint64_t lo = a < b ? a : b, hi = a < b ? b : a;
    uint64_t h = (lo * 0x9e3779b97f4a7c15ull ^ (hi + p->proto)) * 0xff51afd7ed558ccdull;
    h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(h >> 40) & (BUCKETS - 1);
}

static struct flow *flow_alloc(struct table *t)
{
    if (!t->free_list) {
        struct flow *block = calloc(1024, sizeof *block);
        if (!block)
            exit(1);
        for (int i = 0; i < 1024; i++) {
            block[i].next = t->free_list;
            t->free_list = &block[i];
        }
    }
    struct flow *f = t->free_list;
    t->free_list = f->next;
    memset(f, 0, sizeof *f);
    t->live++;
    return f;
}

static struct flow *flow_get(struct table *t, const struct packet *p, int *dir)
{
    uint32_t h = flow_bucket(p);
    for (struct flow *f = t->bucket[h]; f; f = f->next) {
        if (f->proto != p->proto)
            continue;
        if (f->a == p->src && f->b == p->dst && f->aport == p->sport && f->bport == p->dport) {
            *dir = 0;
            return f;
        }
        if (f->a == p->dst && f->b == p->src && f->aport == p->dport && f->bport == p->sport) {
            *dir = 1;
            return f;
        }
    }
    struct flow *f = flow_alloc(t);
    f->a = p->src;
    f->b = p->dst;
    f->aport = p->sport;
    f->bport = p->dport;
    f->proto = p->proto;
    f->first = p->ts;
    f->next = t->bucket[h];
    t->bucket[h] = f;
    *dir = 0;
    return f;
}

static void account(struct table *t, const struct packet *p)
{
    int dir;
    struct flow *f = flow_get(t, p, &dir);
    f->packets[dir]++;
    f->bytes[dir] += p->length;
    f->last = p->ts;
}

static void export_idle(struct table *t, uint32_t before, struct totals *sum)
{
    for (uint32_t h = 0; h < BUCKETS; h++) {
        struct flow **link = &t->bucket[h];
        while (*link) {
            struct flow *f = *link;
            if (f->last >= before) {
                link = &f->next;
                continue;
            }
            *link = f->next;
            sum->flows++;
            sum->packets += f->packets[0] + f->packets[1];
            sum->bytes += f->bytes[0] + f->bytes[1];
            sum->oneway += !f->packets[1];
            if (f->last - f->first > sum->longest)
                sum->longest = f->last - f->first;
            sum->by_port[(f->bport < f->aport ? f->bport : f->aport) & 1023] += f->bytes[0] + f->bytes[1];
            f->next = t->free_list;
            t->free_list = f;
            t->live--;
        }
    }
}

static void synthesise(struct packet *p, uint32_t ts)
{
    static const uint16_t ports[6] = {443, 80, 53, 22, 25, 993};
    uint32_t client = 0x0a100000u + rnd() % CLIENTS * 4 + 2; /* a /30 each */
    uint32_t server = 0x0a200000u + ((client >> 2) * 7 + rnd() % 4) % SERVERS;
    uint16_t cport = (uint16_t)(32768 + rnd() % 8);
    uint16_t sport = ports[(rnd() & rnd()) % 6];
    p->proto = sport == 53 ? 17 : 6;
    p->flags = (uint8_t)(rnd() & 0x1f);
    p->length = (uint16_t)(64 + rnd() % 1400);
    p->ts = ts;
    int back = rnd() % 5 < 2;
    p->src = back ? server : client;
    p->dst = back ? client : server;
    p->sport = back ? sport : cport;
    p->dport = back ? cport : sport;
}

int main(void)
{
    struct table *t = calloc(1, sizeof *t);
    struct packet *batch = malloc(sizeof *batch * PACKETS_PER_INTERVAL);
    struct totals sum = {0};
    size_t peak = 0;
    for (uint32_t iv = 0; iv < INTERVALS; iv++) {
        for (uint32_t i = 0; i < PACKETS_PER_INTERVAL; i++)
            synthesise(&batch[i], iv * 60000 + i / 12);
        for (uint32_t i = 0; i < PACKETS_PER_INTERVAL; i++)
            account(t, &batch[i]);
        if (t->live > peak)
            peak = t->live;
        export_idle(t, iv * 60000 + 40000, &sum);
    }
    export_idle(t, UINT32_MAX, &sum);
    printf("flows %llu, peak %zu, packets %llu, bytes %llu, one-way %llu, longest %llu ms\n",
           (unsigned long long)sum.flows, peak, (unsigned long long)sum.packets,
           (unsigned long long)sum.bytes, (unsigned long long)sum.oneway,
           (unsigned long long)sum.longest);
    printf("https %llu, dns %llu\n", (unsigned long long)sum.by_port[443],
           (unsigned long long)sum.by_port[53]);
    free(batch);
    return 0;
}
