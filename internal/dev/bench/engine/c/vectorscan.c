// Matches patterns with vectorscan (or Hyperscan) over a packed corpus, for the
// benchmark. Built on the spot against hs.h; see process.go for the protocol.
//
//   vectorscan check PATTERNS         prints the index of each pattern that can't
//                                     be analysed, and why
//   vectorscan serve PATTERNS CORPUS block|concat
//                                     compiles, then obeys lines on stdin
//
// PATTERNS has a line for each pattern: flags, a tab, the pattern. CORPUS is
// what corpus.WritePack writes. A pair is a rule and a line that it matches on;
// each is counted once.
#define _GNU_SOURCE
#include <hs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "vectorscan: %s\n", what);
    exit(1);
}

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// kibibytes reads a value like VmHWM from /proc/self/status; 0 if unknown.
static long kibibytes(const char *key) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long value = 0;
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key))) sscanf(line + strlen(key) + 1, "%ld", &value);
    fclose(f);
    return value;
}

static char *read_all(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) fail("can't open a file");
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *data = malloc(*size + 1);
    if (!data || fread(data, 1, *size, f) != *size) fail("can't read a file");
    data[*size] = 0;
    fclose(f);
    return data;
}

// ---- patterns

static char **patterns;
static unsigned *flags, *ids;
static unsigned count;

static void load_patterns(const char *path) {
    size_t size;
    char *text = read_all(path, &size);
    unsigned lines = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    patterns = calloc(lines, sizeof *patterns);
    flags = calloc(lines, sizeof *flags);
    ids = calloc(lines, sizeof *ids);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *tab = strchr(line, '\t');
        if (!tab) fail("a pattern without flags");
        ids[count] = count;
        flags[count] = (unsigned)strtoul(line, NULL, 10);
        patterns[count++] = tab + 1;
    }
}

static int check(void) {
    for (unsigned i = 0; i < count; i++) {
        hs_expr_info_t *info = NULL;
        hs_compile_error_t *e;
        if (hs_expression_info(patterns[i], flags[i], &info, &e) == HS_SUCCESS) {
            free(info);
            continue;
        }
        printf("%u\t%s\n", i, e->message);
        hs_free_compile_error(e);
    }
    return 0;
}

// ---- corpus

struct block {
    const char *data;
    size_t size;
    unsigned file; // index of the first file in it
};

static struct block *blocks;
static size_t block_count, total;

// load_pack makes a block of each file, or one of all; then starts holds where
// each file starts in it.
static size_t *starts, file_count;

static uint32_t u32(const char *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static void load_pack(const char *path, int concat) {
    size_t size;
    char *pack = read_all(path, &size);
    for (size_t at = 0; at < size; file_count++) {
        at += 4 + u32(pack + at);
        at += 4 + u32(pack + at);
    }
    blocks = calloc(concat ? 1 : file_count, sizeof *blocks);
    starts = calloc(file_count + 1, sizeof *starts);
    char *all = concat ? malloc(size + file_count) : NULL;
    size_t filled = 0;
    unsigned file = 0;
    for (size_t at = 0; at < size; file++) {
        at += 4 + u32(pack + at);
        size_t n = u32(pack + at);
        const char *data = pack + at + 4;
        at += 4 + n;
        total += n;
        starts[file] = filled;
        if (!concat) {
            blocks[block_count++] = (struct block){data, n, file};
            continue;
        }
        memcpy(all + filled, data, n);
        filled += n;
        if (n && data[n - 1] != '\n') all[filled++] = '\n'; // so that no match crosses files
    }
    starts[file] = filled;
    if (concat) {
        blocks[block_count++] = (struct block){all, filled, 0};
        free(pack);
    }
}

// ---- scan

struct scan {
    const char *data;
    size_t size, first, end; // the line that was seen last: where it starts and its "\n"
    uint64_t base;           // of this block, unique over all blocks
    uint64_t *last;          // by rule: line that was counted last
    uint64_t pairs, calls;
    unsigned file;
    FILE *out;
};

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned fl, void *context) {
    struct scan *s = context;
    (void)from;
    (void)fl;
    s->calls++;
    size_t at = to ? (size_t)to - 1 : 0; // last byte of the match
    if (at > s->end || at < s->first) {
        const char *nl = at > s->end ? memrchr(s->data + s->end, '\n', at - s->end) : memrchr(s->data, '\n', at);
        s->first = nl ? (size_t)(nl - s->data) + 1 : 0;
        nl = memchr(s->data + at, '\n', s->size - at);
        s->end = nl ? (size_t)(nl - s->data) : s->size;
    }
    uint64_t line = s->base + s->first;
    if (s->last[id] == line) return 0;
    s->last[id] = line;
    s->pairs++;
    if (s->out) {
        unsigned file = s->file;
        size_t first = s->first;
        if (block_count == 1 && file_count > 1) {
            size_t lo = 0, hi = file_count;
            while (hi - lo > 1) {
                size_t mid = (lo + hi) / 2;
                if (starts[mid] <= first) lo = mid; else hi = mid;
            }
            file = (unsigned)lo;
            first -= starts[lo];
        }
        uint32_t pair[3] = {file, (uint32_t)first, id};
        fwrite(pair, sizeof pair, 1, s->out);
    }
    return 0;
}

