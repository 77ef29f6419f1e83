/*
 * state.h: what the simt driver keeps: devices, contexts, streams, work, handles.
 * Private to src/driver. CUDA's opaque handle types are our structs, so a handle is a pointer to
 * one; handle.c knows which pointers are alive.
 *
 * Invariants
 *  L1  drv_lock guards everything here except while a piece of work runs.
 *  L2  Work runs without drv_lock, by one thread, after all that it waits for.
 *  L3  At most one piece of work that uses the machine (a kernel, a graph with kernels) runs per
 *      device; copies, fills and host functions run beside it.
 *  L4  A context with an error runs no more work; what is queued ends with that error.
 */
#ifndef LOCKSTEP_DRIVER_STATE_H
#define LOCKSTEP_DRIVER_STATE_H

#include "cuda/abi.h"
#include "driver/handle.h"
#include "driver/library_call.h"
#include "simt/simt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DRV_DEVICES_MAX GPU_SIMULATED_MAX
#define DRV_EXECUTORS_MAX 8

/* Work ----------------------------------------------------------------------------------------- */

enum drv_work_kind {
    DRV_WORK_EMPTY,
    DRV_WORK_KERNEL,
    DRV_WORK_COPY,
    DRV_WORK_FILL,
    DRV_WORK_HOST,
    DRV_WORK_CALLBACK,
    DRV_WORK_LIBRARY, /* a call of a drop-in library: see library_call.h */
    DRV_WORK_RECORD,
    DRV_WORK_WAIT,
    DRV_WORK_ALLOC, /* graph nodes only: the memory is there already */
    DRV_WORK_FREE,
    DRV_WORK_WAIT_VALUE,
    DRV_WORK_WRITE_VALUE,
    DRV_WORK_SHARED_RECORD, /* of an event that other processes see */
    DRV_WORK_SHARED_WAIT,
    DRV_WORK_CHILD,       /* graph nodes only */
    DRV_WORK_CONDITIONAL, /* graph nodes only */
    DRV_WORK_GRAPH        /* stream operations only */
};

struct drv_kernel_work {
    CUfunction function;
    unsigned grid[3], block[3], cluster[3];
    unsigned shared;
    bool cooperative;
    bool programmatic; /* may begin before the kernel before it in the stream has ended */
    int priority;
    void *params; /* owned, packed as the kernel wants them */
    size_t params_size;
    void **pointers; /* owned, made on demand: params as CUDA returns them */
};

/* One side of a copy: host bytes, and what the address was when it was asked for. */
struct drv_copy_side {
    CUmemorytype type; /* as asked: host, device, unified */
    CUdeviceptr address;
    size_t x, y, z, pitch, height; /* pitch 0: tight */
    CUarray array;                 /* type ARRAY: it, and address is 0 */
};
struct drv_copy_work {
    struct drv_copy_side from, to;
    size_t width, height, depth; /* bytes, rows, slices */
    void *staged;                /* owned copy of a pageable source, tight */
    bool from_device, to_device; /* for the modelled time */
};

struct drv_fill_work {
    CUdeviceptr address;
    size_t pitch, width, height; /* width in elements */
    unsigned value, element;     /* element: 1, 2 or 4 bytes */
};

struct drv_graph_memory { /* shared by a graph's allocation nodes and their clones */
    unsigned references;
    CUdeviceptr address;
    CUDA_MEM_ALLOC_NODE_PARAMS params;
};

struct drv_conditional_work { /* condition.c */
    struct drv_condition *condition;
    CUgraphConditionalNodeType type;
    unsigned size;
    CUgraph *bodies; /* [size], owned */
};

struct drv_library_work {
    const char *name;
    void (*function)(void *data);
    void *data; /* [size], owned */
    size_t size;
    double operations, bytes;
    enum lk_library_unit unit;
};

