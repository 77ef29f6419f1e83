/*
 * vendor.h: opens NVIDIA's own library where ours, of the same name, has taken its place.
 */
#ifndef LOCKSTEP_CLIENTS_VENDOR_H
#define LOCKSTEP_CLIENTS_VENDOR_H

/* name: as in "libnvrtc.so.13"; wheels: its folders below site-packages, ended by NULL. Looked for
 * among the packages of the Python that runs here, which are where something else was loaded from,
 * then in $LOCKSTEP_TOOLKIT, which 'lockstep run' sets, in $LD_LIBRARY_PATH and where toolkits are
 * installed. NULL if there is none. */
void *vendor_open(const char *name, const char *const *wheels);

#endif
