/*
 * graph.c: the family: work on the edges of a graph. Edges meet at vertices, so it needs atomics.
 *   degree    how many edges each vertex has, from a list of edges
 *   bfs_step  one level of a breadth-first search: a frontier, its neighbours, the next frontier
 *   bfs       all levels, from one vertex
 * Each kind has its variants, from a thread for each edge or vertex to equal shares of the edges.
 */
#include "zoo/sparse.h"
#include "zoo/zoo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES, PER_VERTEX, KIND, GRAPH, FRONTIER };
enum { DEGREE, STEP, SEARCH }; /* kinds */
enum { FROM, TO, DEGREES };
enum { OFFSETS, NEIGHBOURS, FRONTIER_LIST, DISTANCE, NEXT_DISTANCE, NEXT, NEXT_COUNT };
enum { SOURCE = 2, SEARCH_DISTANCE };
enum { LEVEL = 3 };            /* of the frontier of a step */
enum { MOST_PRIVATE = 12288 }; /* vertices that 48 KiB of shared memory count */
enum { GROUP = 256 };          /* as in edge_balanced.cu */

static const char *const kinds[] = {"degree", "bfs_step", "bfs", NULL};
static const char *const graphs[] = {"uniform", "powerlaw", NULL};
/* Of a list of edges: in no order, sorted by their first vertex, all the same. It makes no
 * difference to a search, which reads compressed rows. */
static const char *const distributions[] = {"shuffled", "sorted", "constant", NULL};
enum { SHUFFLED, SORTED, CONSTANT };

/* The problem -----------------------------------------------------------------------------------*/

static int64_t kind_of(const struct zoo_problem *problem)
{
    return problem->value[KIND];
}

/* In compressed rows neighbours are distinct, and offsets fit in 31 bits. */
static struct zoo_sparse graph_of(const struct zoo_problem *problem)
{
    int64_t vertices = problem->value[VERTICES], each = problem->value[PER_VERTEX];
    if (kind_of(problem) != DEGREE || problem->distribution == SORTED) {
        each = each < vertices ? each : vertices;
        each = each < INT32_MAX / (vertices + 1) ? each : INT32_MAX / (vertices + 1);
    }
    return (struct zoo_sparse){
        .pattern = problem->value[GRAPH] ? ZOO_POWER_LAW : ZOO_SCATTERED,
        .rows = vertices,
        .cols = vertices,
        .nonzeros = vertices * each,
        .seed = problem->seed,
    };
}

static int64_t frontier_of(const struct zoo_problem *problem)
{
    int64_t vertices = problem->value[VERTICES], wanted = problem->value[FRONTIER];
    return wanted == 0 ? (vertices + 7) / 8 : wanted < vertices ? wanted : vertices;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    struct zoo_sparse graph = graph_of(problem);
    size_t vertices = (size_t)graph.rows, edges = (size_t)graph.nonzeros;
    if (kind_of(problem) == DEGREE) {
        buffers[FROM] = (struct zoo_buffer){"from", ZOO_IN, ZOO_I32, edges};
        buffers[TO] = (struct zoo_buffer){"to", ZOO_IN, ZOO_I32, edges};
        buffers[DEGREES] = (struct zoo_buffer){"degree", ZOO_OUT, ZOO_U32, vertices};
        return 3;
    }
    buffers[OFFSETS] = (struct zoo_buffer){"offsets", ZOO_IN, ZOO_I32, vertices + 1};
    buffers[NEIGHBOURS] = (struct zoo_buffer){"neighbours", ZOO_IN, ZOO_I32, edges};
    if (kind_of(problem) == SEARCH) {
        buffers[SOURCE] = (struct zoo_buffer){"source", ZOO_IN, ZOO_I32, 1};
        buffers[SEARCH_DISTANCE] = (struct zoo_buffer){"distance", ZOO_OUT, ZOO_I32, vertices};
        return 4;
    }
    buffers[FRONTIER_LIST] =
        (struct zoo_buffer){"frontier", ZOO_IN, ZOO_I32, (size_t)frontier_of(problem)};
    buffers[DISTANCE] = (struct zoo_buffer){"distance", ZOO_IN, ZOO_I32, vertices};
    buffers[NEXT_DISTANCE] = (struct zoo_buffer){"next_distance", ZOO_OUT, ZOO_I32, vertices};
    buffers[NEXT] = (struct zoo_buffer){"next", ZOO_OUT, ZOO_I32, vertices};
    buffers[NEXT_COUNT] = (struct zoo_buffer){"next_count", ZOO_OUT, ZOO_U32, 1};
    return 7;
}

