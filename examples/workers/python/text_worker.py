"""Two actions in Python. Start it beside `nebula serve`:

    NEBULA_SERVER=http://127.0.0.1:7777 NEBULA_TOKEN=$(cat .nebula/token) python3 examples/workers/python/text_worker.py
"""

import os
import time

from nebula_worker import Failure, Worker

worker = Worker(os.environ["NEBULA_SERVER"], os.environ["NEBULA_TOKEN"], labels=["python"])

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}


@worker.action("text.shout", effect="pure", input=TEXT, output=TEXT, description="The text in capital letters.")
def shout(ctx, input):
    ctx.log("shouting", length=len(input["text"]))
    return {"text": input["text"].upper()}


@worker.action("text.count", effect="pure", input=TEXT, description="Counts words, slowly.")
def count(ctx, input):
    words = input["text"].split()
    if not words:
        raise Failure("NO_WORDS", "there is nothing to count")
    for index in range(len(words)):
        ctx.check()
        time.sleep(0.01)
        ctx.progress((index + 1) / len(words), "word %d" % (index + 1))
    return {"words": len(words)}


if __name__ == "__main__":
    worker.run()
