#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A spelling that data/columns.toml has is read alike by every command that uses what it means: mfu, decide, compare and
demand. The figures are held against plain arithmetic. Usage: spellings_test.py SCALEWORTH COLUMNS_TOML"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp())
NAMES = {}
for column in tomllib.loads(pathlib.Path(sys.argv[2]).read_text(encoding='utf-8'))['column']:
    NAMES.setdefault(column['meaning'], []).extend(column['names'].split())


def answer(command, table, *flags):
    """The JSON of a command on a table, or the message that refuses it."""
    file = FOLDER / f'{abs(hash((command, table)))}.csv'
    file.write_text(table, encoding='utf-8')
    done = subprocess.run([PROGRAM, command, file, *flags, '--json'], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def mfu(header, cells):
    """Tokens per second of one GPU."""
    return answer('mfu', f'run,model,gpu,gpus,{header}\na,llama-3.1-8b,h100-sxm,16,{cells}\n')['runs'][0]['tokens_per_s_per_gpu']


def decide(header, first, second):
    """Efficiency at the second count, twice the first."""
    return answer('decide', f'gpus,{header}\n8,{first}\n16,{second}\n')['rows'][1]['efficiency']['value']


def compare(header, first, second):
    """How often as fast the second machine is."""
    table = f'machine,gpus,{header}\nA,8,{first}\nB,8,{second}\n'
    return answer('compare', table, '--by', 'machine')['ratios'][0]['speed']['value']


def demand(header, first, second):
    """Tokens per second at the second load."""
    table = f'concurrency,{header}\n8,{first}\n16,{second}\n'
    found = answer('demand', table, '--tokens-per-request', '100', '--requests-per-s', '1')
    return found['curve'][1]['output_tokens_per_s']


def questions():
    """(what is asked, its arguments, the figure by hand)."""
    # 64 sequences of 4096 in 8 s on 16 GPUs; 2.0 s and 2.1 s for twice as much.
    for name in NAMES['batch']:
        if 'token' in name:
            yield mfu, (f'step_s,{name}', '8,262144'), 64 * 4096 / 8 / 16
        else:
            yield mfu, (f'step_s,seq_len,{name}', '8,4096,64'), 64 * 4096 / 8 / 16
        yield decide, (f'step_s,{name}', '2.0,32', '2.1,64'), 2.0 / 2.1
        yield compare, (f'step_s,{name}', '2.0,32', '2.1,64'), 4.0 / 2.1
    for name in NAMES['rank_batch']:
        yield mfu, (f'step_s,seq_len,{name}', '8,4096,4'), 64 * 4096 / 8 / 16
        yield decide, (f'step_s,{name}', '2.0,4', '2.1,4'), 2.0 / 2.1
        yield compare, (f'step_s,{name}', '2.0,4', '2.1,8'), 4.0 / 2.1
    # 2 sequences, added up 2 times on each of 16 GPUs, or of 4 replicas of 4.
    pairs = [(name, 'grad_accum') for name in NAMES['micro_batch']] + [('mbs', name) for name in NAMES['microbatches']]
    for micro, several in pairs:
        yield mfu, (f'step_s,seq_len,{micro},{several}', '8,4096,2,2'), 64 * 4096 / 8 / 16
        yield mfu, (f'step_s,seq_len,{micro},{several},tp', '8,4096,2,8,4'), 64 * 4096 / 8 / 16
        yield mfu, (f'step_s,seq_len,{micro},{several},dp', '8,4096,2,2,16'), 64 * 4096 / 8 / 16
        yield decide, (f'step_s,{micro},{several}', '2.0,2,4', '1.1,2,2'), 2.0 / 1.1 / 2
        yield compare, (f'step_s,{micro},{several}', '2.0,2,4', '2.1,4,4'), 4.0 / 2.1
    for name in NAMES['sequence_length']:
        yield mfu, (f'step_s,batch,{name}', '8,64,4096'), 64 * 4096 / 8 / 16
        yield decide, (f'step_s,batch,{name}', '2.0,32,2048', '2.1,32,4096'), 2.0 / 2.1
        yield compare, (f'step_s,batch,{name}', '2.0,32,2048', '2.1,32,4096'), 4.0 / 2.1
    for step in ('step_s', 'step_time_ms', 'iter_time (s)', 's/it', 'sec per step', 'step time [ms]', 'time/step (s)', 'ms/iteration'):
        factor = 1000 if 'm' in step.replace('time', '') else 1
        yield mfu, (f'{step},seq_len,batch', f'{8 * factor},4096,64'), 64 * 4096 / 8 / 16
        yield decide, (f'{step},batch', f'{2.0 * factor},32', f'{2.1 * factor},64'), 2.0 / 2.1
        yield compare, (f'{step},batch', f'{2.0 * factor},32', f'{2.1 * factor},64'), 4.0 / 2.1
    for rate, factor in (('it/s', 1), ('steps_per_second', 1), ('iterations/s', 1), ('steps/min', 60), ('steps_per_hour', 3600)):
        yield mfu, (f'{rate},seq_len,batch', f'{0.125 * factor},4096,64'), 64 * 4096 / 8 / 16
        yield decide, (f'{rate},batch', f'{0.5 * factor},32', f'{0.5 * factor},64'), 1.0
        yield compare, (f'{rate},batch', f'{0.5 * factor},32', f'{0.5 * factor},64'), 2.0
    # Rates of tokens, in thousands and a million.
    for rate, factor in (('tokens/s', 1), ('tokens_per_s', 1), ('tok/s', 1), ('throughput (tokens/s)', 1), ('tokens_s', 1),
                         ('tokens/min', 60), ('tokens per hour', 3600), ('k tokens/s', 1e-3), ('ktok/s', 1e-3),
                         ('ktokens_per_s', 1e-3), ('throughput (ktokens/s)', 1e-3), ('tokens/s (10^3)', 1e-3),
                         ('tokens/s (in thousands)', 1e-3), ('tokens/s [k]', 1e-3), ('Mtok/s', 1e-6), ('throughput_tok_s', 1),
                         ('M tokens/s', 1e-6), ('million tokens/s', 1e-6), ('tokens/s (x1000)', 1e-3)):
        yield mfu, (rate, f'{80000 * factor:.9g}'), 5000.0
        yield decide, (rate, f'{40000 * factor:.9g}', f'{72000 * factor:.9g}'), 0.9
        yield compare, (rate, f'{40000 * factor:.9g}', f'{72000 * factor:.9g}'), 1.8
        yield demand, (rate, f'{4000 * factor:.9g}', f'{7200 * factor:.9g}'), 7200.0
    # Work of a run.
    for work, factor in (('tokens', 1), ('tokens (B)', 1e-9), ('btokens', 1e-9), ('Gtokens', 1e-9), ('tokens_b', 1e-9),
                         ('billion tokens', 1e-9), ('tokens (millions)', 1e-6), ('Mtokens', 1e-6), ('trained tokens in billions', 1e-9),
                         ('consumed_tokens', 1), ('tokens_seen', 1), ('tokens (x10^9)', 1e-9)):
        yield mfu, (f'hours,{work}', f'10,{2.88e9 * factor:.9g}'), 2.88e9 / 36000 / 16
        yield decide, (f'hours,{work}', f'10,{2e9 * factor:.9g}', f'6,{1e9 * factor:.9g}'), 10 / 6 / 4
        yield compare, (f'hours,{work}', f'10,{2e9 * factor:.9g}', f'6,{1e9 * factor:.9g}'), 10 / 6 / 2


def wrong(question):
    """What is wrong of an answer; nothing where it is right."""
    ask, arguments, by_hand = question
    try:
        found = ask(*arguments)
    except TypeError:  # refused: the message is no JSON
        found = 'refused'
    except (KeyError, IndexError):
        found = 'no such figure'
    if isinstance(found, (int, float)) and abs(found / by_hand - 1) < 1e-3:
        return None
    return f'{ask.__name__} {arguments}: {found}, by hand {by_hand:.6g}'


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    everything = list(questions())
    failures = [text for text in pool.map(wrong, everything) if text]
for text in failures:
    print(text)
print(f'{len(everything)} questions, {len(failures)} wrong')
sys.exit(1 if failures else 0)