/* Generator -------------------------------------------------------------------------------------*/

/* A random end of an edge. In a power law vertex k is drawn in proportion to k^(-2/3): of four
 * million, the first has six edges in a thousand. A multiplication scatters them. */
static int32_t draw_vertex(const struct zoo_sparse *graph, unsigned stream, int64_t index)
{
    double unit = zoo_random_unit(graph->seed, stream, (uint64_t)index);
    if (graph->pattern != ZOO_POWER_LAW)
        return (int32_t)(unit * (double)graph->rows);
    uint64_t rank = (uint64_t)(unit * unit * unit * (double)graph->rows);
    return (int32_t)(rank * 0x9e3779b1u % (uint64_t)graph->rows);
}

static void generate_sorted(const struct zoo_sparse *graph, int32_t *from, int32_t *to)
{
    int32_t *offsets = malloc(((size_t)graph->rows + 1) * sizeof *offsets);
    if (!offsets)
        abort();
    zoo_sparse_offsets(graph, offsets);
    zoo_sparse_columns(graph, offsets, to);
    for (int64_t v = 0; v < graph->rows; v++)
        for (int64_t e = offsets[v]; e < offsets[v + 1]; e++)
            from[e] = (int32_t)v;
    free(offsets);
}

static void generate_edges(const struct zoo_problem *problem, int32_t *from, int32_t *to)
{
    struct zoo_sparse graph = graph_of(problem);
    bool constant = problem->distribution == CONSTANT;
    if (problem->distribution == SORTED) {
        generate_sorted(&graph, from, to);
        return;
    }
#pragma omp parallel for schedule(static) if (graph.nonzeros > 100000)
    for (int64_t e = 0; e < graph.nonzeros; e++) {
        from[e] = constant ? (int32_t)(graph.rows / 2) : draw_vertex(&graph, 0, e);
        to[e] = constant ? (int32_t)(graph.rows / 2) : draw_vertex(&graph, 1, e);
    }
}

/* One vertex of each stratum, shuffled; a quarter of the others were seen at earlier levels. */
static void generate_frontier(const struct zoo_problem *problem, int32_t *frontier,
                              int32_t *distance)
{
    int64_t vertices = problem->value[VERTICES], count = frontier_of(problem);
    for (int64_t v = 0; v < vertices; v++) {
        uint64_t random = zoo_random(problem->seed, 2, (uint64_t)v);
        distance[v] = random % 4 == 0 ? (int32_t)((random >> 32) % LEVEL) : -1;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t from = i * vertices / count, to = (i + 1) * vertices / count;
        int64_t step = (int64_t)(zoo_random(problem->seed, 3, (uint64_t)i) % (uint64_t)(to - from));
        frontier[i] = (int32_t)(from + step);
        distance[frontier[i]] = LEVEL;
    }
    for (int64_t i = count - 1; i > 0; i--) {
        uint64_t other = zoo_random(problem->seed, 4, (uint64_t)i) % (uint64_t)(i + 1);
        int32_t vertex = frontier[i];
        frontier[i] = frontier[other];
        frontier[other] = vertex;
    }
}

