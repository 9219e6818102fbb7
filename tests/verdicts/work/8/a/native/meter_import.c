/*
 * meter_import: nightly import of smart-meter telegrams into the billing store.
 *
 * Telegrams arrive in batches from the head-end system.  A telegram is
 * validated, upserted into the interval table and added to the daily total of
 * its meter.  At the end the tariff report is made from the store.
 */
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define METERS 3000
#define BATCHES 240
#define BATCH_SIZE 2000

struct telegram {
    int meter;
    int day;
    int slot;         /* quarter hour of the day */
    int wh;           /* energy in the interval */
    uint16_t status;
    uint16_t crc;
};

struct importer {
    sqlite3 *db;
    long accepted;
    long rejected;
};

static uint32_t seed = 20240611u;

static uint32_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static void check(sqlite3 *db, int rc, const char *what)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static void run(sqlite3 *db, const char *sql)
{
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static uint16_t crc16(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint16_t crc = 0xffff;
    while (n--) {
        crc ^= *p++;
        for (int k = 0; k < 8; k++)
            crc = (crc & 1) ? (crc >> 1) ^ 0xa001 : crc >> 1;
    }
    return crc;
}

static void receive_batch(struct telegram *batch, int n, int number)
{
    for (int i = 0; i < n; i++) {
        struct telegram *t = &batch[i];
        memset(t, 0, sizeof *t);
        t->meter = (int)(next_random() % METERS);
        t->day = number / 8;
        t->slot = (int)(next_random() % 96);
        t->wh = 20 + (int)(next_random() % 900);
        t->status = (next_random() % 50 == 0) ? 0x8000 : 0;
        t->crc = crc16(t, offsetof(struct telegram, crc));
        if (next_random() % 400 == 0)
            t->crc ^= 0x40;
    }
}

static int valid(const struct telegram *t)
{
    return crc16(t, offsetof(struct telegram, crc)) == t->crc && t->slot < 96;
}

static void importer_open(struct importer *im)
{
    memset(im, 0, sizeof *im);
    check(im->db, sqlite3_open(":memory:", &im->db), "open");
    run(im->db, "PRAGMA cache_size=-65536");
    run(im->db, "CREATE TABLE meter(id INTEGER PRIMARY KEY, tariff INTEGER NOT NULL)");
    run(im->db, "CREATE TABLE interval(meter INTEGER, day INTEGER, slot INTEGER,"
                " wh INTEGER, estimated INTEGER,"
                " PRIMARY KEY(meter, day, slot)) WITHOUT ROWID");
    run(im->db, "CREATE TABLE daily(meter INTEGER, day INTEGER, wh INTEGER, n INTEGER,"
                " PRIMARY KEY(meter, day)) WITHOUT ROWID");
    run(im->db, "BEGIN");
    for (int m = 0; m < METERS; m++) {
        char sql[128];
        snprintf(sql, sizeof sql, "INSERT INTO meter VALUES(%d, %d)", m, m % 4);
        run(im->db, sql);
    }
    run(im->db, "COMMIT");
}

static void store(struct importer *im, const struct telegram *t)
{
    sqlite3_stmt *st;

    check(im->db, sqlite3_prepare_v2(im->db,
          "INSERT INTO interval(meter, day, slot, wh, estimated)"
          " VALUES(?1, ?2, ?3, ?4, ?5)"
          " ON CONFLICT(meter, day, slot) DO UPDATE SET wh = excluded.wh,"
          " estimated = min(estimated, excluded.estimated)",
          -1, &st, NULL), "prepare interval");
    sqlite3_bind_int(st, 1, t->meter);
    sqlite3_bind_int(st, 2, t->day);
    sqlite3_bind_int(st, 3, t->slot);
    sqlite3_bind_int(st, 4, t->wh);
    sqlite3_bind_int(st, 5, (t->status & 0x8000) != 0);
    check(im->db, sqlite3_step(st), "store interval");
    sqlite3_finalize(st);

    check(im->db, sqlite3_prepare_v2(im->db,
          "INSERT INTO daily(meter, day, wh, n) VALUES(?1, ?2, ?3, 1)"
          " ON CONFLICT(meter, day) DO UPDATE SET wh = wh + excluded.wh, n = n + 1",
          -1, &st, NULL), "prepare daily");
    sqlite3_bind_int(st, 1, t->meter);
    sqlite3_bind_int(st, 2, t->day);
    sqlite3_bind_int(st, 3, t->wh);
    check(im->db, sqlite3_step(st), "store daily");
    sqlite3_finalize(st);
}

static void import_batch(struct importer *im, const struct telegram *batch, int n)
{
    run(im->db, "BEGIN");
    for (int i = 0; i < n; i++) {
        if (!valid(&batch[i])) {
            im->rejected++;
            continue;
        }
        store(im, &batch[i]);
        im->accepted++;
    }
    run(im->db, "COMMIT");
}

static void report(struct importer *im)
{
    sqlite3_stmt *st;
    check(im->db, sqlite3_prepare_v2(im->db,
          "SELECT m.tariff, count(*), sum(d.wh), max(d.wh) FROM daily d"
          " JOIN meter m ON m.id = d.meter GROUP BY m.tariff ORDER BY 1",
          -1, &st, NULL), "report");
    while (sqlite3_step(st) == SQLITE_ROW)
        printf("tariff %d: %lld meter days, %lld Wh, peak day %lld Wh\n",
               sqlite3_column_int(st, 0), (long long)sqlite3_column_int64(st, 1),
               (long long)sqlite3_column_int64(st, 2),
               (long long)sqlite3_column_int64(st, 3));
    sqlite3_finalize(st);
}

int main(void)
{
    static struct telegram batch[BATCH_SIZE];
    struct importer im;

    importer_open(&im);
    for (int b = 0; b < BATCHES; b++) {
        DWELL_STEP();
        receive_batch(batch, BATCH_SIZE, b);
        import_batch(&im, batch, BATCH_SIZE);
    }
    report(&im);
    printf("accepted %ld, rejected %ld\n", im.accepted, im.rejected);
    sqlite3_close(im.db);
    return 0;
}
