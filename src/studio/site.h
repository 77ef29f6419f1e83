/*
 * site.h: the course as a folder of files, for a web server or a disk: lessons and interactives to
 * read, with links that are relative. site.c writes it, site_script.c its script.
 */
#ifndef LOCKSTEP_STUDIO_SITE_H
#define LOCKSTEP_STUDIO_SITE_H

#include "base/buf.h"
#include "learn/lesson.h"

/* Writes the site into folder, which is empty, or a site already; web: the pages' files. Returns
 * how many pages it has, or 0 and a malloc'd message. */
unsigned studio_site(const struct learn_course *course, const char *web, const char *folder,
                     char **message);

/* All modules of web/ that a site needs, as one script. False and a malloc'd message. */
bool site_script(struct lk_buf *out, const char *web, char **message);

#endif
