/* SPDX-License-Identifier: MIT */
#include "library/kin.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "library/ids_priv.h"
#include "session/folder.h"
#include "session/meta.h"

static int
tell_of(const char *home, const char *kind, const char *id, struct session_told *ret)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    int r = buf_printf(&dir, "%s/%s/%s", home, kind, id);
    if (!r)
        r = session_folder_paths(buf_str(&dir), &tape, &meta);
    return r < 0 ? r : session_meta_tell(buf_str(&meta), ret, NULL);
}

static bool
goes_on_with(const char *home, const char *live, const char *id)
{
    AUTO(session_told) told = { 0 };
    return session_folder_is_held(home, live) &&
           tell_of(home, "live", live, &told) == 0 && told.resumed_from &&
           !strcmp(told.resumed_from, id);
}

bool
library_is_resumed(const char *home, const char *id, char ret_by[SESSION_ID_LEN + 1])
{
    AUTO(buf) ids = { 0 };
    if (ids_collect(&ids, home, "live", "") < 0)
        return false;
    for (size_t i = 0; i < ids_count(&ids); i++)
        if (goes_on_with(home, ids_at(&ids, i), id)) {
            memcpy(ret_by, ids_at(&ids, i), SESSION_ID_LEN + 1);
            return true;
        }
    return false;
}

/* -- what active ones descend from -- */

/* Each once, so that a circle of parents ends. */
static int
add_elder(struct buf *ids, const char *id)
{
    if (!id || !session_id_is(id))
        return 0;
    for (size_t i = 0; i < ids_count(ids); i++)
        if (!strcmp(ids_at(ids, i), id))
            return 0;
    return buf_append(ids, id, IDS_STEP);
}

static int
add_elders(struct buf *ids, const struct session_told *told)
{
    int r = add_elder(ids, told->parent);
    return r < 0 ? r : add_elder(ids, told->resumed_from);
}

/* 1: the one that is told of descends from id. An ancestor that cannot be read, or has
 * gone, leads no further. */
static int
descends(const char *home, const struct session_told *of, const char *id)
{
    AUTO(buf) ids = { 0 };
    int r = add_elders(&ids, of);
    for (size_t i = 0; !r && i < ids_count(&ids); i++) {
        AUTO(session_told) told = { 0 };
        if (!strcmp(ids_at(&ids, i), id))
            return 1;
        r = tell_of(home, "sessions", ids_at(&ids, i), &told);
        if (r < 0 && r != -ENOMEM)
            r = tell_of(home, "live", ids_at(&ids, i), &told);
        r = r == -ENOMEM ? r : r < 0 ? 0 : add_elders(&ids, &told);
    }
    return r;
}

static int
check_heir(const char *home, const char *live, const char *id, struct err *err)
{
    AUTO(session_told) told = { 0 };
    int r = tell_of(home, "live", live, &told);
    if (!session_folder_is_held(home, live)) /* last: it may have ended while we read */
        return 0;
    if (r < 0)
        return library_refuse_unread(live, err);
    r = descends(home, &told, id);
    if (r < 0)
        return err_code(err, r, "cannot tell what session '%s' descends from", live);
    return r ? err_set(err, -EPERM,
                       "session '%s' is protected: session %s, which is active, descends "
                       "from it",
                       id, told.name ? told.name : live)
             : 0;
}

int
library_refuse_unread(const char *live, struct err *err)
{
    return err_set(err, ERR_BUSY,
                   "session %s is active, and what it descends from cannot be read yet: "
                   "nothing is deleted; try again",
                   live);
}

int
library_check_heirs(const char *home, const char *id, struct err *err)
{
    AUTO(buf) ids = { 0 };
    int r = ids_collect(&ids, home, "live", "");
    if (r < 0)
        return err_code(err, r, "cannot read the sessions in '%s'", home);
    for (size_t i = 0; !r && i < ids_count(&ids); i++)
        r = check_heir(home, ids_at(&ids, i), id, err);
    return r;
}