static void scan(hs_database_t *db, hs_scratch_t *scratch, uint64_t *last, size_t memory, FILE *out) {
    struct scan s = {.last = last, .out = out};
    memset(last, 0xff, count * sizeof *last);
    uint64_t start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < block_count; i++) {
        s.data = blocks[i].data;
        s.size = blocks[i].size;
        s.file = blocks[i].file;
        s.first = 0;
        const char *nl = memchr(s.data, '\n', s.size);
        s.end = nl ? (size_t)(nl - s.data) : s.size;
        if (hs_scan(db, s.data, (unsigned)s.size, 0, scratch, on_match, &s) != HS_SUCCESS) fail("hs_scan failed");
        s.base += s.size + 1;
    }
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    uint64_t took = now(CLOCK_MONOTONIC) - start;
    printf("{\"ns\":%llu,\"cpu_ns\":%llu,\"bytes\":%zu,\"pairs\":%llu,\"calls\":%llu,\"system\":%zu,\"peak_kib\":%ld}\n",
           (unsigned long long)took, (unsigned long long)cpu, total,
           (unsigned long long)s.pairs, (unsigned long long)s.calls, memory, kibibytes("VmHWM:"));
}

int main(int argc, char **argv) {
    if (argc < 3) fail("usage: vectorscan check|serve PATTERNS [CORPUS block|concat]");
    load_patterns(argv[2]);
    if (!strcmp(argv[1], "check")) return check();
    if (argc < 5) fail("serve needs a corpus and a mode");
    load_pack(argv[3], !strcmp(argv[4], "concat"));

    long before = kibibytes("VmRSS:");
    hs_platform_info_t platform;
    if (hs_populate_platform(&platform) != HS_SUCCESS) fail("unknown processor");
    hs_database_t *db;
    hs_compile_error_t *e;
    uint64_t start = now(CLOCK_PROCESS_CPUTIME_ID);
    if (hs_compile_multi((const char *const *)patterns, flags, ids, count, HS_MODE_BLOCK, &platform, &db, &e) != HS_SUCCESS) {
        fprintf(stderr, "pattern %d: %s\n", e->expression, e->message);
        return 1;
    }
    uint64_t took = now(CLOCK_PROCESS_CPUTIME_ID) - start;
    hs_scratch_t *scratch = NULL;
    if (hs_alloc_scratch(db, &scratch) != HS_SUCCESS) fail("no scratch");
    size_t db_size = 0, scratch_size = 0;
    char *info = NULL;
    hs_database_size(db, &db_size);
    hs_scratch_size(scratch, &scratch_size);
    hs_database_info(db, &info);
    uint64_t *last = calloc(count, sizeof *last);
    printf("{\"compile_ns\":%llu,\"size\":%zu,\"heap\":%zu,\"before_kib\":%ld,\"info\":\"%s, %s\"}\n", (unsigned long long)took,
           db_size, db_size + scratch_size, before, hs_version(), info);
    fflush(stdout);

    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "scan")) {
            scan(db, scratch, last, db_size + scratch_size, NULL);
        } else if (!strncmp(line, "dump ", 5)) {
            FILE *out = fopen(line + 5, "wb");
            if (!out) fail("can't write");
            scan(db, scratch, last, db_size + scratch_size, out);
            if (fclose(out)) fail("can't write");
        } else {
            fail("unknown command");
        }
        fflush(stdout);
    }
    return 0;
}
