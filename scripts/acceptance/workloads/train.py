# SPDX-License-Identifier: Apache-2.0
"""A data-parallel PyTorch training whose loop belongs to somebody else where possible: transformers' Trainer over GPT-2
(`--loop trainer`), or torch's own DistributedDataParallel around torch.nn.TransformerEncoder (`--loop ddp`).
Ranks come from RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT; without them one rank, wrapped all the same.
Writes {"step_s": [...], ...} to `--times FILE` (of rank R > 0: FILE.R). Exit code 77: this machine or PyTorch cannot."""
import argparse
import contextlib
import json
import os
import sys
import tempfile
import time

CANNOT = 77


def cannot(reason):
    print(f"cannot: {reason}", file=sys.stderr)
    sys.exit(CANNOT)


try:
    import torch
    import torch.distributed
except ImportError as missing:
    cannot(missing)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loop", choices=("trainer", "ddp"), default="ddp")
    parser.add_argument("--steps", type=int, default=30, help="measured, after the warm-up")
    parser.add_argument("--warm-up", type=int, default=12)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--graphs", action="store_true", help="trainer: torch.compile with CUDA graphs; ddp: the step captured")
    parser.add_argument("--profile", help="torch.profiler over the measured steps, exported to this file")
    parser.add_argument("--window", action="store_true", help="cudaProfilerStart and Stop around the measured steps")
    parser.add_argument("--exhaust", action="store_true", help="allocate until there is no memory after the measured steps")
    parser.add_argument("--times", help="file for the steps' durations")
    parser.add_argument("--cpu", action="store_true")
    return parser.parse_args()


class Clock:
    """Moments of the steps: events of the current stream, so that measuring does not wait; wall time without a GPU."""

    def __init__(self, on_gpu):
        self.on_gpu = on_gpu
        self.marks = []

    def mark(self):
        if self.on_gpu:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append(event)
        else:
            self.marks.append(time.perf_counter())

    def seconds(self):
        if self.on_gpu:
            torch.cuda.synchronize()
            return [begin.elapsed_time(end) * 1e-3 for begin, end in zip(self.marks, self.marks[1:])]
        return [end - begin for begin, end in zip(self.marks, self.marks[1:])]


class Measured:
    """What happens around steps, whoever's loop runs them: markers, the profiler, the window, the clock."""

    def __init__(self, options):
        self.options = options
        self.on_gpu = not options.cpu
        self.clock = Clock(self.on_gpu)
        self.profiler = None
        self.open_range = False
        self.done = 0
        self.wrapper = "nothing"

    def before(self, step):
        if step == self.options.warm_up:
            if self.on_gpu:
                torch.cuda.synchronize()
            if self.options.window and self.on_gpu:
                torch.cuda.cudart().cudaProfilerStart()
            if self.options.profile:
                kinds = [torch.profiler.ProfilerActivity.CPU]
                if self.on_gpu:
                    kinds.append(torch.profiler.ProfilerActivity.CUDA)
                self.profiler = torch.profiler.profile(activities=kinds)
                self.profiler.start()
            self.clock.mark()
        if self.on_gpu and step >= self.options.warm_up:
            torch.cuda.nvtx.range_push(f"step {step - self.options.warm_up}")
            self.open_range = True

    def after(self, step):
        if self.open_range:
            torch.cuda.nvtx.range_pop()
            self.open_range = False
        if step < self.options.warm_up:
            return
        self.clock.mark()
        self.done += 1
        if self.profiler:
            self.profiler.step()
        if step + 1 == self.total():
            self.end()

    def end(self):
        if self.on_gpu:
            torch.cuda.synchronize()
            if self.options.window:
                torch.cuda.cudart().cudaProfilerStop()
        if self.profiler:
            self.profiler.stop()
            if rank() == 0:
                self.profiler.export_chrome_trace(self.options.profile)

    def total(self):
        return self.options.warm_up + self.options.steps


def rank():
    return int(os.environ.get("RANK", "0"))


def join(options):
    os.environ.setdefault("RANK", "0")
    os.environ.setdefault("WORLD_SIZE", "1")
    os.environ.setdefault("LOCAL_RANK", "0")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing is to be fetched
    if not options.cpu:
        if not torch.cuda.is_available():
            cannot("PyTorch sees no GPU")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