/* The first vertex that has an edge. */
static int32_t first_source(const int32_t *offsets, int64_t vertices)
{
    for (int64_t v = 0; v < vertices; v++)
        if (offsets[v + 1] > offsets[v])
            return (int32_t)v;
    return 0;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_sparse graph = graph_of(problem);
    if (kind_of(problem) == DEGREE) {
        generate_edges(problem, buffer[FROM], buffer[TO]);
        return;
    }
    zoo_sparse_offsets(&graph, buffer[OFFSETS]);
    zoo_sparse_columns(&graph, buffer[OFFSETS], buffer[NEIGHBOURS]);
    if (kind_of(problem) == STEP)
        generate_frontier(problem, buffer[FRONTIER_LIST], buffer[DISTANCE]);
    else
        *(int32_t *)buffer[SOURCE] = first_source(buffer[OFFSETS], graph.rows);
}

/* Reference: all of it is exact -----------------------------------------------------------------*/

static void reference_degree(const struct zoo_problem *problem, void *const *buffer,
                             struct zoo_expected *expected)
{
    const int32_t *from = buffer[FROM], *to = buffer[TO];
    for (int64_t e = 0; e < graph_of(problem).nonzeros; e++) {
        expected[DEGREES].value[from[e]]++;
        expected[DEGREES].value[to[e]]++;
    }
}

/* The next frontier may be in any order, so only its size is checked, and that it holds vertices:
 * the distances say which. */
static void reference_step(const struct zoo_problem *problem, void *const *buffer,
                           struct zoo_expected *expected)
{
    const int32_t *offsets = buffer[OFFSETS], *neighbours = buffer[NEIGHBOURS];
    const int32_t *frontier = buffer[FRONTIER_LIST], *distance = buffer[DISTANCE];
    int64_t vertices = problem->value[VERTICES];
    double *next = expected[NEXT_DISTANCE].value;
    size_t found = 0;
    for (int64_t v = 0; v < vertices; v++)
        next[v] = distance[v];
    for (int64_t i = 0; i < frontier_of(problem); i++)
        for (int64_t e = offsets[frontier[i]]; e < offsets[frontier[i] + 1]; e++)
            if (next[neighbours[e]] < 0) {
                next[neighbours[e]] = LEVEL + 1;
                found++;
            }
    expected[NEXT_COUNT].value[0] = (double)found;
    expected[NEXT].count = found;
    for (size_t i = 0; i < found; i++) {
        expected[NEXT].value[i] = (double)(vertices - 1) / 2;
        expected[NEXT].bound[i] = (double)vertices / 2;
    }
}

static void reference_search(const struct zoo_problem *problem, void *const *buffer,
                             struct zoo_expected *expected)
{
    const int32_t *offsets = buffer[OFFSETS], *neighbours = buffer[NEIGHBOURS];
    int64_t vertices = problem->value[VERTICES], head = 0, tail = 0;
    double *distance = expected[SEARCH_DISTANCE].value;
    int32_t *queue = malloc(((size_t)vertices + 1) * sizeof *queue);
    if (!queue)
        abort();
    for (int64_t v = 0; v < vertices; v++)
        distance[v] = -1;
    if (vertices > 0) {
        queue[tail++] = *(const int32_t *)buffer[SOURCE];
        distance[queue[0]] = 0;
    }
    for (; head < tail; head++)
        for (int64_t e = offsets[queue[head]]; e < offsets[queue[head] + 1]; e++)
            if (distance[neighbours[e]] < 0) {
                distance[neighbours[e]] = distance[queue[head]] + 1;
                queue[tail++] = neighbours[e];
            }
    free(queue);
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    if (kind_of(problem) == DEGREE)
        reference_degree(problem, buffer, expected);
    else if (kind_of(problem) == STEP)
        reference_step(problem, buffer, expected);
    else
        reference_search(problem, buffer, expected);
}

/* Each array once. A step reads the lists of its frontier, taken to have the mean length, copies
 * all distances, and writes what it finds: the neighbours not seen before, as if each were drawn
 * independently. */
