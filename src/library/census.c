/* SPDX-License-Identifier: MIT */
#include "library/census.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "library/ids_priv.h"
#include "library/kin.h"
#include "library/runs.h"
#include "session/folder.h"

static void
member_release(struct library_member *m)
{
    session_told_release(&m->told);
    journal_told_release(&m->run);
    buf_release(&m->project);
}

void
library_census_release(struct library_census *c)
{
    for (size_t i = 0; i < c->count; i++)
        member_release(&c->list[i]);
    free(c->list);
    buf_release(&c->links);
    *c = (struct library_census){ 0 };
}

/* -- one -- */

static int
read_run(struct library_member *m)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (!m->project.n)
        return 0;
    buf_printf(&path, "%s/metadata.json", buf_str(&m->project));
    int r = path.failed ? 0 : journal_metadata_read(buf_str(&path), &m->run, NULL);
    /* A name that was used again is another's run by now. */
    if (!r && m->run.id && strcmp(m->run.id, m->id) != 0)
        journal_told_release(&m->run), m->run = (struct journal_told){ 0 };
    return r == -ENOMEM ? r : 0;
}

static int
read_member(struct library_member *m, const char *dir)
{
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    int r = session_folder_paths(dir, &tape, &meta);
    if (!r) {
        r = session_meta_tell(buf_str(&meta), &m->told, NULL);
        m->is_told = !r;
    }
    if (r == -ENOMEM)
        return r;
    r = library_project_of(dir, buf_str(&meta), &m->project);
    if (!r)
        r = read_run(m);
    m->is_active = m->is_held || journal_told_alive(&m->run);
    m->last_ns = m->told.ended_at_ns > m->told.started_at_ns ? m->told.ended_at_ns
                                                             : m->told.started_at_ns;
    return r;
}

static int
make_room(struct library_census *c)
{
    if (c->count < c->cap)
        return 0;
    size_t cap = c->cap ? c->cap * 2 : 64;
    struct library_member *list = realloc(c->list, cap * sizeof(*list));
    if (!list)
        return -ENOMEM;
    c->list = list;
    c->cap = cap;
    return 0;
}

/* One that has left live/ since we looked is in sessions/ now. */
static int
add(struct library_census *c, const char *home, const char *id, bool is_live)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    const char *kind = is_live ? "live" : "sessions";
    struct library_member m = { .is_live = is_live };
    if (!session_folder_exists(home, kind, id)) {
        if (is_live && session_folder_exists(home, "sessions", id))
            return add(c, home, id, false);
        return buf_append(&c->links, id, SESSION_ID_LEN + 1);
    }
    int r = make_room(c);
    if (!r)
        r = buf_printf(&dir, "%s/%s/%s", home, kind, id);
    if (r < 0)
        return r;
    memcpy(m.id, id, sizeof(m.id));
    m.is_held = is_live && session_folder_is_held(home, id);
    r = read_member(&m, buf_str(&dir));
    if (!r && is_live && !session_folder_exists(home, kind, id)) {
        member_release(&m);
        return add(c, home, id, true);
    }
    if (r < 0)
        member_release(&m);
    else
        c->list[c->count++] = m;
    return r;
}

/* -- all -- */

static int
compare(const void *a, const void *b)
{
    const struct library_member *x = a, *y = b;
    return strcmp(x->id, y->id);
}

/* In this order: one that ends meanwhile moves from the first to the second. */
static int
take(struct library_census *c, const char *home)
{
    AUTO(buf) live = { 0 };
    AUTO(buf) stored = { 0 };
    struct ids_set set = { 0 };
    int r = ids_collect(&live, home, "live", "");
    if (!r)
        r = ids_collect(&stored, home, "sessions", "");
    if (!r)
        r = ids_set_init(&set, &stored);
    for (size_t i = 0; !r && i < ids_count(&live); i++)
        if (ids_set_find(&set, ids_at(&live, i)) == SIZE_MAX)
            r = add(c, home, ids_at(&live, i), true);
    for (size_t i = 0; !r && i < ids_count(&stored); i++)
        r = add(c, home, ids_at(&stored, i), false);
    ids_set_release(&set);
    if (!r && c->count)
        qsort(c->list, c->count, sizeof(*c->list), compare);
    return r;
}

int
library_census_take(struct library_census *ret, const char *home, struct err *err)
{
    struct library_census c = { 0 };
    int r = take(&c, home);
    if (r < 0) {
        library_census_release(&c);
        return err_code(err, r, "cannot read the sessions in '%s'", home);
    }
    *ret = c;
    return 0;
}

const struct library_member *
library_census_find(const struct library_census *c, const char *id)
{
    struct library_member key;
    if (!session_id_is(id) || !c->count)
        return NULL;
    memcpy(key.id, id, sizeof(key.id));
    return bsearch(&key, c->list, c->count, sizeof(*c->list), compare);
}

const char *
library_member_status(const struct library_member *m)
{
    return m->is_live && !m->is_held ? session_status_name(SESSION_INTERRUPTED)
                                     : m->told.status;
}

/* -- protection -- */

int
library_census_protect(const struct library_census *c, struct library_verdict *ret)
{
    struct library_kin *kin = calloc(c->count + 1, sizeof(*kin));
    if (!kin)
        return -ENOMEM;
    for (size_t i = 0; i < c->count; i++) {
        const struct library_member *m = &c->list[i];
        kin[i] = (struct library_kin){
            .id = m->id,
            .parent = m->told.parent,
            .resumed_from = m->told.resumed_from,
            .role = m->told.role ? m->told.role : m->run.role,
            .is_active = m->is_active,
        };
    }
    int r = library_protect(kin, c->count, ret);
    free(kin);
    return r;
}

int
library_census_check(const struct library_census *c, struct err *err)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->list[i].is_active && !c->list[i].is_told)
            return library_refuse_unread(c->list[i].id, err);
    return 0;
}

void
library_census_reason(const struct library_census *c, const struct library_verdict *v,
                      struct buf *out)
{
    const struct library_member *heir = &c->list[v->heir];
    switch (v->guard) {
    case LIBRARY_GUARD_NONE:
        return;
    case LIBRARY_GUARD_ACTIVE:
        if (heir->is_held)
            buf_puts(out, "it is active");
        else
            buf_printf(out, "process %d is still at its run",
                       journal_told_alive(&heir->run));
        return;
    case LIBRARY_GUARD_MANAGER:
        buf_puts(out, "its role is MANAGER");
        return;
    case LIBRARY_GUARD_ANCESTOR:
        buf_printf(out, "session %s, which is active, descends from it",
                   heir->told.name ? heir->told.name : heir->id);
        return;
    }
}
