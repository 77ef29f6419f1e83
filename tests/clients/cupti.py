"""cupti.py: CUPTI's activities and callbacks on a simulated GPU, by ctypes: kernels, copies, fills and a graph, with
their calls, external ids and modelled times; what is not there says so. Prints a line that run.sh expects."""

import ctypes
import struct
import time

cuda, cupti = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcupti.so.13")
COUNT = 1 << 20
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 data) {
 .reg .b64 %rd<4>; .reg .b32 %r<5>;
 ld.param.u64 %rd1, [data]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 256, %r2;
 mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, %r3;
 st.global.u32 [%rd1], %r3; ret;
}
"""
KERNEL, COPY, FILL, DRIVER, EXTERNAL = 10, 1, 2, 4, 39


def call(library, name, *words):
    status = getattr(library, name)(*words)
    assert status == 0, (name, status)


class CallbackData(ctypes.Structure):
    _fields_ = [("site", ctypes.c_int), ("name", ctypes.c_char_p), ("params", ctypes.c_void_p),
                ("result", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("context", ctypes.c_void_p),
                ("context_number", ctypes.c_uint), ("own", ctypes.POINTER(ctypes.c_uint64)),
                ("correlation", ctypes.c_uint)]


heard, records, buffers = [], [], []


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(CallbackData))
def callback(user, domain, number, data):
    data = data.contents
    if data.site == 0:
        data.own[0] = 7000 + data.correlation  # comes back when the call ends
    else:
        assert data.own[0] == 7000 + data.correlation and ctypes.c_int.from_address(data.result).value == 0
    heard.append((domain, number, data.site, data.name, data.symbol, data.correlation))


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
def request(buffer, size, most):
    buffers.append(ctypes.create_string_buffer(600))  # room for a few records
    buffer[0], size[0], most[0] = ctypes.addressof(buffers[-1]), 600, 0


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
def complete(context, stream, buffer, size, valid):
    record = ctypes.c_void_p()
    while cupti.cuptiActivityGetNextRecord(ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)) == 0:
        kind = ctypes.c_uint.from_address(record.value).value
        text = ctypes.string_at(record.value, {KERNEL: 224, COPY: 96, FILL: 88, DRIVER: 40, EXTERNAL: 24}[kind])
        if kind == KERNEL:
            start, end = struct.unpack_from("QQ", text, 16)
            correlation, = struct.unpack_from("I", text, 92)
            name, = struct.unpack_from("Q", text, 104)
            graph, = struct.unpack_from("I", text, 156)
            records.append((kind, correlation, start, end, ctypes.string_at(name), graph,
                            struct.unpack_from("3i3i", text, 52), struct.unpack_from("I", text, 48)[0]))
        elif kind == COPY:
            size, start, end = struct.unpack_from("QQQ", text, 8)
            records.append((kind, struct.unpack_from("I", text, 44)[0], start, end, text[4], size))
        elif kind == FILL:
            size, start, end = struct.unpack_from("QQQ", text, 8)
            records.append((kind, struct.unpack_from("I", text, 44)[0], start, end, size))
        elif kind == DRIVER:
            records.append((kind, struct.unpack_from("I", text, 32)[0], struct.unpack_from("I", text, 4)[0]))
        else:
            records.append((kind, struct.unpack_from("I", text, 16)[0], struct.unpack_from("Q", text, 8)[0]))


context, module, kernel, subscriber = (ctypes.c_void_p() for _ in range(4))
data, version = ctypes.c_uint64(), ctypes.c_uint()
call(cuda, "cuInit", 0)
call(cuda, "cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call(cuda, "cuCtxSetCurrent", context)
call(cuda, "cuModuleLoadData", ctypes.byref(module), PTX)
call(cuda, "cuModuleGetFunction", ctypes.byref(kernel), module, b"twice")
call(cuda, "cuMemAlloc_v2", ctypes.byref(data), ctypes.c_size_t(4 * COUNT))
params = (ctypes.c_void_p * 1)(ctypes.addressof(data))


def launch(stream=None):
    call(cuda, "cuLaunchKernel", kernel, COUNT // 256, 1, 1, 256, 1, 1, 0, stream, params, None)


launch()  # nobody listens yet
call(cupti, "cuptiGetVersion", ctypes.byref(version))
call(cupti, "cuptiSubscribe", ctypes.byref(subscriber), callback, None)
assert cupti.cuptiSubscribe(ctypes.byref(ctypes.c_void_p()), callback, None) == 39  # one at a time
for number in 307, 514:
    call(cupti, "cuptiEnableCallback", 1, subscriber, 1, number)
for kind in KERNEL, COPY, FILL, DRIVER, EXTERNAL:
    call(cupti, "cuptiActivityEnable", kind)
call(cupti, "cuptiActivityRegisterCallbacks", request, complete)
before = time.time_ns()
call(cuda, "cuMemsetD32_v2", data, 1, ctypes.c_size_t(COUNT))
call(cupti, "cuptiActivityPushExternalCorrelationId", 5, ctypes.c_uint64(1234))
launch()
launch()
call(cupti, "cuptiActivityPopExternalCorrelationId", 5, None)
result = (ctypes.c_int * COUNT)()
call(cuda, "cuMemcpyDtoH_v2", result, data, ctypes.c_size_t(4 * COUNT))
assert result[COUNT - 1] == 4

# A graph: its launch is one call, its kernels have the number of the executable graph.
stream, graph, executable = (ctypes.c_void_p() for _ in range(3))
call(cuda, "cuStreamCreate", ctypes.byref(stream), 1)
call(cuda, "cuStreamBeginCapture_v2", stream, 0)
launch(stream)
launch(stream)
call(cuda, "cuStreamEndCapture", stream, ctypes.byref(graph))
call(cuda, "cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
call(cuda, "cuGraphLaunch", executable, stream)
call(cuda, "cuStreamSynchronize", stream)
number = ctypes.c_uint()
call(cupti, "cuptiGetGraphExecId", executable, ctypes.byref(number))
device, of_stream = ctypes.c_uint(9), ctypes.c_uint()
call(cupti, "cuptiGetDeviceId", context, ctypes.byref(device))
call(cupti, "cuptiGetStreamIdEx", context, stream, 0, ctypes.byref(of_stream))
call(cupti, "cuptiSetThreadIdType", 1)
call(cupti, "cuptiActivityFlushAll", 1)
after = time.time_ns()

kernels = [each for each in records if each[0] == KERNEL]
launches = [each for each in heard if each[2] == 0]
assert [each[3] for each in launches] == [b"cuLaunchKernel"] * 4 + [b"cuGraphLaunch"], launches
assert [each[4] for each in launches] == [b"twice"] * 4 + [None]
assert [each[1] for each in kernels] == [launches[i][5] for i in (0, 1, 4, 4)]
assert [each[5] for each in kernels] == [0, 0, number.value, number.value] and number.value
for each in kernels:
    assert each[4] == b"twice" and each[6] == (COUNT // 256, 1, 1, 256, 1, 1)
    assert before < each[2] < after and 2000 < each[3] - each[2] < 20000  # 8 MB of an H200's bandwidth, and a launch
assert kernels[0][3] <= kernels[1][2] and kernels[2][3] <= kernels[3][2]  # one after another
assert device.value == 0 and [each[7] == of_stream.value for each in kernels] == [False, False, True, True]
(copy,), (fill,) = ([each for each in records if each[0] == kind] for kind in (COPY, FILL))
assert copy[4:] == (2, 4 * COUNT) and 50000 < copy[3] - copy[2] < 500000  # from the device, over PCIe
assert fill[4] == 4 * COUNT and fill[3] <= kernels[0][2]
assert [each[1:] for each in records if each[0] == EXTERNAL] == [(launches[i][5], 1234) for i in (0, 1)]
calls = [each[1:] for each in records if each[0] == DRIVER]
assert [(each[5], each[1]) for each in launches] == [each for each in calls if each[1] in (307, 514)]

call(cupti, "cuptiUnsubscribe", subscriber)
call(cupti, "cuptiFinalize")
count = len(records), len(heard)
launch()
call(cuda, "cuCtxSynchronize")
call(cupti, "cuptiActivityFlushAll", 0)
assert (len(records), len(heard)) == count
assert cupti.cuptiPCSamplingStart(None) == 11  # said on stderr, too
print("CUPTI works")