static double bytes(const struct zoo_problem *problem)
{
    struct zoo_sparse graph = graph_of(problem);
    double vertices = (double)graph.rows, edges = (double)graph.nonzeros;
    if (kind_of(problem) == DEGREE)
        return 8 * edges + 4 * vertices;
    if (kind_of(problem) == SEARCH)
        return 4 * edges + 8 * vertices + 4;
    if (vertices == 0)
        return 4;
    double frontier = (double)frontier_of(problem), met = frontier * edges / vertices;
    double found = 0.75 * (vertices - frontier) * (1 - exp(-met / vertices));
    return 12 * frontier + 4 * met + 8 * vertices + 8 * found + 4;
}

static double flops(const struct zoo_problem *problem)
{
    (void)problem;
    return 0;
}

/* Launches --------------------------------------------------------------------------------------*/

static bool takes_degree(const struct zoo_problem *problem)
{
    return kind_of(problem) == DEGREE;
}
static bool takes_few(const struct zoo_problem *problem)
{
    return kind_of(problem) == DEGREE && problem->value[VERTICES] <= MOST_PRIVATE;
}
static bool takes_step(const struct zoo_problem *problem)
{
    return kind_of(problem) == STEP;
}
static bool takes_search(const struct zoo_problem *problem)
{
    return kind_of(problem) == SEARCH;
}

/* Clears the degrees and starts the kernel; one that counts in shared memory also gets the number
 * of vertices. */
static CUresult launch_degree(struct zoo_call *call, unsigned blocks, size_t shared)
{
    struct zoo_sparse graph = graph_of(call->problem);
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    CUresult status = CUDA_SUCCESS;
    if (graph.rows > 0)
        status = zoo_clear(call, call->buffer[DEGREES], 4 * (size_t)graph.rows);
    if (status != CUDA_SUCCESS || graph.nonzeros == 0)
        return status;
    struct zoo_grid grid = {.x = blocks, .threads = threads, .shared = (unsigned)shared};
    if (shared)
        return ZOO_LAUNCH(call, "count_degrees", grid, &call->buffer[FROM], &call->buffer[TO],
                          &graph.nonzeros, &graph.rows, &call->buffer[DEGREES]);
    return ZOO_LAUNCH(call, "count_degrees", grid, &call->buffer[FROM], &call->buffer[TO],
                      &graph.nonzeros, &call->buffer[DEGREES]);
}

static CUresult launch_global_atomics(struct zoo_call *call)
{
    int64_t edges = graph_of(call->problem).nonzeros;
    return launch_degree(call, zoo_ceil_div(edges, zoo_tunable(call, "BLOCK")), 0);
}

static CUresult launch_warp_aggregated(struct zoo_call *call)
{
    int64_t each = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "UNROLL");
    return launch_degree(call, zoo_ceil_div(graph_of(call->problem).nonzeros, each), 0);
}

static CUresult launch_shared_private(struct zoo_call *call)
{
    struct zoo_sparse graph = graph_of(call->problem);
    int64_t each = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "UNROLL") * 4;
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t wanted = (graph.nonzeros + each - 1) / each;
    return launch_degree(call, (unsigned)(wanted < most ? wanted : most), 4 * (size_t)graph.rows);
}

static CUresult launch_start(struct zoo_call *call)
{
    int64_t vertices = call->problem->value[VERTICES];
    int64_t blocks = (vertices + 1023) / 1024, most = 16 * (int64_t)call->device->sm_count;
    return ZOO_LAUNCH(
        call, "start",
        ((struct zoo_grid){.x = (unsigned)(blocks < most ? blocks : most), .threads = 256}),
        &call->buffer[DISTANCE], &call->buffer[NEXT_DISTANCE], &vertices,
        &call->buffer[NEXT_COUNT]);
}

