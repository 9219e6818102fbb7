/* flowstat: per-connection accounting over a packet stream.  Reads headers
 * from a generated capture of a branch office behind NAT, keeps a table of
 * flows, tracks TCP state, expires idle flows, and reports top talkers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS (1u << 16)
#define HOSTS 256
#define SERVERS 240
#define PACKETS 60000000u
#define IDLE_LIMIT 400000u

enum { F_FIN = 1, F_SYN = 2, F_RST = 4, F_ACK = 16 };
enum { ST_NEW, ST_SYN, ST_EST, ST_FIN, ST_CLOSED };

typedef struct {
    uint32_t src, dst;
    uint16_t sport, dport;
    uint8_t proto, flags;
    uint16_t len;
    uint32_t ts;
} pkt_t;

typedef struct flow {
    struct flow *next;
    uint32_t lo_ip, hi_ip;
    uint16_t lo_port, hi_port;
    uint8_t proto, state;
    uint32_t first, last;
    uint64_t bytes[2], pkts[2];
} flow_t;

typedef struct {
    flow_t *bucket[BUCKETS];
    flow_t *freelist;
    size_t live, peak, created, expired;
    uint32_t sweep;
    uint64_t bytes, per_host[HOSTS], by_state[5];
} flowtab_t;

static uint64_t seed = 88172645463325252ULL;
static uint32_t rnd32(void) {
    seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

/* Connections the generator currently has open. */
typedef struct { uint32_t c, s; uint16_t cp, sp; uint8_t proto; uint16_t left; uint8_t stage; } conn_t;
#define OPEN 6000
static conn_t conns[OPEN];
static uint16_t next_port[HOSTS];

static void conn_new(conn_t *c) {
    static const uint16_t services[] = { 443, 443, 443, 80, 53, 993, 22, 8443 };
    uint32_t h = rnd32() % HOSTS;
    c->c = 0x0a140000u | h;
    c->s = 0x0a150000u | (rnd32() % SERVERS);
    c->sp = services[rnd32() & 7];
    c->cp = (uint16_t)(32768 + (next_port[h]++ % 28000));
    c->proto = c->sp == 53 ? 17 : 6;
    c->left = (uint16_t)(3 + rnd32() % 200);
    c->stage = 0;
}

static void next_packet(pkt_t *p, uint32_t ts) {
    conn_t *c = &conns[rnd32() % OPEN];
    if (c->left == 0) conn_new(c);
    int up = (rnd32() & 3) == 0 || c->stage == 0;
    p->src = up ? c->c : c->s;  p->dst = up ? c->s : c->c;
    p->sport = up ? c->cp : c->sp;  p->dport = up ? c->sp : c->cp;
    p->proto = c->proto;
    p->flags = c->stage == 0 ? F_SYN : c->left == 1 ? F_FIN | F_ACK : F_ACK;
    p->len = (uint16_t)(up ? 60 + rnd32() % 200 : 200 + rnd32() % 1260);
    p->ts = ts;
    c->stage = 1;
    c->left--;
}

/* Symmetric, so that both directions of a connection meet in one bucket. */
static inline uint32_t flow_hash(uint32_t a, uint32_t b, uint16_t pa, uint16_t pb, uint8_t proto) {
    uint64_t h = (((uint64_t)a << 32) | b) * 0x9e3779b97f4a7c15ull;
    h ^= (((uint64_t)pa << 24) | ((uint64_t)pb << 8) | proto) * 0xc2b2ae3d27d4eb4full;
    h ^= h >> 29;
    return (uint32_t)((h * 0x9e3779b97f4a7c15ull) >> 48) & (BUCKETS - 1);
}

static flow_t *flow_lookup(flowtab_t *t, const pkt_t *p, int *dir) {
    uint32_t a = p->src, b = p->dst;
    uint16_t pa = p->sport, pb = p->dport;
    *dir = 0;
    if (a > b) {
        uint32_t x = a; a = b; b = x;
        uint16_t y = pa; pa = pb; pb = y;
        *dir = 1;
    }
    flow_t **head = &t->bucket[flow_hash(a, b, pa, pb, p->proto)];
    for (flow_t *f = *head; f; f = f->next)
        if (f->lo_ip == a && f->hi_ip == b && f->lo_port == pa && f->hi_port == pb && f->proto == p->proto)
            return f;
    flow_t *f = t->freelist;
    if (f) t->freelist = f->next;
    else if (!(f = malloc(sizeof *f))) abort();
    memset(f, 0, sizeof *f);
    f->lo_ip = a; f->hi_ip = b; f->lo_port = pa; f->hi_port = pb; f->proto = p->proto;
    f->first = p->ts;
    f->next = *head;
    *head = f;
    t->created++;
    if (++t->live > t->peak) t->peak = t->live;
    return f;
}

static void flow_update(flow_t *f, const pkt_t *p, int dir) {
    f->bytes[dir] += p->len;
    f->pkts[dir]++;
    f->last = p->ts;
    if (p->proto != 6) { f->state = ST_EST; return; }
    if (p->flags & F_RST) f->state = ST_CLOSED;
    else if (p->flags & F_FIN) f->state = f->state == ST_FIN ? ST_CLOSED : ST_FIN;
    else if (p->flags & F_SYN) f->state = ST_SYN;
    else if (f->state == ST_SYN || f->state == ST_NEW) f->state = ST_EST;
}

static void flow_account(flowtab_t *t, const flow_t *f) {
    uint64_t n = f->bytes[0] + f->bytes[1];
    t->bytes += n;
    t->per_host[f->lo_ip & (HOSTS - 1)] += n;
    t->by_state[f->state]++;
}

/* Walks a slice of the table for each batch, so that no pause is long. */
static void flow_sweep(flowtab_t *t, uint32_t now) {
    for (int i = 0; i < 512; i++) {
        flow_t **link = &t->bucket[t->sweep++ & (BUCKETS - 1)];
        while (*link) {
            flow_t *f = *link;
            uint32_t limit = f->state >= ST_FIN ? IDLE_LIMIT / 8 : IDLE_LIMIT;
            if (now - f->last < limit) { link = &f->next; continue; }
            *link = f->next;
            flow_account(t, f);
            f->next = t->freelist;
            t->freelist = f;
            t->live--; t->expired++;
        }
    }
}

static void report(flowtab_t *t) {
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (const flow_t *f = t->bucket[i]; f; f = f->next) flow_account(t, f);
    int top = 0;
    for (int i = 1; i < HOSTS; i++) if (t->per_host[i] > t->per_host[top]) top = i;
    printf("flows %zu, bytes %llu, finished %llu established %llu, top host 10.20.0.%d with %llu\n", t->created,
           (unsigned long long)t->bytes, (unsigned long long)t->by_state[ST_FIN], (unsigned long long)t->by_state[ST_EST],
           top, (unsigned long long)t->per_host[top]);
}

int main(void) {
    flowtab_t *t = calloc(1, sizeof *t);
    if (!t) return 1;
    for (int i = 0; i < HOSTS; i++) next_port[i] = (uint16_t)(rnd32() % 28000);
    for (int i = 0; i < OPEN; i++) conn_new(&conns[i]);
    pkt_t batch[256];
    uint32_t ts = 0;
    while (ts < PACKETS) {
        int n = 0;
        for (; n < 256; n++) next_packet(&batch[n], ts++);
        for (int i = 0; i < n; i++) {
            int dir;
            flow_t *f = flow_lookup(t, &batch[i], &dir);
            flow_update(f, &batch[i], dir);
        }
        flow_sweep(t, ts);
    }
    report(t);
    free(t);
    return 0;
}
