/*
 * flowtable: per-flow accounting for the border routers.
 *
 * Packet headers arrive in bursts.  Each packet is matched to its flow (five
 * tuple), the flow's counters are updated, idle flows are exported at regular
 * intervals, and the exporter keeps a summary by destination service.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define BUCKETS (1u << 16)
#define BURSTS 3800
#define BURST_SIZE 4000
#define IDLE_BURSTS 60
#define CLIENTS 6000
#define SERVERS 48

struct flow_key {
    uint32_t src, dst;          /* network byte order, as on the wire */
    uint16_t sport, dport;      /* network byte order */
    uint8_t proto, pad[3];
};

struct flow {
    struct flow_key key;
    uint32_t last_seen;
    uint32_t packets;
    uint64_t bytes;
    struct flow *next;
};

struct packet {
    struct flow_key key;
    uint16_t length;
};

struct table {
    struct flow *bucket[BUCKETS];
    struct flow *free_list;
    size_t active, peak;
};

struct service { uint64_t flows, packets, bytes; };

static const uint16_t PORTS[] = {443, 80, 53, 22, 993, 8443, 123, 5432};
#define NPORTS (sizeof PORTS / sizeof PORTS[0])

static uint64_t rng = 88172645463325252ull;

static uint32_t rnd(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 32);
}

static uint32_t be32(uint32_t v) { return __builtin_bswap32(v); }
static uint16_t be16(uint16_t v) { return __builtin_bswap16(v); }

static void capture_burst(struct packet *p, int n, uint32_t burst)
{
    for (int i = 0; i < n; i++) {
        uint32_t client = (burst * 3 + rnd() % 900) % CLIENTS;
        uint32_t server = (client * 7 + rnd() % 3) % SERVERS;
        uint32_t port = (client / 5 + server) % NPORTS;
        memset(&p[i], 0, sizeof p[i]);
        p[i].key.src = be32(0x0a140000u + client);
        p[i].key.dst = be32(0xc6336400u + server);
        p[i].key.sport = be16((uint16_t)(32768 + client * 5 + rnd() % 12));
        p[i].key.dport = be16(PORTS[port]);
        p[i].key.proto = (PORTS[port] == 53 || PORTS[port] == 123) ? 17 : 6;
        p[i].length = (uint16_t)(64 + rnd() % 1400);
    }
}

static uint32_t flow_hash(const struct flow_key *k)
{
    const uint8_t *p = (const uint8_t *)k;
    uint32_t h = 0;
    for (size_t i = 0; i < sizeof *k; i++)
        h += p[i];
    return h & (BUCKETS - 1);
}

static struct flow *flow_new(struct table *t)
{
    if (!t->free_list) {
        size_t n = 1024;
        struct flow *slab = calloc(n, sizeof *slab);
        if (!slab)
            abort();
        for (size_t i = 0; i < n; i++) {
            slab[i].next = t->free_list;
            t->free_list = &slab[i];
        }
    }
    struct flow *f = t->free_list;
    t->free_list = f->next;
    if (++t->active > t->peak)
        t->peak = t->active;
    return f;
}

static void account(struct table *t, const struct packet *p, uint32_t now)
{
    struct flow **head = &t->bucket[flow_hash(&p->key)];
    struct flow *f;

    for (f = *head; f; f = f->next)
        if (memcmp(&f->key, &p->key, sizeof f->key) == 0)
            break;
    if (!f) {
        f = flow_new(t);
        f->key = p->key;
        f->packets = 0;
        f->bytes = 0;
        f->next = *head;
        *head = f;
    }
    f->packets++;
    f->bytes += p->length;
    f->last_seen = now;
}

static int service_index(uint16_t dport)
{
    for (size_t i = 0; i < NPORTS; i++)
        if (be16(PORTS[i]) == dport)
            return (int)i;
    return 0;
}

/* Moves flows that were idle for IDLE_BURSTS to the export summary. */
static size_t expire(struct table *t, struct service *svc, uint32_t now, uint32_t idle)
{
    size_t exported = 0;
    for (uint32_t b = 0; b < BUCKETS; b++) {
        struct flow **link = &t->bucket[b];
        while (*link) {
            struct flow *f = *link;
            if (now - f->last_seen >= idle) {
                struct service *s = &svc[service_index(f->key.dport)];
                s->flows++;
                s->packets += f->packets;
                s->bytes += f->bytes;
                *link = f->next;
                f->next = t->free_list;
                t->free_list = f;
                t->active--;
                exported++;
            } else {
                link = &f->next;
            }
        }
    }
    return exported;
}

int main(void)
{
    static struct table table;
    static struct packet burst[BURST_SIZE];
    struct service svc[NPORTS] = {{0, 0, 0}};
    size_t exported = 0;

    for (uint32_t b = 0; b < BURSTS; b++) {
        DWELL_STEP();
        capture_burst(burst, BURST_SIZE, b);
        for (int i = 0; i < BURST_SIZE; i++)
            account(&table, &burst[i], b);
        if (b % 20 == 19)
            exported += expire(&table, svc, b, IDLE_BURSTS);
    }
    exported += expire(&table, svc, BURSTS, 0);

    printf("flows exported %zu, peak active %zu\n", exported, table.peak);
    for (size_t i = 0; i < NPORTS; i++)
        printf("port %5u  flows %8llu  packets %9llu  bytes %12llu\n", PORTS[i],
               (unsigned long long)svc[i].flows, (unsigned long long)svc[i].packets,
               (unsigned long long)svc[i].bytes);
    return 0;
}
