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
      'Send `Authorization: Bearer <token>`: on a desktop it is in the file `token` of the data folder, elsewhere it is an API key. Bodies and answers are JSON. This starts a workflow and waits for its end:',
    ],
    example: `curl -X POST "$URL/api/v1/executions?wait=30s" \\
  -H "Authorization: Bearer $(cat .nebula/token)" \\
  -H "Content-Type: application/json" \\
  -d '{ "workflowId": "hello", "input": { "name": "Ann" } }'`,
  },
  {
    title: 'Errors',
    text: [
      'Errors are problems (RFC 9457): a `code` to compare, `detail` and `hint` for people, and in `errors` the places that are wrong. With `retryable` the same request may do better in a while.',
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
      'Lists come in pages: `next` of one is the `cursor` of the one after it, and null at the end.',
      'Where an operation takes `Idempotency-Key`, the same key is the same request for a day: it is done once, and answered alike. The same key for another request is `KEY_REUSED`.',
      'What is read has an `ETag`. With `If-None-Match`, who has the newest is answered 304; with `If-Match`, only the revision that was seen is changed or deleted.',
    ],
  },
  {
    title: 'Webhooks and calls',
    text: [
      'Requests under `/hooks` start workflows whose active version has a trigger with that method and path; whether they need a signature, and whether they wait for the result, the trigger says.',
      'A node that waits for a call has an address of its own under `/callbacks` (`$nodes.<id>.callbackUrl`), which is good for one `POST`.',
    ],
    example: `curl -X POST "$URL/hooks/orders" -H "Content-Type: application/json" -d '{ "id": 7 }'`,
  },
];

/** Above the operations with this tag. */
export const LIVE: Chapter = {
  title: 'How to follow',
  text: [
    'Streams are Server-Sent Events: what was comes first, then what comes, without a gap and nothing twice. `Last-Event-ID`, or `after`, goes on after an event; a browser does so by itself.',
    'Many subscriptions share one WebSocket at `/api/v1/live`, each with its own place: of one run (`executionId`), of all, of a `project` or a `workflowId`; with `logs` the log of a run instead, from `node` and `level` on if given. Who cannot send a header says `{"token": "…"}` first.',
  ],
  example: `→ {"subscribe": "a", "executionId": "exe_…", "after": "12.0"}
← {"subscription": "a", "events": [{"id": "12.1", "type": "NodeCompleted", "node": "charge", …}]}
→ {"subscribe": "b", "executionId": "exe_…", "logs": true, "level": "warn"}
← {"subscription": "b", "lines": [{"position": 28, "level": "warn", "message": "…"}]}
→ {"unsubscribe": "a"}`,
};
