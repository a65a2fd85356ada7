/* SPDX-License-Identifier: MIT */
#include "tape/job_priv.h"

void
job_list_init(struct job_list *l)
{
    l->first = NULL;
    l->end = &l->first;
    l->count = l->bytes = 0;
}

void
job_list_push(struct job_list *l, struct seal_job *job)
{
    job->next = NULL;
    *l->end = job;
    l->end = &job->next;
    l->count++;
    l->bytes += job->raw_len;
}

struct seal_job *
job_list_pop(struct job_list *l)
{
    struct seal_job *job = l->first;
    if (!job)
        return NULL;
    l->first = job->next;
    if (!l->first)
        l->end = &l->first;
    l->count--;
    l->bytes -= job->raw_len;
    return job;
}

void
job_list_prepend(struct job_list *to, struct job_list *from)
{
    if (!from->first)
        return;
    *from->end = to->first;
    if (!to->first)
        to->end = from->end;
    to->first = from->first;
    to->count += from->count;
    to->bytes += from->bytes;
    job_list_init(from);
}

void
seal_job_free(struct seal_job *job)
{
    buf_release(&job->bytes);
    free(job);
}
