/*
 * parcel_track: replays the scan sheets of one night shift into the depot
 * database and reports, for each sheet, how complete its consignment is.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwell/probe.h>

#define CONSIGNMENTS 1000
#define PARCELS_PER 22
#define SHEETS 4000
#define SCANS_PER_SHEET 200

enum { ST_BOOKED, ST_INBOUND, ST_SORTED, ST_LOADED, ST_DELIVERED, ST_COUNT };

struct depot {
    sqlite3 *db;
    sqlite3_stmt *find;
    sqlite3_stmt *add_event;
    sqlite3_stmt *advance;
    sqlite3_stmt *progress;
};

static uint64_t rng_state = 0x9e3779b97f4a7c15ULL;

static uint32_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32);
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
    sqlite3_stmt *st;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) != SQLITE_OK)
        die(db, sql);
    return st;
}

static void consignment_code(int c, char out[16])
{
    static const char *country[] = {"DE", "FR", "NL", "PL", "AT"};
    snprintf(out, 16, "%s%06d", country[c % 5], 104729 + c * 37);
}

static void barcode_of(int c, int piece, char out[24])
{
    char code[16];
    consignment_code(c, code);
    snprintf(out, 24, "%s-%03d", code, piece);
}

static void create_schema(sqlite3 *db)
{
    run_sql(db, "PRAGMA journal_mode=WAL");
    run_sql(db, "PRAGMA synchronous=NORMAL");
    run_sql(db, "CREATE TABLE parcel(id INTEGER PRIMARY KEY, barcode TEXT NOT NULL,"
                " depot INTEGER, grams INTEGER, status INTEGER)");
    run_sql(db, "CREATE TABLE event(id INTEGER PRIMARY KEY, parcel INTEGER, ts INTEGER, gate INTEGER)");

    sqlite3_stmt *ins = prepare(db, "INSERT INTO parcel(barcode,depot,grams,status) VALUES(?,?,?,0)");
    run_sql(db, "BEGIN");
    for (int p = 0; p < PARCELS_PER; p++) {
        for (int c = 0; c < CONSIGNMENTS; c++) {
            char code[24];
            barcode_of(c, p, code);
            sqlite3_bind_text(ins, 1, code, -1, SQLITE_TRANSIENT);
            sqlite3_bind_int(ins, 2, (int)(rng() % 40));
            sqlite3_bind_int(ins, 3, 200 + (int)(rng() % 28000));
            if (sqlite3_step(ins) != SQLITE_DONE)
                die(db, "insert parcel");
            sqlite3_reset(ins);
        }
    }
    run_sql(db, "COMMIT");
    sqlite3_finalize(ins);
    run_sql(db, "CREATE UNIQUE INDEX parcel_barcode ON parcel(barcode)");
}

static void depot_open(struct depot *d, const char *path)
{
    if (sqlite3_open(path, &d->db) != SQLITE_OK)
        die(d->db, path);
    create_schema(d->db);
    d->find = prepare(d->db, "SELECT id, status FROM parcel WHERE barcode = ?1");
    d->add_event = prepare(d->db, "INSERT INTO event(parcel,ts,gate) VALUES(?1,?2,?3)");
    d->advance = prepare(d->db, "UPDATE parcel SET status = ?2 WHERE id = ?1");
    d->progress = prepare(d->db,
        "SELECT count(*), sum(status = 4), sum(grams) FROM parcel"
        " WHERE barcode LIKE ?1 || '-%'");
}

static int record_scan(struct depot *d, const char *barcode, int ts, int gate)
{
    sqlite3_bind_text(d->find, 1, barcode, -1, SQLITE_STATIC);
    if (sqlite3_step(d->find) != SQLITE_ROW) {
        sqlite3_reset(d->find);
        return 0;
    }
    sqlite3_int64 id = sqlite3_column_int64(d->find, 0);
    int status = sqlite3_column_int(d->find, 1);
    sqlite3_reset(d->find);

    sqlite3_bind_int64(d->add_event, 1, id);
    sqlite3_bind_int(d->add_event, 2, ts);
    sqlite3_bind_int(d->add_event, 3, gate);
    if (sqlite3_step(d->add_event) != SQLITE_DONE)
        die(d->db, "add event");
    sqlite3_reset(d->add_event);

    if (status < ST_DELIVERED) {
        sqlite3_bind_int64(d->advance, 1, id);
        sqlite3_bind_int(d->advance, 2, status + 1);
        if (sqlite3_step(d->advance) != SQLITE_DONE)
            die(d->db, "advance");
        sqlite3_reset(d->advance);
    }
    return 1;
}

static void consignment_progress(struct depot *d, int c, long *pieces, long *done, long *grams)
{
    char code[16];
    consignment_code(c, code);
    sqlite3_bind_text(d->progress, 1, code, -1, SQLITE_STATIC);
    if (sqlite3_step(d->progress) != SQLITE_ROW)
        die(d->db, "progress");
    *pieces += sqlite3_column_int64(d->progress, 0);
    *done += sqlite3_column_int64(d->progress, 1);
    *grams += sqlite3_column_int64(d->progress, 2);
    sqlite3_reset(d->progress);
}

int main(void)
{
    char dir[] = "/tmp/parcelXXXXXX", path[64], cmd[96];
    if (!mkdtemp(dir))
        return perror("mkdtemp"), 1;
    snprintf(path, sizeof path, "%s/depot.db", dir);

    struct depot d;
    depot_open(&d, path);
    long scanned = 0, unknown = 0, pieces = 0, done = 0, grams = 0;

    for (int sheet = 0; sheet < SHEETS; sheet++) {
        DWELL_STEP();
        int main_consignment = (int)(rng() % CONSIGNMENTS);
        run_sql(d.db, "BEGIN");
        for (int s = 0; s < SCANS_PER_SHEET; s++) {
            char code[24];
            int c = s % 4 ? (int)(rng() % CONSIGNMENTS) : main_consignment;
            barcode_of(c, (int)(rng() % (PARCELS_PER + 1)), code);
            if (record_scan(&d, code, sheet * 60 + s, (int)(rng() % 12)))
                scanned++;
            else
                unknown++;
        }
        consignment_progress(&d, main_consignment, &pieces, &done, &grams);
        run_sql(d.db, "COMMIT");
    }

    printf("scans %ld unknown %ld; sheets saw %ld pieces, %ld delivered, %ld kg\n",
           scanned, unknown, pieces, done, grams / 1000);
    sqlite3_finalize(d.find);
    sqlite3_finalize(d.add_event);
    sqlite3_finalize(d.advance);
    sqlite3_finalize(d.progress);
    sqlite3_close(d.db);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd) != 0;
}