struct drv_work {
    enum drv_work_kind kind;
    union {
        struct drv_kernel_work kernel;
        struct drv_copy_work copy;
        struct drv_fill_work fill;
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct {
            CUstreamCallback function;
            CUstream stream;
            void *data;
        } callback;
        struct drv_library_work library;
        CUevent event; /* record, wait */
        struct drv_graph_memory *memory;
        CUdeviceptr address; /* free */
        struct {
            CUdeviceptr address;
            uint64_t value;
            unsigned flags;
            bool wide;
        } value;
        struct {
            struct drv_shared_event *event;
            uint64_t number; /* of the record */
        } shared;
        CUgraph child;
        struct drv_conditional_work conditional;
        struct {
            CUgraphExec exec;
        } graph;
    };
};

/* Frees what a piece of work owns; copies it with what it owns. */
void drv_work_clear(struct drv_work *work);
struct drv_work drv_work_copy(const struct drv_work *work);
/* Runs it, without drv_lock. Begins at *clock of modelled time at the earliest, leaves its end. */
CUresult drv_work_run(CUcontext context, struct drv_work *work, double *clock);
bool drv_work_uses_machine(const struct drv_work *work);
bool drv_work_calls_host(const struct drv_work *work);

enum drv_op_state { DRV_OP_WAITING, DRV_OP_READY, DRV_OP_RUNNING, DRV_OP_DONE };

/* A piece of work in a stream. */
struct drv_op {
    unsigned references;
    enum drv_op_state state;
    uint64_t sequence; /* order of submission in the device */
    CUstream stream;
    unsigned waits_for;             /* operations not done yet */
    struct drv_list dependents;     /* operations that wait for this one */
    double clock;                   /* earliest start, then end, in modelled seconds */
    struct drv_op *previous, *next; /* in the device's ready list */
    struct drv_work work;
    void *watched;        /* what a watcher knows it by, or NULL */
    const char *call;     /* the entry point that asked for it */
    double asked, issued; /* modelled time at which that call began and ended */
    uint64_t asked_ns;    /* and real time; of these two only if a tool listens (activity.h) */
    uint32_t correlation; /* of the call */
};

/* Devices, contexts, streams, events ----------------------------------------------------------- */

enum drv_engine {
    DRV_ENGINE_COMPUTE,
    DRV_ENGINE_TO_DEVICE,
    DRV_ENGINE_FROM_DEVICE,
    DRV_ENGINE_NONE
};

/* When an engine is taken, and how much of it: its latest spans, in the order of their ends. */
#define DRV_SPANS 256
struct drv_span {
    double begin, end, share;
};
struct drv_schedule {
    struct drv_span spans[DRV_SPANS];
    unsigned count;
    double floor; /* nothing begins before this */
};

struct drv_device {
    int ordinal;
    const struct gpu_info *gpu;
    struct simt_machine *machine; /* made with the first context */
    CUcontext primary;
    unsigned primary_flags;
    CUmemoryPool default_pool, managed_pool, pool;
    struct drv_op *ready_first, *ready_last; /* in order of submission */
    uint64_t next_sequence;
    pthread_cond_t changed; /* something is ready, or is done */
    unsigned executors, idle;
    unsigned waiters;      /* threads that wait for an operation */
    bool profiles;         /* every launch is counted, into a file */
    unsigned machine_busy; /* kernels that run, except those that wait for another */
    bool in_order;    /* checked: a kernel does not overtake copies that were asked for before it */
    unsigned copying; /* copies, memsets and frees that run */
    struct drv_schedule engines[DRV_ENGINE_NONE]; /* in modelled time */
    _Atomic unsigned timing_events;        /* recorded, and the time since may be asked for */
    uint64_t graph_memory[4], graph_spare; /* by CUgraphMem_attribute; freed and not trimmed */
};