/* Each vertex of the frontier gets `lanes` threads. */
static CUresult launch_vertices(struct zoo_call *call, int lanes)
{
    int64_t count = frontier_of(call->problem);
    int32_t level = LEVEL + 1;
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    CUresult status = launch_start(call);
    if (status != CUDA_SUCCESS || count == 0)
        return status;
    return ZOO_LAUNCH(
        call, "expand",
        ((struct zoo_grid){.x = zoo_ceil_div(count * lanes, threads), .threads = threads}),
        &call->buffer[OFFSETS], &call->buffer[NEIGHBOURS], &call->buffer[FRONTIER_LIST], &count,
        &level, &call->buffer[NEXT_DISTANCE], &call->buffer[NEXT], &call->buffer[NEXT_COUNT]);
}

static CUresult launch_thread_per_vertex(struct zoo_call *call)
{
    return launch_vertices(call, 1);
}

static CUresult launch_warp_per_vertex(struct zoo_call *call)
{
    return launch_vertices(call, 32);
}

static size_t workspace_edge_balanced(const struct zoo_call *call)
{
    size_t count = (size_t)frontier_of(call->problem);
    return 4 * (2 * count + zoo_ceil_div((int64_t)count, GROUP) + 1);
}

static CUresult launch_edge_balanced(struct zoo_call *call)
{
    int64_t count = frontier_of(call->problem), groups = zoo_ceil_div(count, GROUP);
    int32_t level = LEVEL + 1;
    CUdeviceptr starts = call->workspace, ends = starts + 4 * (CUdeviceptr)count;
    CUdeviceptr totals = ends + 4 * (CUdeviceptr)count;
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    CUresult status = launch_start(call);
    if (status != CUDA_SUCCESS || count == 0)
        return status;
    status = ZOO_LAUNCH(
        call, "sum_degrees", ((struct zoo_grid){.x = (unsigned)groups, .threads = GROUP}),
        &call->buffer[OFFSETS], &call->buffer[FRONTIER_LIST], &count, &starts, &ends, &totals);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, "sum_groups", ((struct zoo_grid){.x = 1, .threads = 1024}),
                            &totals, &groups);
    unsigned blocks = (unsigned)call->device->sm_count * zoo_resident(call, "expand", threads, 0);
    if (status != CUDA_SUCCESS || blocks == 0)
        return status;
    return ZOO_LAUNCH(call, "expand", ((struct zoo_grid){.x = blocks, .threads = threads}), &starts,
                      &ends, &totals, &call->buffer[NEIGHBOURS], &count, &level,
                      &call->buffer[NEXT_DISTANCE], &call->buffer[NEXT], &call->buffer[NEXT_COUNT]);
}

enum { STATE_BYTES = 256 };

static size_t workspace_whole_search(const struct zoo_call *call)
{
    return STATE_BYTES + 8 * (size_t)call->problem->value[VERTICES];
}

/* Few blocks for a small graph: every block makes the barriers slower. */
static unsigned search_blocks(struct zoo_call *call, unsigned threads)
{
    unsigned resident = zoo_resident(call, "search", threads, 0);
    unsigned wanted = (unsigned)zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t most = (int64_t)call->device->sm_count * (wanted < resident ? wanted : resident);
    int64_t enough = (4 * call->problem->value[VERTICES] + threads - 1) / threads;
    return (unsigned)(enough < most ? enough : most);
}

static CUresult launch_whole_search(struct zoo_call *call)
{
    int64_t vertices = call->problem->value[VERTICES];
    CUdeviceptr state = call->workspace, list = state + STATE_BYTES;
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    if (vertices == 0)
        return CUDA_SUCCESS;
    CUresult status = zoo_clear(call, state, STATE_BYTES);
    if (status != CUDA_SUCCESS)
        return status;
    struct zoo_grid grid = {
        .x = search_blocks(call, threads), .threads = threads, .cooperative = true};
    return ZOO_LAUNCH(call, "search", grid, &call->buffer[OFFSETS], &call->buffer[NEIGHBOURS],
                      &call->buffer[SOURCE], &vertices, &call->buffer[SEARCH_DISTANCE], &list,
                      &state);
}

