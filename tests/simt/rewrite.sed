# CUDA C++ as plain C++ that calls shim.h; with sed -E -z. What it does not know stays and does not compile.
s/#pragma unroll[^\n]*//g
# kernel<<<grid, block, shared, stream>>>(arguments);
s/\n( *)([A-Za-z_][^;{}\n]*)<<<([^;]*)>>>\(([^;]*)\);/\n\1simt::launch("\2", [\&] { \2(\4); }, \3);/g
# Shared memory: of a size that the launch gives, and of a size that is known.
s/extern __shared__ ([^;[]*[^ ;[]) +([a-z_]+)\[\];/\1* const \2 = simt::dynamic_shared<\1>();/g
s/__shared__ ([^;[]*[^ ;[]) +([a-z_]+)(\[[^;]*)?;/static simt::Shared<\1\3> simt_\2; auto\& \2 = simt_\2.of_block();/g
# asm("text" : "=r"(result) : "r"(operand) : "memory"): the operands in their order.
s/asm( volatile)?\(/simt::ptx(/g
s/::"memory"//g
s/\s*:?\s*:\s*"[=+]?[a-z]+"\(/, (/g
s/,\s*"[=+]?[a-z]+"\(/, (/g
