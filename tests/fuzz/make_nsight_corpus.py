#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_nsight: small databases with the tables of Nsight Systems as its versions have them.

Usage: make_nsight_corpus.py FOLDER
"""
import os
import sqlite3
import struct
import sys

PID = (1 << 48) | (10 << 24)

NAMES = [(1, "gemm_kernel"), (2, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), (3, "cudaLaunchKernel_v7000"),
         (4, "ncclAllReduce"), (5, "python"), (6, "cudaStreamSynchronize_v3020")]


def payload(schema, *fields):
    body = b"".join(struct.pack("<q" if wide else "<i", value) for value, wide in fields)
    return struct.pack("<iiiiqq", 1, 0, schema, 0, len(body), 32 + len(body)) + body


def kernels(db, columns="start, end, deviceId, streamId, correlationId, globalPid, demangledName, graphNodeId"):
    db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL({columns})")
    rows = [(10, 20, 0, 7, 1, PID, 1, None), (15, 40, 0, 8, 2, PID, 2, 3), (12, 30, 1, 7, 3, PID + (1 << 24), 1, None)]
    count = columns.count(",") + 1
    marks = ",".join("?" * count)
    db.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({marks})", [row[:count] for row in rows])


def strings(db):
    db.execute("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)")
    db.executemany("INSERT INTO StringIds VALUES(?, ?)", NAMES)


def host(db):
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId)")
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?, ?, ?, ?, ?, ?)",
                   [(1, 2, 0, PID + 1, 1, 3), (5, 6, 1, PID + 1, 2, 3), (30, 45, 0, PID + 2, 9, 6)])
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, globalPid, correlationId, syncType,"
               " streamId, eventSyncId)")
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(?, ?, ?, ?, ?, ?, ?)",
                   [(31, 44, PID, 9, 3, 7, 0), (46, 47, PID, 10, 2, 8, 5), (48, 49, PID, 11, 9, 8, 5)])
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(globalPid, eventSyncId, streamId, correlationId)")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(?, 5, 7, 12)", (PID,))
    db.execute("CREATE TABLE PROFILER_OVERHEAD(start, end, globalTid, nameId, overheadType)")
    db.executemany("INSERT INTO PROFILER_OVERHEAD VALUES(?, ?, ?, ?, ?)",
                   [(50, 51, PID + 1, 5, 3), (52, 53, PID + 1, 5, 7)])
    db.execute("CREATE TABLE ThreadNames(globalTid, nameId)")
    db.execute("INSERT INTO ThreadNames VALUES(?, 5)", (PID + 1,))


def ranges(db):
    db.execute("CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid, textId, domainId, binaryData)")
    collective = payload(6, (0x5F, True), (4096, True), (0, False))
    start = payload(5, (0x5F, True), (2, False), (0, False), (0, False))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                   [(0, None, 75, "NCCL", PID, None, 1, None), (0, 1, 59, "ncclCommInitRank", PID + 1, None, 1, start),
                    (0, 100, 59, "step 3", PID + 1, None, 0, None), (3, 4, 59, "ncclGroupStart", PID + 1, None, 1, None),
                    (4, 7, 59, None, PID + 1, 4, 1, collective), (5, 8, 59, "ncclGroupEnd", PID + 1, None, 1, None),
                    (20, 21, 59, "aten::add, seq = 1, op_id = 2", PID + 1, None, 0, None),
                    (100, 200, 60, "step 4", PID + 1, None, 0, None)])
    db.execute("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, type, name, offset)")
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1, ?, ?, ?, ?, ?)",
                   [(5, 0, 18, "NCCL communicator ID", None), (5, 1, 5, "No. of ranks", 8), (5, 2, 5, "Rank", 12),
                    (6, 0, 18, "NCCL communicator ID", None), (6, 1, 22, "Message size [bytes]", 8)])


def copies(db):
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, streamId, correlationId, globalPid,"
               " bytes, copyKind)")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(60, 70, 0, 7, 4, ?, 512, 1)", (PID,))
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, streamId, correlationId, globalPid)")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(70, 71, 2, 7, 5, ?)", (PID,))
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, streamId, globalPid, graphId)")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(80, 90, 0, 7, ?, 2)", (PID,))


def facts(db):
    db.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER)")
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1779782330176752435)")
    db.execute("CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT)")
    db.execute("INSERT INTO META_DATA_CAPTURE VALUES('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=\"3\"')")
    db.execute("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT)")
    db.execute("INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION', '2026.2.1')")


def impossible_numbers(db):
    """Beyond what an index, a count or a size of ours can be."""
    db.execute("CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT)")
    db.executemany("INSERT INTO META_DATA_CAPTURE VALUES('PROCESS_0:ENVIRONMENT_VARIABLE', ?)",
                   [('RANK="2147483647"',), ('WORLD_SIZE="2"',)])
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, streamId, correlationId, globalPid,"
               " bytes, copyKind)")
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(60, 70, ?, ?, ?, ?, ?, ?)",
                   [(0, 1 << 40, -1, PID, -5, 1), (65536, -7, 1 << 62, PID, 1 << 62, 99), (-1, 7, 4, PID, 0, -1)])


VARIANTS = {
    "impossible_numbers": [lambda db: kernels(db, "start, end, deviceId"), impossible_numbers],
    "few_columns": [lambda db: kernels(db, "start, end, deviceId")],
    "host": [strings, kernels, host],
    "ranges": [strings, kernels, host, ranges],
    "copies": [strings, kernels, copies],
    "facts": [kernels, facts],
}


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, parts in VARIANTS.items():
        path = os.path.join(folder, name + ".sqlite")
        if os.path.exists(path):
            os.remove(path)
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA page_size = 512")
            for part in parts:
                part(db)
        db.close()


main()
