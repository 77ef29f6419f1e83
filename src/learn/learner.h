/*
 * learner.h: the learner's side of the course: a folder of files, the place in the course, the
 * notes, recorded checks. For the terminal and the studio alike. An existing file is only
 * overwritten by learner_save, whose caller says which text it replaces.
 *
 * What fails returns false (or NULL) and a malloc'd message. Paths are malloc'd.
 */
#ifndef LOCKSTEP_LEARN_LEARNER_H
#define LOCKSTEP_LEARN_LEARNER_H

#include "learn/progress.h"

/* FOLDER/WEEK/DAY/NAME.cu; of a kata FOLDER/kata/DATE_NAME.cu */
char *learner_file(const char *folder, const struct learn_exercise *exercise);

/* Makes the folder, lays out the whole course in it, and records it as the learner's. Returns the
 * folder's real path. */
char *learner_begin(const struct learn_course *course, struct learn_progress *progress,
                    const char *asked, char **message);
/* Copies the exercise's file and the lesson's text, if they are not there yet. */
bool learner_lay_out(const char *folder, const struct learn_exercise *exercise, char **message);
bool learner_lay_out_all(const char *folder, const struct learn_course *course, char **message);
/* The exercise as it was given. What was there becomes NAME.cu.1, .2 ..: *kept, or NULL. */
bool learner_reset(const char *folder, const struct learn_exercise *exercise, char **kept,
                   char **message);

/* The content of a learner's file, which must be text. */
char *learner_read(const char *path, char **message);
/* A word that identifies a text, like a version number; "none" for NULL, no file. */
enum { LEARNER_VERSION = 20 };
void learner_version(const char *text, char version[LEARNER_VERSION]);

/* Writes the learner's file if it is still what the writer has seen (a version), or missing; if the
 * file already has this text, that is fine too. *there is the text before, malloc'd or NULL. */
enum learner_saved { LEARNER_SAVED, LEARNER_CHANGED, LEARNER_FAILED };
enum learner_saved learner_save(const char *folder, const struct learn_exercise *exercise,
                                const char *seen, const char *text, char **there, char **message);

/* Places in the course, from where 'learn ready' had the learner begin: NULL if there is none. */
const struct learn_exercise *learner_current(const struct learn_course *course,
                                             struct learn_progress *progress);
/* The lesson's first that is not solved, or its first. Katas do not count here and below. */
const struct learn_exercise *learner_first_open(const struct learn_lesson *lesson,
                                                struct learn_progress *progress);
/* The course's first that is not solved. */
const struct learn_exercise *learner_first_unsolved(const struct learn_course *course,
                                                    struct learn_progress *progress);
/* The first lesson whose exercises are solved and whose quiz is not. */
const struct learn_lesson *learner_open_quiz(const struct learn_course *course,
                                             struct learn_progress *progress);
/* The exercise after this one; after a kata, which does not count as progress, the learner's place.
 * */
const struct learn_exercise *learner_next(const struct learn_course *course,
                                          struct learn_progress *progress,
                                          const struct learn_exercise *exercise);
/* Today's kata, of the lessons up to where the learner is. */
const struct learn_exercise *learner_kata(const struct learn_course *course,
                                          struct learn_progress *progress);
void learner_count(const struct learn_course *course, struct learn_progress *progress,
                   unsigned *solved, unsigned *all);

/* Lessons and exercises with what was tried and solved, and all that was done, for programs. */
json_t *learner_list_json(const struct learn_course *course, struct learn_progress *progress);
json_t *learner_progress_json(const struct learn_course *course, struct learn_progress *progress);

/* Grades the file in path and keeps the attempt and its run. *remark, malloc'd, says what could not
 * be kept; NULL if all was. */
void learner_check(const struct learn_grader *grader, struct learn_progress *progress,
                   const struct learn_exercise *exercise, const char *path, const char *shown,
                   struct learn_verdict *verdict, char **remark);
/* Where an exercise's last run and its replay are kept; NULL if nowhere. */
char *learn_run_path(const struct learn_progress *progress, const struct learn_exercise *exercise);
char *learn_replay_path(const struct learn_progress *progress,
                        const struct learn_exercise *exercise);
/* Keeps both, as far as the verdict has them. */
bool learn_run_save(const struct learn_progress *progress, const struct learn_exercise *exercise,
                    const struct learn_verdict *verdict, char **message);

/* Appends to today's page of the notebook, with the exercise's last verdict; text may be NULL. The
 * page's path. */
char *learner_note(const char *folder, struct learn_progress *progress,
                   const struct learn_exercise *exercise, const char *text, char **message);

#endif