class Encoder(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(options.width, max(1, options.width // 64), 4 * options.width, dropout=0.0,
                                                 batch_first=True)
        self.body = torch.nn.TransformerEncoder(layer, options.layers, enable_nested_tensor=False)
        self.head = torch.nn.Linear(options.width, 1)

    def forward(self, values):
        return self.head(self.body(values)).square().mean()


def captured(step):
    """`step` as one CUDA graph, after a warm-up on a stream of its own, as torch's notes on graphs ask for."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(11):  # DistributedDataParallel rebuilds its buckets and reducer meanwhile
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = step()

    def replay():
        graph.replay()
        return result

    return replay


def train_ddp(options, measured):
    device = torch.device("cpu") if options.cpu else torch.device("cuda", torch.cuda.current_device())
    if options.graphs and options.cpu:
        cannot("CUDA graphs need a GPU")
    if options.graphs:
        os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"  # its watchdog disturbs captures
    torch.distributed.init_process_group("gloo" if options.cpu else "nccl")
    torch.manual_seed(rank())
    side = contextlib.nullcontext() if options.cpu else torch.cuda.stream(torch.cuda.Stream())
    with side:  # capture forbids what the default stream does while the wrapper is made
        model = torch.nn.parallel.DistributedDataParallel(Encoder(options).to(device),
                                                          device_ids=None if options.cpu else [device.index])
    measured.wrapper = type(model).__name__
    if not options.cpu:
        torch.cuda.synchronize()
    more = {} if options.cpu else {"fused": True, "capturable": True}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **more)
    data = torch.randn(options.batch, options.sequence, options.width, device=device)

    def step():
        optimizer.zero_grad(set_to_none=not options.graphs)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = model(data)
        loss.backward()
        optimizer.step()
        return loss.detach()

    action = captured(step) if options.graphs else step
    for number in range(measured.total()):
        measured.before(number)
        action().item()  # as loops that tell their loss; and the host does not run ahead of its markers
        measured.after(number)


def known_only(kind, wanted):
    """The settings that this release of `kind`, a dataclass, has."""
    names = kind.__dataclass_fields__
    return {name: value for name, value in wanted.items() if name in names}


class Tokens(torch.utils.data.Dataset):
    def __init__(self, options, vocabulary):
        generator = torch.Generator().manual_seed(1)
        self.rows = torch.randint(0, vocabulary, (64, options.sequence), generator=generator)
        self.length = 10**6

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        row = self.rows[index % len(self.rows)]
        return {"input_ids": row, "labels": row}


def train_trainer(options, measured):
    try:
        from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments
    except ImportError as missing:
        cannot(missing)

    class Marks(TrainerCallback):
        def on_step_begin(self, _arguments, state, _control, **_more):
            measured.before(state.global_step)

        def on_step_end(self, _arguments, state, _control, **_more):
            measured.after(state.global_step - 1)

    vocabulary = 8192
    config = GPT2Config(vocab_size=vocabulary, n_positions=options.sequence, n_embd=options.width, n_layer=options.layers,
                        n_head=max(1, options.width // 64), resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
    wanted = {"output_dir": tempfile.mkdtemp(prefix="trainer-"), "max_steps": measured.total(), "per_device_train_batch_size": options.batch,
              "bf16": not options.cpu, "use_cpu": options.cpu, "report_to": "none", "save_strategy": "no",
              "logging_strategy": "no", "disable_tqdm": True, "optim": "adamw_torch_fused" if not options.cpu else "adamw_torch",
              "dataloader_num_workers": 0, "dataloader_pin_memory": not options.cpu, "ddp_find_unused_parameters": False,
              "max_grad_norm": 0.0, "torch_compile": options.graphs}
    if options.graphs:
        wanted["torch_compile_mode"] = "reduce-overhead"
    arguments_ = TrainingArguments(**known_only(TrainingArguments, wanted))
    trainer = Trainer(model=GPT2LMHeadModel(config), args=arguments_, train_dataset=Tokens(options, vocabulary),
                      callbacks=[Marks()])
    trainer.train()
    measured.wrapper = type(trainer.model_wrapped).__name__


def write_times(options, measured):
    if not options.times:
        return
    path = options.times if rank() == 0 else f"{options.times}.{rank()}"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"step_s": measured.clock.seconds(), "torch": torch.__version__, "loop": options.loop,
                   "wrapped": measured.wrapper, "options": vars(options)}, file)


def exhaust():
    held = []
    size = 1 << 30
    while True:
        held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))


def main():
    options = arguments()
    join(options)
    measured = Measured(options)
    (train_ddp if options.loop == "ddp" else train_trainer)(options, measured)
    if measured.done != options.steps:
        print(f"only {measured.done} of {options.steps} steps were seen", file=sys.stderr)
        sys.exit(1)
    write_times(options, measured)
    if options.exhaust:
        exhaust()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