struct CUctx_st {
    struct drv_object object;
    struct drv_device *device;
    bool primary;
    atomic_bool destroyed;
    unsigned references; /* primary: retained */
    unsigned flags, version;
    uint64_t id;
    _Atomic(CUresult) error; /* set by the thread that meets it, read by every call */
    size_t limits[CU_LIMIT_MAX];
    CUfunc_cache cache;
    CUstream legacy, streams; /* streams: all, legacy too, through next */
    struct drv_list modules, events;
    double host_clock;       /* modelled time that the host has waited for */
    struct drv_list retired; /* what watchers know the last work of destroyed streams by */
    struct drv_list leaving; /* handles of textures, destroyed while work was under way */
    struct drv_list peers;
};

struct drv_capture;
struct CUstream_st {
    struct drv_object object;
    CUcontext context;
    CUstream next;
    unsigned flags;
    int priority;
    uint64_t id;
    uint64_t thread;     /* whose per-thread default stream; 0: none */
    unsigned references; /* the handle and operations in flight */
    bool destroyed;
    struct drv_op *last;
    struct drv_capture *capture;
    struct drv_list capture_nodes;  /* what the next captured node depends on */
    CUgraphEdgeData *capture_edges; /* their edges, as cuStreamGetCaptureInfo gave them: zeros */
    CUlaunchAttributeValue attributes[17];
};

struct CUevent_st {
    struct drv_object object;
    CUcontext context;
    unsigned flags;
    bool is_timing;                  /* one of the device's timing_events */
    struct drv_op *op;               /* its latest record; NULL: never recorded */
    struct drv_shared_event *shared; /* NULL: this process's own */
    struct drv_capture *capture;
    struct drv_list capture_nodes;
};

/* The calling thread's state. */
struct drv_thread {
    CUcontext *stack;
    size_t depth, capacity;
    unsigned per_thread_default; /* in a _ptsz or _ptds call */
    CUstreamCaptureMode capture_mode;
    uint64_t id;
    bool settles;            /* waits, but not in modelled time */
    bool library_failed;     /* a library call has left an allocation */
    bool in_callback;        /* runs a host function: may not call the driver */
    void *watched;           /* the graph launch that runs in this thread, as watchers know it */
    const char *call;        /* the entry point that the program called last */
    uint32_t correlation;    /* of the call that a tool listens to (activity.h), or 0 */
    double began;            /* modelled start of the work that ran last, */
    double graph_began;      /* and of the graph */
    const struct drv_op *op; /* that runs in this thread */
};
extern __thread struct drv_thread drv_thread;
uint64_t drv_thread_id(void);
extern pthread_mutex_t drv_lock;
void drv_enter_lock(void);
void drv_leave_lock(void);

/* In the child of a process that has used the driver, calls fail that need anything of it. */
extern bool drv_forked;
void drv_watch_forks(void);
bool drv_fork_refuses(const char *name);

