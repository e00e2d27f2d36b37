/** The guide above the reference: first call, errors, pages, webhooks and live updates. */

interface Chapter {
  readonly title: string;
  /** Paragraphs; `code` in backticks. */
  readonly text: readonly string[];
  readonly example?: string;
}

export const GUIDE: readonly Chapter[] = [
  {
    title: 'A first call',
    text: [
      'Send `Authorization: Bearer <token>`. With the preset desktop the token is in the file `token` of the data folder; otherwise it is an API key. Bodies and answers are JSON. This request starts a workflow and waits for its end:',
    ],
    example: `curl -X POST "$URL/api/v1/executions?wait=30s" \\
  -H "Authorization: Bearer $(cat .nebula/token)" \\
  -H "Content-Type: application/json" \\
  -d '{ "workflowId": "hello", "input": { "name": "Ann" } }'`,
  },
  {
    title: 'Errors',
    text: [
      'Errors are problem documents (RFC 9457): `code` is for programs, `detail` and `hint` are for people, and `errors` lists the members that are wrong. If `retryable` is true, the same request may succeed later.',
    ],
    example: `HTTP/1.1 400 Bad Request
Content-Type: application/problem+json

{ "type": "urn:nebula:problem:body-invalid", "title": "Bad request", "status": 400,
  "code": "BODY_INVALID",
  "detail": "The body has an unknown member 'worflowId'.",
  "hint": "Did you mean 'workflowId'?",
  "errors": [{ "pointer": "/", "detail": "has an unknown member 'worflowId'" }] }`,
  },
  {
    title: 'Pages, repeats and conditions',
    text: [
      'Lists are paged: pass `next` of a page as `cursor` to get the next one. `next` is null on the last page.',
      'Operations that accept `Idempotency-Key` treat requests with the same key as one request for a day: the request takes effect once, and every repeat gets the same answer. The same key with another request is rejected with `KEY_REUSED`.',
      'Answers to reads have an `ETag`. With `If-None-Match`, the answer is 304 if nothing has changed. With `If-Match`, a change or deletion applies only to that revision.',
    ],
  },
  {
    title: 'Webhooks and calls',
    text: [
      'A request under `/hooks` starts the workflow whose active version has a webhook trigger with that method and path. The trigger determines whether the request needs a signature and whether it waits for the result.',
      'A node that waits for a callback has its own URL under `/callbacks` (`$nodes.<id>.callbackUrl`), which accepts one `POST`.',
    ],
    example: `curl -X POST "$URL/hooks/orders" -H "Content-Type: application/json" -d '{ "id": 7 }'`,
  },
];

/** Above the operations with this tag. */
export const LIVE: Chapter = {
  title: 'How to follow',
  text: [
    'Streams are Server-Sent Events. Past events come first, then new ones, without a gap or a duplicate. `Last-Event-ID`, or `after`, resumes after an event; browsers do that by themselves.',
    'Many subscriptions can share one WebSocket at `/api/v1/live`, each with its own position: for one run (`executionId`), for all runs, for a `project` or for a `workflowId`. With `logs` a subscription follows the log of a run, optionally of one `node` and from a `level` on. A client that cannot send headers sends `{"token": "…"}` first.',
  ],
  example: `→ {"subscribe": "a", "executionId": "exe_…", "after": "12.0"}
← {"subscription": "a", "events": [{"id": "12.1", "type": "NodeCompleted", "node": "charge", …}]}
→ {"subscribe": "b", "executionId": "exe_…", "logs": true, "level": "warn"}
← {"subscription": "b", "lines": [{"position": 28, "level": "warn", "message": "…"}]}
→ {"unsubscribe": "a"}`,
};
