/*
 * roofline.h: the parts of 'lockstep roofline'.
 */
#ifndef LOCKSTEP_CLI_ROOFLINE_H
#define LOCKSTEP_CLI_ROOFLINE_H

/* 'roofline FAMILY': all words after the command. */
int roofline_family(int count, char **words);

#endif
