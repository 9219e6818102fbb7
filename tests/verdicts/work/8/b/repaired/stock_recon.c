/*
 * stock_recon: replays the handheld scans of a warehouse shift by shift,
 * posts the stock movements and reports the variance against the counts.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include <zlib.h>
#include <dwell/probe.h>

#define ITEMS 6000
#define SHIFTS 200
#define SCANS_PER_SHIFT 100

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

static uint32_t rnd(uint32_t n)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)((rng_state >> 20) % n);
}

static void die(sqlite3 *db, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void run_sql(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(db, sql);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        die(db, sql);
    return st;
}

static void make_sku(int i, char *out, size_t cap)
{
    static const char *family[] = { "Bolt", "Gasket", "Rotor", "Valve", "Seal", "Shim" };
    snprintf(out, cap, "%s-%05d-%c%c", family[i % 6], i, 'A' + i % 23, 'a' + i % 19);
}

/* Handhelds of different makes report the code in different cases. */
static void scan_label(int i, char *out, size_t cap)
{
    make_sku(i, out, cap);
    switch (rnd(3)) {
    case 0:
        for (char *p = out; *p; p++)
            *p = (char)toupper((unsigned char)*p);
        break;
    case 1:
        for (char *p = out; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        break;
    default:
        break;
    }
}

static void load_catalog(sqlite3 *db)
{
    run_sql(db,
            "CREATE TABLE item(id INTEGER PRIMARY KEY, sku TEXT NOT NULL COLLATE NOCASE,"
            " bin INTEGER NOT NULL, on_hand INTEGER NOT NULL);"
            "CREATE UNIQUE INDEX item_sku ON item(sku);"
            "CREATE TABLE movement(id INTEGER PRIMARY KEY, shift INTEGER NOT NULL,"
            " item INTEGER NOT NULL, delta INTEGER NOT NULL, audit INTEGER NOT NULL);"
            "CREATE INDEX movement_shift ON movement(shift, item);"
            "BEGIN");
    sqlite3_stmt *ins = prepare(db, "INSERT INTO item(id, sku, bin, on_hand) VALUES(?1,?2,?3,?4)");
    for (int i = 0; i < ITEMS; i++) {
        char sku[32];
        make_sku(i, sku, sizeof sku);
        sqlite3_bind_int(ins, 1, i + 1);
        sqlite3_bind_text(ins, 2, sku, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(ins, 3, (int)rnd(400));
        sqlite3_bind_int(ins, 4, 50 + (int)rnd(500));
        if (sqlite3_step(ins) != SQLITE_DONE)
            die(db, "insert item");
        sqlite3_reset(ins);
    }
    sqlite3_finalize(ins);
    run_sql(db, "COMMIT");
}

struct desk {
    sqlite3 *db;
    sqlite3_stmt *find, *post, *move, *by_bin;
    uint32_t audit;
    long unknown, moved;
};

static int find_item(struct desk *d, const char *label, int *on_hand)
{
    int id = 0;
    sqlite3_bind_text(d->find, 1, label, -1, SQLITE_TRANSIENT);
    if (sqlite3_step(d->find) == SQLITE_ROW) {
        id = sqlite3_column_int(d->find, 0);
        *on_hand = sqlite3_column_int(d->find, 1);
    }
    sqlite3_reset(d->find);
    return id;
}

static void post_scan(struct desk *d, int shift, const char *label, int delta)
{
    int on_hand = 0;
    int id = find_item(d, label, &on_hand);
    if (!id) {
        d->unknown++;
        return;
    }
    if (on_hand + delta < 0)
        delta = -on_hand;
    int rec[3] = { shift, id, delta };
    d->audit = (uint32_t)crc32(d->audit, (const Bytef *)rec, sizeof rec);
    sqlite3_bind_int(d->move, 1, id);
    sqlite3_bind_int(d->move, 2, delta);
    if (sqlite3_step(d->move) != SQLITE_DONE)
        die(d->db, "update item");
    sqlite3_reset(d->move);
    sqlite3_bind_int(d->post, 1, shift);
    sqlite3_bind_int(d->post, 2, id);
    sqlite3_bind_int(d->post, 3, delta);
    sqlite3_bind_int64(d->post, 4, d->audit);
    if (sqlite3_step(d->post) != SQLITE_DONE)
        die(d->db, "insert movement");
    sqlite3_reset(d->post);
    d->moved += delta;
}

/* Stock per bin after the shift, weighted by the bin, as the report prints it. */
static long long shift_report(struct desk *d)
{
    long long sum = 0;
    while (sqlite3_step(d->by_bin) == SQLITE_ROW)
        sum += sqlite3_column_int64(d->by_bin, 0) * sqlite3_column_int64(d->by_bin, 1);
    sqlite3_reset(d->by_bin);
    return sum;
}

int main(void)
{
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        die(db, "open");
    load_catalog(db);
    struct desk d = { .db = db };
    d.find = prepare(db, "SELECT id, on_hand FROM item WHERE sku = ?1");
    d.move = prepare(db, "UPDATE item SET on_hand = on_hand + ?2 WHERE id = ?1");
    d.post = prepare(db, "INSERT INTO movement(shift, item, delta, audit) VALUES(?1,?2,?3,?4)");
    d.by_bin = prepare(db, "SELECT bin, sum(on_hand) FROM item GROUP BY bin ORDER BY bin");

    long long check = 0;
    for (int shift = 0; shift < SHIFTS; shift++) {
        DWELL_STEP();
        run_sql(db, "BEGIN");
        for (int s = 0; s < SCANS_PER_SHIFT; s++) {
            char label[32];
            scan_label((int)rnd(ITEMS + 40), label, sizeof label);
            post_scan(&d, shift, label, (int)rnd(41) - 22);
        }
        run_sql(db, "COMMIT");
        check ^= shift_report(&d) + shift;
    }
    printf("shifts %d moved %ld unknown %ld audit %08x check %lld\n",
           SHIFTS, d.moved, d.unknown, d.audit, check);
    sqlite3_finalize(d.find);
    sqlite3_finalize(d.move);
    sqlite3_finalize(d.post);
    sqlite3_finalize(d.by_bin);
    sqlite3_close(db);
    return 0;
}