static const struct zoo_variant variants[] = {
    {"global_atomics", "degrees: two atomics for each edge", launch_global_atomics,
     .takes = takes_degree, .traits = ZOO_DETERMINISTIC},
    {"warp_aggregated", "degrees: lanes with the same vertex add once", launch_warp_aggregated,
     .takes = takes_degree, .traits = ZOO_DETERMINISTIC},
    {"shared_private", "degrees of few vertices: counted in shared memory", launch_shared_private,
     .takes = takes_few, .traits = ZOO_DETERMINISTIC},
    {"thread_per_vertex", "a step: a thread walks along a vertex's neighbours",
     launch_thread_per_vertex, .takes = takes_step},
    {"warp_per_vertex", "a step: a warp for each vertex, one atomic for what it finds",
     launch_warp_per_vertex, .takes = takes_step},
    {"edge_balanced", "a step: equal shares of edges for each block", launch_edge_balanced,
     workspace_edge_balanced, .takes = takes_step},
    {"whole_search", "a search: all levels in one cooperative launch", launch_whole_search,
     workspace_whole_search, .takes = takes_search, .traits = ZOO_DETERMINISTIC | ZOO_COOPERATIVE},
    {0}};

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "torch.bincount(x[0], minlength=vertices) + torch.bincount(x[1], minlength=vertices)",
     .takes = takes_degree},
    {0}};

static const char *const edges[] = {
    "vertices=0,1,2,33,255,1000 edges_per_vertex=0,1,3,17 kind=degree",
    ("vertices=300,12288,20000 edges_per_vertex=5 kind=degree graph=uniform,powerlaw "
     "dist=shuffled,sorted,constant"),
    "vertices=100 edges_per_vertex=1023 kind=degree",
    "vertices=0,1,2,33,257,1000 edges_per_vertex=0,1,3,17 kind=bfs_step,bfs",
    "vertices=3000 edges_per_vertex=8 kind=bfs_step,bfs graph=uniform,powerlaw",
    "vertices=2000 edges_per_vertex=40 frontier=1,31,32,33,2000 kind=bfs_step graph=powerlaw",
    "vertices=200000 edges_per_vertex=10 frontier=200000 kind=bfs_step graph=powerlaw",
    NULL};

static const char *const bench[] = {
    "vertices=4M edges_per_vertex=16 kind=degree graph=uniform,powerlaw dist=shuffled,sorted",
    "vertices=8K edges_per_vertex=8K kind=degree graph=uniform,powerlaw",
    "vertices=4M edges_per_vertex=16 kind=bfs_step graph=uniform,powerlaw",
    "vertices=4M edges_per_vertex=16 kind=bfs graph=uniform,powerlaw", NULL};

const struct zoo_family zoo_graph = {
    .name = "graph",
    .title = "edges of a graph, with atomics",
    .problem = "degree: how many edges of a list each vertex is an end of; an edge to itself "
               "counts twice. bfs_step: from the frontier of a breadth-first search at level 3, "
               "distances (-1: not seen) with the unseen neighbours at level 4, and those as the "
               "next frontier, in any order. bfs: the distances of all vertices from one.",
    .parameters = {{"vertices", "of the graph", 0, (int64_t)1 << 30, 1 << 17, NULL},
                   {"edges_per_vertex", "on average", 0, 1 << 20, 16, NULL},
                   {"kind", "what is asked", 0, 2, 0, kinds},
                   {"graph", "where the edges lie", 0, 1, 0, graphs},
                   {"frontier", "vertices of a step's; 0: an eighth of all", 0, (int64_t)1 << 30, 0,
                    NULL},
                   {0}},
    .distributions = distributions,
    .profile = "vertices=128K kind=bfs_step graph=powerlaw",
    ZOO_FAMILY_PARTS,
};
