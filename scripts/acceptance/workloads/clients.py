# SPDX-License-Identifier: Apache-2.0
"""Programs on one GPU as others write them, each of a known number of units of work, to be recorded from outside:
  jax        a jitted training step of an MLP (XLA, its command buffers), told by jax.profiler's annotations
  generate   transformers' generate() of a GPT-2 of random weights: a decode loop, no step told
  compiled   a torch.compile'd training step with CUDA graphs
  cupy       conjugate gradients: products, reductions and a read-back in each iteration
  loader     a torch training loop whose DataLoader sleeps SLEEP_MS for every batch
  eager      the same loop without that sleep
Writes {"units": N, "seconds": S} of the measured part to `--times FILE`. `--profile FILE`: torch.profiler's export of it (torch's
alone). Exit code 77: what it needs is not installed."""
import argparse
import json
import sys
import time

CANNOT = 77
SLEEP_MS = 20


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=sorted(CLIENTS))
    parser.add_argument("--units", type=int, default=0, help="units of work measured (default: by client)")
    parser.add_argument("--times", help="file for the time that they took")
    parser.add_argument("--profile", help="torch.profiler over them, exported to this file")
    return parser.parse_args()


def measured(asked, units, unit, synchronize):
    """Runs unit(i) `units` times after three others, between two synchronisations; tells how long they took."""
    for number in range(3):
        unit(number)
    synchronize()
    begin = time.perf_counter()
    if asked.profile:
        import torch
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=kinds) as profiler:
            for number in range(units):
                unit(number)
                profiler.step()
            synchronize()
        profiler.export_chrome_trace(asked.profile)
    else:
        for number in range(units):
            unit(number)
        synchronize()
    if asked.times:
        with open(asked.times, "w", encoding="utf-8") as file:
            json.dump({"units": units, "seconds": time.perf_counter() - begin}, file)


def jax_training(asked):
    import jax
    import jax.numpy as jnp

    width, layers, batch = 4096, 6, 4096
    keys = jax.random.split(jax.random.PRNGKey(0), layers + 1)
    weights = [jax.random.normal(key, (width, width), jnp.bfloat16) * 0.02 for key in keys[:layers]]
    inputs = jax.random.normal(keys[layers], (batch, width), jnp.bfloat16)

    def loss(weights, inputs):
        for weight in weights:
            inputs = jax.nn.gelu(inputs @ weight)
        return jnp.mean(inputs.astype(jnp.float32) ** 2)

    @jax.jit
    def update(weights, inputs):
        value, slopes = jax.value_and_grad(loss)(weights, inputs)
        return value, [weight - 0.01 * slope for weight, slope in zip(weights, slopes)]

    state = {"weights": weights}

    def step(number):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            value, state["weights"] = update(state["weights"], inputs)
            float(value)

    measured(asked, asked.units or 30, step, lambda: None)


def generation(asked):
    import os
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing is to be fetched
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=8192, n_positions=512, n_embd=1280, n_layer=24, n_head=20))
    model = model.to("cuda", torch.bfloat16).eval()
    prompt = torch.randint(0, 8192, (8, 128), device="cuda")

    def answer(_number):
        with torch.no_grad():
            model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=48, min_new_tokens=48, do_sample=False,
                           pad_token_id=0)

    measured(asked, asked.units or 4, answer, torch.cuda.synchronize)


def torch_step(torch, width=2048, layers=8):
    """A training step of an MLP: takes a batch on the GPU, returns the loss."""
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.GELU()]
    model = torch.nn.Sequential(*parts).to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True, capturable=True)
    return model, optimizer


def compiled(asked):
    import torch

    model, optimizer = torch_step(torch)
    forward = torch.compile(model, mode="reduce-overhead")
    batch = torch.randn(4096, 2048, device="cuda", dtype=torch.bfloat16)

    def step(_number):
        torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        loss = forward(batch).float().square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    measured(asked, asked.units or 30, step, torch.cuda.synchronize)


def cupy_solver(asked):
    import cupy

    size = 8192
    random = cupy.random.default_rng(1)
    square = random.standard_normal((size, size), dtype=cupy.float32)
    matrix = square @ square.T / size + 4.0 * cupy.eye(size, dtype=cupy.float32)
    right = cupy.ones(size, dtype=cupy.float32)

    def solve(_number):
        found = cupy.zeros(size, dtype=cupy.float32)
        residual = right - matrix @ found
        direction = residual.copy()
        norm = residual @ residual
        for _ in range(50):
            product = matrix @ direction
            length = norm / (direction @ product)
            found += length * direction
            residual -= length * product
            fresh = residual @ residual
            if float(fresh) < 1e-20:
                break
            direction = residual + (fresh / norm) * direction
            norm = fresh

    measured(asked, asked.units or 10, solve, cupy.cuda.Device().synchronize)


def loading(asked, sleep_s):
    import torch

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 10**6

        def __getitem__(self, index):
            time.sleep(sleep_s / 64)
            return torch.full((2048,), float(index % 7))

    model, optimizer = torch_step(torch)
    batches = iter(torch.utils.data.DataLoader(Rows(), batch_size=64, num_workers=0, pin_memory=True))

    def step(_number):
        batch = next(batches).to("cuda", torch.bfloat16, non_blocking=True).repeat(64, 1)
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).float().square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    measured(asked, asked.units or 30, step, torch.cuda.synchronize)


CLIENTS = {"jax": jax_training, "generate": generation, "compiled": compiled, "cupy": cupy_solver,
           "loader": lambda asked: loading(asked, SLEEP_MS * 1e-3), "eager": lambda asked: loading(asked, 0.0)}


def main():
    asked = options()
    try:
        CLIENTS[asked.client](asked)
    except ImportError as missing:
        print(f"cannot: {missing}", file=sys.stderr)
        sys.exit(CANNOT)


if __name__ == "__main__":
    main()
