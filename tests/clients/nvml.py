"""nvml.py: the GPUs as NVML tells of them, by ctypes; prints a line that run.sh expects."""

import ctypes

nvml = ctypes.CDLL("libnvidia-ml.so.1")


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class Pci(ctypes.Structure):
    _fields_ = [("legacy", ctypes.c_char * 16), *((name, ctypes.c_uint) for name in "abcde"), ("bus_id", ctypes.c_char * 32)]


def call(name, *words):
    status = getattr(nvml, name)(*words)
    assert status == 0, (name, status)


count, device, again, third = ctypes.c_uint(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
name, uuid = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96)
memory, pci = Memory(), Pci()
call("nvmlInit_v2")
call("nvmlDeviceGetCount_v2", ctypes.byref(count))
call("nvmlDeviceGetHandleByIndex_v2", count.value - 1, ctypes.byref(device))
call("nvmlDeviceGetName", device, name, 96)
call("nvmlDeviceGetUUID", device, uuid, 96)
call("nvmlDeviceGetMemoryInfo", device, ctypes.byref(memory))
call("nvmlDeviceGetPciInfo_v3", device, ctypes.byref(pci))
call("nvmlDeviceGetHandleByUUID", uuid, ctypes.byref(again))
call("nvmlDeviceGetHandleByPciBusId_v2", pci.bus_id, ctypes.byref(third))
assert device.value == again.value == third.value, (device, again, third)
assert memory.free + memory.used == memory.total > 0
assert nvml.nvmlDeviceGetHandleByIndex_v2(count.value, ctypes.byref(again)) == 2
assert nvml.nvmlDeviceGetName(device, name, 3) == 7
generation, lanes = ctypes.c_uint(), ctypes.c_uint()
call("nvmlDeviceGetMaxPcieLinkGeneration", device, ctypes.byref(generation))
call("nvmlDeviceGetMaxPcieLinkWidth", device, ctypes.byref(lanes))
assert generation.value in (3, 4, 5) and lanes.value == 16
for kind in "Compute", "Graphics":
    for version in "", "_v2", "_v3":
        count_of = ctypes.c_uint(7)
        call(f"nvmlDeviceGet{kind}RunningProcesses{version}", device, ctypes.byref(count_of), None)
        assert count_of.value == 0
rates = (ctypes.c_uint * 2)()
assert nvml.nvmlDeviceGetUtilizationRates(device, rates) == 3  # not supported
assert nvml.nvmlDeviceGetTemperature(device, 0, ctypes.byref(count)) == 3
print(f"{count.value} x {name.value.decode()}")
