/* Gateway ingest: messages name a device by its printed serial number; the
 * store resolves the device, appends the reading and keeps hourly totals. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 420, MESSAGES = 360000, PER_TRANSACTION = 2000, SITES = 24 };

struct message {
    char serial[24];
    int64_t when;
    double value;
    int battery;
};

static sqlite3 *db;
static uint64_t state = 88172645463325252ull;

static uint32_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void run(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql);
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) != SQLITE_OK)
        die(sql);
    return st;
}

static void step_done(sqlite3_stmt *st)
{
    if (sqlite3_step(st) != SQLITE_DONE)
        die("step");
    sqlite3_reset(st);
}

static void serial_of(int n, int upper, char *out)
{
    snprintf(out, 24, upper ? "GW%02X-%06X" : "gw%02x-%06x", n % 37 + 160, n * 7919 + 0xa00000);
}

static void create_schema(void)
{
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = NORMAL");
    run("CREATE TABLE device (id INTEGER PRIMARY KEY, serial TEXT NOT NULL, site INTEGER NOT NULL,"
        " model TEXT NOT NULL, last_seen INTEGER, battery INTEGER)");
    run("CREATE UNIQUE INDEX device_serial ON device (serial)");
    run("CREATE TABLE reading (device INTEGER NOT NULL, at INTEGER NOT NULL, value REAL NOT NULL)");
    run("CREATE INDEX reading_device_at ON reading (device, at)");
    run("CREATE TABLE hourly (site INTEGER, hour INTEGER, n INTEGER, total REAL,"
        " PRIMARY KEY (site, hour)) WITHOUT ROWID");
}

static void register_devices(void)
{
    sqlite3_stmt *st = prepare("INSERT INTO device (id, serial, site, model) VALUES (?1, ?2, ?3, ?4)");
    run("BEGIN");
    for (int n = 0; n < DEVICES; n++) {
        char serial[24];
        serial_of(n, 1, serial);
        sqlite3_bind_int(st, 1, n + 1);
        sqlite3_bind_text(st, 2, serial, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(st, 3, n % SITES);
        sqlite3_bind_text(st, 4, n % 3 ? "TH-200" : "PX-41", -1, SQLITE_STATIC);
        step_done(st);
    }
    run("COMMIT");
    sqlite3_finalize(st);
}

static void receive(struct message *m, int64_t clock)
{
    int n = (int)(rnd() % DEVICES);
    serial_of(n, rnd() % 4 != 0, m->serial);
    m->when = clock;
    m->value = 18.0 + (double)(rnd() % 1000) / 100.0;
    m->battery = 40 + (int)(rnd() % 60);
}

struct statements {
    sqlite3_stmt *find, *append, *seen, *hour;
};

static int ingest(struct statements *s, const struct message *m)
{
    sqlite3_bind_text(s->find, 1, m->serial, -1, SQLITE_STATIC);
    if (sqlite3_step(s->find) != SQLITE_ROW) {
        sqlite3_reset(s->find);
        return 0;
    }
    int device = sqlite3_column_int(s->find, 0);
    int site = sqlite3_column_int(s->find, 1);
    sqlite3_reset(s->find);

    sqlite3_bind_int(s->append, 1, device);
    sqlite3_bind_int64(s->append, 2, m->when);
    sqlite3_bind_double(s->append, 3, m->value);
    step_done(s->append);

    sqlite3_bind_int64(s->seen, 1, m->when);
    sqlite3_bind_int(s->seen, 2, m->battery);
    sqlite3_bind_int(s->seen, 3, device);
    step_done(s->seen);

    sqlite3_bind_int(s->hour, 1, site);
    sqlite3_bind_int64(s->hour, 2, m->when / 3600);
    sqlite3_bind_double(s->hour, 3, m->value);
    step_done(s->hour);
    return 1;
}

static double query_double(const char *sql)
{
    sqlite3_stmt *st = prepare(sql);
    double v = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_double(st, 0) : 0;
    sqlite3_finalize(st);
    return v;
}

int main(void)
{
    char dir[] = "/tmp/gateway-XXXXXX", path[64], name[80];
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/store.db", dir);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die("open");
    create_schema();
    register_devices();

    struct statements s = {
        prepare("SELECT id, site FROM device WHERE serial = ?1 COLLATE NOCASE"),
        prepare("INSERT INTO reading (device, at, value) VALUES (?1, ?2, ?3)"),
        prepare("UPDATE device SET last_seen = ?1, battery = ?2 WHERE id = ?3"),
        prepare("INSERT INTO hourly VALUES (?1, ?2, 1, ?3) ON CONFLICT (site, hour)"
                " DO UPDATE SET n = n + 1, total = total + excluded.total"),
    };
    int stored = 0;
    int64_t clock = 1700000000;
    for (int i = 0; i < MESSAGES; i++) {
        struct message m;
        if (i % PER_TRANSACTION == 0)
            run(i ? "COMMIT; BEGIN" : "BEGIN");
        clock += rnd() % 4;
        receive(&m, clock);
        stored += ingest(&s, &m);
    }
    run("COMMIT");
    sqlite3_finalize(s.find);
    sqlite3_finalize(s.append);
    sqlite3_finalize(s.seen);
    sqlite3_finalize(s.hour);

    printf("stored %d of %d messages\n", stored, MESSAGES);
    printf("hourly rows %.0f, warmest hour %.4f\n", query_double("SELECT count(*) FROM hourly"),
           query_double("SELECT max(total / n) FROM hourly WHERE n > 50"));
    printf("mean of device 7: %.4f\n", query_double("SELECT avg(value) FROM reading WHERE device = 7"));
    sqlite3_close(db);
    const char *ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    rmdir(dir);
    return 0;
}