extern struct drv_device drv_devices[DRV_DEVICES_MAX];
extern int drv_device_count; /* 0 before cuInit */
/* CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_DEVICE or success. */
CUresult drv_check_device(CUdevice device);
/* The current context, if it can work: else the error that the call returns. */
CUresult drv_current(CUcontext *context);
/* The same; without a current context, the stream's. */
CUresult drv_current_of(CUstream handle, CUcontext *context);
/* As drv_current, and the call is refused while a capture forbids it (see capture.c). */
CUresult drv_current_uncaptured(CUcontext *context);
CUcontext drv_context_top(void);                      /* NULL if none */
CUresult drv_device_start(struct drv_device *device); /* makes its machine. Lock held, as for: */
void drv_wait_all(void);                              /* for the work of all contexts */
/* "lockstep: ..." on stderr. */
void drv_remark(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same once a process for each text. */
void drv_remark_once(const char *text);

/* The stream that a handle means in context; an error if none. Lock held. */
CUresult drv_stream_find(CUcontext context, CUstream handle, CUstream *stream);
CUstream drv_stream_new(CUcontext context, unsigned flags, int priority);
void drv_stream_release(CUstream stream);
void drv_stream_retire(CUstream stream); /* destroyed, and its last operation is done */
void drv_events_forget(CUcontext context);
void drv_event_recorded(CUevent event); /* kernels are counted from now on, if it takes the time */

/* Watchers: lock held. after: what op waits for, as watchers know it. */
void drv_watch_submit(struct drv_op *op, const struct drv_list *after);
void drv_watch_synced(const struct drv_op *op); /* the host has waited for it, or seen it done */
void drv_watch_retire(CUstream stream);         /* a stream goes; the legacy stream waits for it */
void drv_watch_after_retired(CUcontext context, struct drv_list *after);
void drv_watch_context_synced(CUcontext context);
/* A graph's node, as the graph runs: no lock needed. */
void *drv_watch_node(CUcontext context, const struct drv_work *work, const struct drv_list *after);

/* Queue: lock held ----------------------------------------------------------------------------- */

/* Work into the stream's queue; takes work over. The caller owns a reference. */
struct drv_op *drv_submit(CUstream stream, struct drv_work *work, struct drv_op *also_after,
                          bool wake);
void drv_op_release(struct drv_op *op);
struct drv_op *drv_op_retain(struct drv_op *op);
/* An error of the device: it stays with every context of it, as on a GPU. */
void drv_device_fault(struct drv_device *device, CUresult error);
/* A kernel only polls, and another may begin beside it; then it has ended (simt_set_yield). */
void drv_machine_yields(void *device);
void drv_machine_resumes(struct drv_device *device);
/* Waits, helping; then the context's error. */
CUresult drv_wait(CUcontext context, struct drv_op *op);
CUresult drv_wait_stream(CUstream stream);
CUresult drv_wait_context(CUcontext context);
bool drv_stream_idle(CUstream stream);

/* Work to a stream: into its graph while it captures, else into its queue. Takes work over. With
 * wait the call returns when it is done (not while capturing). */
CUresult drv_issue(CUstream stream, struct drv_work *work, bool wait);
/* The same from an entry point: finds context and stream, locks, flushes printf after a wait. */
CUresult drv_issue_to(CUstream handle, struct drv_work *work, bool wait);

/* Memory --------------------------------------------------------------------------------------- */

struct drv_allocation {
    CUdeviceptr address;
    size_t size;
    CUcontext context;
    struct drv_device *device;
    enum simt_memory_kind kind;
    bool registered;
    unsigned host_flags, attach_flags;
    CUmemoryPool pool;
    uint64_t id;
    int advice_read_mostly, advice_location, advice_accessed, prefetched;
    bool advice_host; /* the host accesses it, too */
    bool sync_memops;
    /* of a graph; it dies with the graph, unless a launch has allocated it and nothing freed it */
    bool graph_memory, graph_owned, graph_live;
    CUdeviceptr imported; /* of another process (ipc.c): the pages that show it; 0: our own */
    uint64_t imported_size, imported_offset; /* offset of the allocation in the other's file */
    unsigned opened;                         /* how often, by cuIpcOpenMemHandle */
};
/* The user's allocation that contains address; NULL if there is none. Lock held. */
struct drv_allocation *drv_allocation_find(CUdeviceptr address);
CUresult drv_allocate(CUcontext context, size_t size, enum simt_memory_kind kind,
                      struct drv_allocation **allocation);
/* The same for memory that is there already. */
struct drv_allocation *drv_allocation_adopt(CUcontext context, CUdeviceptr address, size_t size,
                                            enum simt_memory_kind kind);
void drv_allocation_free(struct drv_allocation *allocation);
void drv_allocation_release(struct drv_allocation *allocation);
void drv_allocation_give_to_graph(CUdeviceptr address);
void drv_memory_forget(CUcontext context); /* frees all that the context allocated */
void drv_note_bad_range(CUdeviceptr address, size_t bytes); /* a refused copy or memset */
void drv_memory_left(void); /* at the program's end: reports what was not freed to watchers */
void drv_memory_share(struct drv_device *device); /* pinned memory is every device's */
/* Host bytes behind device memory of any device; NULL: not device memory. */
void *drv_host(CUdeviceptr address, size_t size);
bool drv_is_device_address(CUdeviceptr address);

void drv_pool_freed(struct drv_allocation *allocation);
CUmemoryPool drv_pool_default(struct drv_device *device);
CUmemoryPool drv_pool_managed(struct drv_device *device);
CUresult drv_pool_allocate(CUcontext context, CUmemoryPool pool, size_t size, CUdeviceptr *address);

/* Modelled time: an engine of the device is busy for `seconds`, from *clock at the earliest; *clock
 * becomes the end. */
void drv_model(CUcontext context, enum drv_engine engine, double seconds, double *clock);

/* Copies and fills: checks, then work. */
CUresult drv_copy_check(struct drv_copy_work *copy);
CUresult drv_copy_from_3d(const CUDA_MEMCPY3D *params, struct drv_work *work);
void drv_copy_to_3d(const struct drv_copy_work *copy, CUDA_MEMCPY3D *params);
CUresult drv_copy_run(CUcontext context, struct drv_copy_work *copy, double *clock);
CUresult drv_fill_check(const struct drv_fill_work *fill);
CUresult drv_fill_run(CUcontext context, struct drv_fill_work *fill, double *clock);

/* Modules -------------------------------------------------------------------------------------- */

struct CUmod_st {
    struct drv_object object;
    CUcontext context;
    struct simt_module *module;
    struct drv_list functions;
    CUlibrary library; /* loaded for it; NULL: by itself */
};

struct drv_function_settings {
    int max_dynamic_shared, carveout;
    unsigned cluster[3];
    int non_portable_cluster, cluster_policy;
    CUfunc_cache cache;
};

struct CUfunc_st {
    struct drv_object object;
    CUmodule module;
    struct simt_kernel *kernel;
    const struct simt_kernel_info *info;
    struct drv_function_settings settings;
    CUkernel owner;                   /* the library's kernel that it belongs to; NULL: none */
    struct drv_legacy_launch *legacy; /* what the next cuLaunch takes; NULL: nothing was set */
    struct drv_times *times;          /* what its launches took; NULL: not known yet (times.c) */
    bool knows_registers;             /* the assembler was asked (registers.c) */
};

struct CUlib_st {
    struct drv_object object;
    char *image; /* PTX text of our own, ready to load */
    size_t image_size;
    unsigned max_registers;  /* 0: not limited */
    struct drv_list modules; /* one a context, loaded on demand */
    struct drv_list kernels;
};

struct CUkern_st {
    struct drv_object object;
    CUlibrary library;
    char *name;
};

struct drv_jit { /* what cuModuleLoadDataEx and cuLinkCreate options ask for */
    char *info, *error;
    size_t info_size, error_size;
    void **info_size_out, **error_size_out;
    unsigned max_registers; /* 0: not given */
};
CUresult drv_jit_options(unsigned count, const CUjit_option *options, void **values,
                         struct drv_jit *jit);
void drv_jit_log(struct drv_jit *jit, const char *error);

/* PTX text (malloc'd, with size) out of whatever cuModuleLoadData takes. */
CUresult drv_image_to_ptx(const struct gpu_info *gpu, const void *image, size_t size, char **text,
                          size_t *text_size, char **message);
CUresult drv_module_load_ptx(CUcontext context, const char *text, size_t size, struct drv_jit *jit,
                             CUmodule *result);
CUresult drv_module_load(CUcontext context, const void *image, size_t size, struct drv_jit *jit,
                         CUmodule *module);
CUresult drv_module_function(CUmodule module, const char *name, CUfunction *function);
void drv_module_free(CUmodule module);
void drv_function_free(CUfunction function);
/* A function from a CUfunction or a CUkernel handle, in context. */
CUresult drv_function_find(CUcontext context, CUfunction handle, CUfunction *function);

/* What NVIDIA's assembler gives its kernels, asked once. */
void drv_ask_registers(CUfunction function);

/* Checks a launch as a GPU does; then packs it into work. */
CUresult drv_kernel_check(CUcontext context, const struct drv_kernel_work *kernel);
CUresult drv_kernel_pack(struct drv_kernel_work *kernel, void **params, void **extra);
CUresult drv_kernel_run(CUcontext context, struct drv_kernel_work *kernel, double *clock);

/* Graphs --------------------------------------------------------------------------------------- */

struct CUgraphNode_st {
    struct drv_object object;
    CUgraph graph;
    unsigned id;
    struct drv_work work;
    struct drv_list before; /* nodes that it depends on */
    CUgraphNode origin;     /* in a clone or an executable graph: the node it was made from */
    bool disabled;
    double clock;  /* modelled end, while it runs */
    void *watched; /* the same: what a watcher knows it by */
    unsigned mark; /* for walks */
};

struct CUgraph_st {
    struct drv_object object;
    struct drv_list nodes;
    struct drv_list users;      /* CUuserObject, one entry a reference */
    struct drv_list conditions; /* handles for conditional nodes that were made for it */
    unsigned next_id;
    CUgraph origin; /* cloned from */
    CUgraph parent; /* of a child graph, or a body: not the user's to destroy */
};

struct CUgraphExec_st {
    struct drv_object object;
    CUcontext context;
    CUgraph graph; /* private; nodes in an order that respects the edges */
    uint64_t flags;
    unsigned pending; /* launches not done */
    bool destroyed;
    struct drv_op *last;
};

CUgraph drv_graph_new(void);
void drv_graph_free(CUgraph graph);
CUresult drv_graph_clone(CUgraph graph, CUgraph *clone);
/* Adds a node; takes work over (also on failure). */
CUresult drv_graph_add(CUgraph graph, struct drv_work *work, const CUgraphNode *before,
                       size_t count, CUgraphNode *node);
bool drv_graph_sort(CUgraph graph); /* nodes into an order that respects the edges */
CUresult drv_graph_run(CUgraphExec exec, double *clock);
CUgraphNodeType drv_node_type(CUgraphNode node);
void drv_exec_release(CUgraphExec exec);
/* Lock held; params gets the address that an allocation node gives. */
CUresult drv_params_to_work(CUgraphNodeParams *params, struct drv_work *work);
/* Without the lock: it runs the program's destructors. */
void drv_graph_flush_users(void);

/* Capture -------------------------------------------------------------------------------------- */

struct drv_capture {
    unsigned references; /* streams and events that know it */
    CUgraph graph;
    CUstream origin;
    CUstreamCaptureMode mode;
    CUstreamCaptureStatus status;
    uint64_t id, thread;
    bool own_graph, ended; /* own_graph: made by the capture, not the caller's */
    struct drv_list streams;
    struct drv_list loose; /* last nodes of streams that were destroyed since */
};

CUresult drv_capture_add(CUstream stream, struct drv_work *work, CUgraphNode *node);
CUresult drv_capture_record(CUstream stream, CUevent event);
/* Success if the wait was a matter of captures and is done: *handled. */
CUresult drv_capture_wait(CUstream stream, CUevent event, bool *handled);
CUresult drv_capture_refuses_legacy(CUstream stream); /* 906 if a blocking stream captures */
void drv_capture_invalidate(struct drv_capture *capture);
void drv_capture_leave_event(CUevent event);
void drv_capture_leave_stream(CUstream stream);
bool drv_capture_forbids(void); /* in this thread, calls that could wait */
void drv_capture_break(void);   /* invalidates the captures that forbid */

/* All entry points of simt's table. */
#define FN(result, name, parameters, arguments) result drv_##name parameters;
#include "cuda/api.def"

#endif
