/* Headless arena server: simulates the match and produces the network
 * snapshots that would be sent to every connected client. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <dwell/probe.h>

#define ENTITIES 900
#define TEAMS 4
#define CLIENTS 20
#define CELL 16.0f
#define GRID 32
#define WORLD (CELL * GRID)
#define TICKS 1500
#define SIGHT 180.0f

typedef struct {
    float x, y, vx, vy;
    int16_t hp;
    uint8_t team, state;
    int next;
} Entity;

typedef struct {
    int team;
    uint64_t sent_bytes;
    uint32_t crc;
    uint32_t packets;
} Client;

typedef struct {
    uint8_t data[ENTITIES * 12 + 64];
    size_t len;
} Snapshot;

static Entity ents[ENTITIES];
static Client clients[CLIENTS];
static int heads[GRID * GRID];
static uint32_t seed = 12345u;

static uint32_t rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static float frand(float lo, float hi)
{
    return lo + (hi - lo) * (float)(rnd() & 0xffff) / 65535.0f;
}

static int cell_of(float x, float y)
{
    int cx = (int)(x / CELL), cy = (int)(y / CELL);
    if (cx < 0) cx = 0;
    if (cy < 0) cy = 0;
    if (cx >= GRID) cx = GRID - 1;
    if (cy >= GRID) cy = GRID - 1;
    return cy * GRID + cx;
}

static void world_init(void)
{
    for (int i = 0; i < ENTITIES; i++) {
        Entity *e = &ents[i];
        e->x = frand(0, WORLD);
        e->y = frand(0, WORLD);
        e->vx = frand(-3, 3);
        e->vy = frand(-3, 3);
        e->hp = 100;
        e->team = (uint8_t)(i % TEAMS);
    }
    for (int i = 0; i < CLIENTS; i++)
        clients[i].team = i % TEAMS;
}

static void world_step(void)
{
    for (int i = 0; i < GRID * GRID; i++)
        heads[i] = -1;
    for (int i = 0; i < ENTITIES; i++) {
        Entity *e = &ents[i];
        e->x += e->vx;
        e->y += e->vy;
        if (e->x < 0 || e->x > WORLD) e->vx = -e->vx;
        if (e->y < 0 || e->y > WORLD) e->vy = -e->vy;
        int c = cell_of(e->x, e->y);
        e->next = heads[c];
        heads[c] = i;
    }
    for (int i = 0; i < ENTITIES; i++) {
        Entity *e = &ents[i];
        int c = cell_of(e->x, e->y), cx = c % GRID, cy = c / GRID;
        for (int y = cy - 2; y <= cy + 2; y++)
            for (int x = cx - 2; x <= cx + 2; x++) {
                if (x < 0 || y < 0 || x >= GRID || y >= GRID) continue;
                for (int j = heads[y * GRID + x]; j >= 0; j = ents[j].next) {
                    Entity *o = &ents[j];
                    if (o->team == e->team) continue;
                    float dx = o->x - e->x, dy = o->y - e->y;
                    float d = sqrtf(dx * dx + dy * dy) + 0.01f;
                    if (d < 30.0f) {
                        e->vx -= 0.02f * dx / d;
                        e->vy -= 0.02f * dy / d;
                        e->state |= 1;
                        if ((rnd() & 63) == 0) o->hp--;
                    }
                }
            }
        if (e->hp <= 0) {
            e->hp = 100;
            e->x = frand(0, WORLD);
            e->y = frand(0, WORLD);
        }
    }
}

static void put16(Snapshot *s, int v)
{
    s->data[s->len++] = (uint8_t)(v & 255);
    s->data[s->len++] = (uint8_t)(v >> 8);
}

/* What a team may know: its own units, and enemies near its rally point. */
static void snapshot_for_team(Snapshot *s, int team, int tick)
{
    float rx = WORLD * (0.25f + 0.5f * (team & 1)), ry = WORLD * (0.25f + 0.5f * (team >> 1));
    s->len = 0;
    put16(s, tick);
    for (int i = 0; i < ENTITIES; i++) {
        const Entity *e = &ents[i];
        if (e->team != team && hypotf(e->x - rx, e->y - ry) > SIGHT) continue;
        put16(s, i);
        put16(s, (int)(e->x * 16));
        put16(s, (int)(e->y * 16));
        put16(s, (int)(e->vx * 64));
        put16(s, (int)(e->vy * 64));
        put16(s, e->hp | e->state << 8);
    }
}

static void send_packet(Client *c, const uint8_t *p, size_t n)
{
    c->sent_bytes += n;
    c->crc = (uint32_t)crc32(c->crc, p, (uInt)n);
    c->packets++;
}

static void broadcast(int tick)
{
    static Snapshot snap;
    static uint8_t packet[sizeof snap.data + 256];
    for (int i = 0; i < CLIENTS; i++) {
        uLongf n = sizeof packet;
        snapshot_for_team(&snap, clients[i].team, tick);
        compress2(packet, &n, snap.data, snap.len, 6);
        send_packet(&clients[i], packet, n);
    }
}

int main(void)
{
    world_init();
    for (int tick = 0; tick < TICKS; tick++) {
        DWELL_STEP();
        world_step();
        broadcast(tick);
    }
    uint64_t total = 0;
    uint32_t mix = 0;
    for (int i = 0; i < CLIENTS; i++) {
        total += clients[i].sent_bytes;
        mix = mix * 31 + clients[i].crc;
    }
    printf("ticks %d clients %d bytes %llu check %08x\n", TICKS, CLIENTS,
           (unsigned long long)total, mix);
    return 0;
}
