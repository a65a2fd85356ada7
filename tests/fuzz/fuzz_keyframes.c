/* SPDX-License-Identifier: MIT */
/*
 * A recording with a file of keyframes that the input has spoilt: bytes changed, the file
 * cut or something put behind it.
 *  - The pictures are those that feeding shows, whatever is in the file;
 *  - with checksums that fit the changes (nobody but an attacker makes such a file) it is
 *    of no use, or gives some picture: seeking ends, and the place stays in the
 *    recording.
 */
#include "base/le.h"
#include "fuzz/fuzz.h"
#include "support/film.h"
#include "support/sim_disk.h"
#include "tape/crc32c.h"

enum { PLACES = 3, HEAD = 128, ENTRY = 112, SPACING = 500 };

#define FRAMES "frames"

static struct film film;
static struct sim_disk disk;
static struct buf good; /* the file of keyframes */
static struct term *wanted[PLACES];

static uint64_t
place(int i)
{
    return film.byte_off * (uint64_t)(i + 1) / PLACES - 5;
}

static struct play_player *
open_player(void)
{
    struct play_options opt = { .keyframes_path = FRAMES, .keyframe_bytes = SPACING };
    struct play_player *p;
    CHECK(play_open(&p, &disk.io, KIT_PATH, &opt, NULL) == 0);
    return p;
}

static void
set_up(void)
{
    sim_init(&disk);
    film_size(&film, 0, 16, 4);
    for (int i = 0; i < 60; i++) {
        film_text(&film, 1000000, "a \033[31mline\033[m that wraps\r\n");
        if (i == 25)
            film_size(&film, 1000000, 9, 6);
        if (i % 20 == 9)
            film_snapshot(&film, (uint64_t)i, film.byte_off, "label");
        if (i % 10 == 5)
            film_cut(&film, false);
    }
    film_cut(&film, true);
    sim_put(&disk, KIT_PATH, film_bytes(&film));
    for (int i = 0; i < PLACES; i++)
        wanted[i] = film_feed(&disk.io, KIT_PATH, place(i), UINT64_MAX);
    struct play_player *p = open_player();
    CHECK(play_index(p) == 0 && play_work_all(p) == 0);
    play_close(p);
    struct view made = sim_file(&disk, FRAMES);
    CHECK(made.n > HEAD && !buf_append(&good, made.p, made.n));
}

/* Four bytes an operation: what, where, by how much. */
static void
spoil(struct buf *file, struct view in)
{
    while (in.n >= 4) {
        uint8_t what = fuzz_byte(&in);
        size_t at = fuzz_byte(&in) | (size_t)fuzz_byte(&in) << 8;
        uint8_t by = fuzz_byte(&in);
        if (what == 255)
            file->n = at < file->n ? at : file->n;
        else if (what == 254)
            buf_append(file, &by, 1);
        else if (what % 2 && file->n)
            file->p[at % file->n] ^= by;
        else if (file->n > HEAD) /* most that matters is in front */
            file->p[at % (HEAD + 2 * ENTRY) % file->n] = by;
    }
}

static void
fit_checksums(struct buf *file)
{
    uint8_t *p = file->p;
    if (file->n < HEAD)
        return;
    uint64_t count = get_le32(p + 100), body = count * ENTRY + get_le32(p + 104);
    for (uint64_t i = 0; i < count && HEAD + (i + 1) * ENTRY <= file->n; i++) {
        uint8_t *entry = p + HEAD + i * ENTRY;
        uint64_t at = get_le64(entry + 88), n = get_le32(entry + 96);
        if (at <= file->n && n <= file->n - at)
            put_le32(entry + 104, tape_crc32c(0, p + at, n));
    }
    if (body <= file->n - HEAD)
        put_le32(p + 108, tape_crc32c(0, p + HEAD, body));
    put_le32(p + 124, tape_crc32c(0, p, 124));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    AUTO(buf) file = { 0 };
    if (size > 512)
        return 0;
    if (!good.n)
        set_up();
    bool is_fit = fuzz_byte(&in) & 1;
    CHECK(!buf_append(&file, good.p, good.n));
    spoil(&file, in);
    if (is_fit)
        fit_checksums(&file);
    sim_put(&disk, FRAMES, (struct view){ file.p, file.n });
    struct play_player *p = open_player();
    for (int i = 0; i < PLACES; i++) {
        CHECK(play_seek_byte(p, place(i)) == 0 && play_work_all(p) == 0);
        if (!is_fit)
            film_expect(p, wanted[i], "byte", place(i));
        CHECK(play_extent(p).start_ts_ns == KIT_START);
    }
    CHECK(play_seek_ns(p, UINT64_MAX) == 0 && play_work_all(p) == 0);
    CHECK(play_place(p).is_end);
    CHECK(play_index(p) == 0 && play_work_all(p) == 0);
    play_close(p);
    return 0;
}
