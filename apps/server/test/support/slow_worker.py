"""A worker whose work takes a while, and leaves a trace of every time it is done. Arguments: seconds, file, seconds of its leases."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../examples/workers/python"))
import nebula_worker  # noqa: E402

nebula_worker.LEASE_SECONDS = int(sys.argv[3])
nebula_worker.BEAT_SECONDS = 0.5
nebula_worker.WAIT_SECONDS = 2

seconds, trace = float(sys.argv[1]), sys.argv[2]
worker = nebula_worker.Worker(os.environ["NEBULA_SERVER"], os.environ["NEBULA_TOKEN"], concurrency=8)


@worker.action("slow.note", effect="idempotent")
def note(ctx, input):
    time.sleep(seconds)
    with open(trace, "a", encoding="utf-8") as file:
        file.write("%s %d\n" % (ctx.node, ctx.attempt))
    return {"pid": os.getpid()}


worker.run()
