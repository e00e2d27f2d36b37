"""A worker for Nebula, with nothing but Python's standard library.

    from nebula_worker import Worker

    worker = Worker("http://127.0.0.1:7777", token, labels=["gpu"])

    @worker.action("text.shout", effect="pure")
    def shout(ctx, input):
        ctx.log("shouting")
        return {"text": input["text"].upper()}

    worker.run()

An action gets its context and its input, and returns what becomes the node's output. It may raise `Failure(code, message)`.
"""

import json
import os
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

LEASE_SECONDS = 30
BEAT_SECONDS = 10
WAIT_SECONDS = 20


class Failure(Exception):
    """What went wrong, with a code that workflows can match on."""

    def __init__(self, code, message, kind="USER", outcome="failed", details=None):
        super().__init__(message)
        self.body = {"code": code, "message": message, "kind": kind, "outcome": outcome}
        if details is not None:
            self.body["details"] = details


class Stale(Exception):
    """The lease is gone: somebody else has the work now, and nobody waits for this one."""


class Cancelled(Exception):
    """The run does not want this any more."""


class Context:
    """What an attempt knows, and what it may ask for."""

    def __init__(self, worker, work):
        self._worker = worker
        self._lease = urllib.parse.quote(work["leaseId"], safe="")
        self.work = work
        self.execution_id = work["executionId"]
        self.node = work["node"]
        self.attempt = work["attempt"]
        # The same for every attempt of this node: pass it to services that must not act twice.
        self.idempotency_key = work["idempotencyKey"]
        self.cancelled = threading.Event()
        self.reason = None

    def log(self, message, level="info", **fields):
        line = {"level": level, "message": message}
        if fields:
            line["fields"] = fields
        self._call("logs", {"lines": [line]})

    def progress(self, fraction, message=None):
        body = {"progress": fraction}
        if message is not None:
            body["message"] = message
        self._beat(body)

    def credential(self, alias):
        name = urllib.parse.quote(alias, safe="")
        return self._call("credentials/" + name, None)["value"]

    def check(self):
        """Raises when the run has been cancelled; call it now and then in long work."""
        if self.cancelled.is_set():
            raise Cancelled(self.reason)

    def _beat(self, body):
        answer = self._call("heartbeat", body)
        if answer["cancel"] is not None:
            self.reason = answer["cancel"]
            self.cancelled.set()

    def _call(self, what, body):
        return self._worker._request("POST", "/leases/" + self._lease + "/" + what, body)


class Worker:
    def __init__(self, server, token, labels=(), worker_id=None, concurrency=4):
        self.server = server.rstrip("/")
        self.token = token
        self.labels = list(labels)
        self.worker_id = worker_id or "python-%s-%d" % (socket.gethostname().replace(".", "-"), os.getpid())
        self.actions = {}
        self.stopping = threading.Event()
        self._free = threading.Semaphore(concurrency)
        self._threads = set()

    def action(self, name, version="1", effect="once", input=None, output=None, description=None):
        """Announces a function as an action."""

        def announce(function):
            described = {"id": name, "version": version, "effect": effect}
            for key, value in (("input", input), ("output", output), ("description", description)):
                if value is not None:
                    described[key] = value
            self.actions[name] = (described, function)
            return function

        return announce

    def run(self):
        """Takes work until `stop` is called, or the process is interrupted."""
        self._register()
        try:
            while not self.stopping.is_set():
                self._free.acquire()
                try:
                    work = self._claim()
                except (OSError, urllib.error.URLError):
                    work = None
                    self.stopping.wait(1)
                if work is None:
                    self._free.release()
                    continue
                thread = threading.Thread(target=self._attempt, args=(work,), daemon=True)
                self._threads.add(thread)
                thread.start()
        except KeyboardInterrupt:
            pass
        finally:
            for thread in list(self._threads):
                thread.join()

    def stop(self):
        self.stopping.set()

    def _register(self):
        body = {
            "workerId": self.worker_id,
            "labels": self.labels,
            "actions": [described for described, _ in self.actions.values()],
        }
        while not self.stopping.is_set():
            try:
                return self._request("POST", "/workers", body)
            except (OSError, urllib.error.URLError) as error:
                if isinstance(error, urllib.error.HTTPError):
                    raise
                self.stopping.wait(1)

    def _claim(self):
        path = "/workers/" + self.worker_id + "/claim"
        body = {"max": 1, "lease": "%ds" % LEASE_SECONDS, "wait": "%ds" % WAIT_SECONDS}
        try:
            answer = self._request("POST", path, body, timeout=WAIT_SECONDS + 30)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                # The server does not know this worker any more.
                self._register()
            elif error.code >= 500:
                self.stopping.wait(1)
            else:
                raise
            return None
        return answer["work"][0] if answer["work"] else None

    def _attempt(self, work):
        ctx = Context(self, work)
        done = threading.Event()
        beats = threading.Thread(target=self._beats, args=(ctx, done), daemon=True)
        beats.start()
        try:
            _, function = self.actions[work["action"].split("@")[0]]
            output = function(ctx, work["input"])
            self._report(ctx, "complete", {"output": output})
        except Stale:
            pass
        except Cancelled as error:
            self._report(ctx, "fail", {"code": "CANCELLED", "message": str(error), "outcome": "unknown"})
        except Failure as error:
            self._report(ctx, "fail", error.body)
        except Exception as error:  # noqa: BLE001: whatever an action does becomes an outcome
            self._report(ctx, "fail", {"code": "ACTION_FAILED", "message": "%s: %s" % (type(error).__name__, error)})
        finally:
            done.set()
            self._free.release()
            self._threads.discard(threading.current_thread())

    def _beats(self, ctx, done):
        while not done.wait(BEAT_SECONDS):
            try:
                ctx._beat({})
            except Stale:
                ctx.cancelled.set()
                return
            except (OSError, urllib.error.URLError):
                continue

    def _report(self, ctx, what, body):
        """Tried again until the server has taken it, or does not want it any more."""
        while True:
            try:
                return ctx._call(what, body)
            except Stale:
                return None
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    raise
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(1)

    def _request(self, method, path, body, timeout=30):
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": "Bearer " + self.token}
        if data is not None:
            headers["content-type"] = "application/json"
        request = urllib.request.Request(self.server + "/api/v1" + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                text = response.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            if error.code == 409:
                raise Stale() from error
            raise
