"""book.py: test files whose kernels are written by hand, with what must come out as a Python
expression of the thread beside each. Used by gen_control.py, gen_warp.py and gen_spaces.py.
"""
from scaffold import File

M32 = 0xffffffff


class Book(File):
    """k(name, body, outs): a kernel; `out K, reg` in the body stores register K of a thread."""

    def k(self, name, body, outs, block=32, grid=1, tail="", module="", params="", bits=32,
          declare=""):
        threads = block * grid
        lines = []
        for line in body.strip().split("\n"):
            line = line.strip()
            if line.startswith("out "):
                index, reg = line[4:].rstrip(";").split(",")
                lines.append("st.global.b%d [%%o+%d], %s;" % (
                    bits, int(index) * threads * bits // 8, reg.strip()))
            elif line:
                lines.append(line)
        self.header.append("// run: %s block %d%s%s" % (
            name, block, " grid %d" % grid if grid > 1 else "", " " + tail if tail else ""))
        for label, f in outs:
            values = [f(t) for t in range(threads)]
            self.expect(label, b"".join((v & (1 << bits) - 1).to_bytes(bits // 8, "little")
                                        for v in values))
        if module:
            self.add_text(module)
        self.body += [".visible .entry %s(.param .u64 out, .param .u64 in)" % name, "{",
                      "    .reg .b16 %h<10>;", "    .reg .b32 %t, %g, %r<60>;",
                      "    .reg .pred %p<20>;", "    .reg .b64 %in, %out, %o, %d<40>;"]
        self.body += ["    " + x for x in declare.strip().split("\n") if x]
        self.body += ["    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
                      "    mov.u32 %t, %tid.x;", "    mov.u32 %g, %ctaid.x;",
                      "    mad.lo.u32 %%g, %%g, %d, %%t;" % block,
                      "    mad.wide.u32 %%o, %%g, %d, %%out;" % (bits // 8)]
        self.body += [x if x.endswith(":") else "    " + x for x in lines] + ["    ret;", "}", ""]
