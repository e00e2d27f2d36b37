/** A workflow that has every key and every kind of the language. */
export const EVERY_KIND = `id: all
name: Everything
variables: { n: 0 }
input: { type: object }
config:
  failureNode: tell
  start: { key: $input.id, policy: debounce, window: 10s }
  retry: { attempts: 3 }
nodes:
  fetch:
    action: do
    cache: { version: 2, ttl: 1h, ignore: [x], overwrite: false }
    concurrency: { key: "c-{{ $input.id }}", limit: 2 }
    rateLimit: { key: crm, limit: 3, per: 1s }
    compensate: { action: do, with: { id: "{{ $self.output.id }}" }, retry: { attempts: 2 }, timeout: 3s }
  route:
    needs: fetch
    branch: { on: $fetch.status, cases: { paid: ship, open: [remind, items] }, default: other }
  ship: { action: do, needs: [route], effect: pure, capabilities: { network: [x] } }
  remind: { action: do }
  other:
    branch:
      cases:
        - { when: $fetch.ok, to: loop }
        - { match: { taken: [x] }, to: until }
        - { error: { code: X }, to: until }
      many: true
  items:
    forEach: { in: $fetch.items, parallel: true, maxConcurrency: 3, minSuccess: 80% }
    timeout: { total: 1h }
    do:
      nodes:
        pack: { action: do, with: { s: "{{ $item.sku }} {{ $fetch.x }} {{ $route.taken }}" } }
        inner:
          needs: pack
          while: { condition: "$self.output == null || $index < 3", maxIterations: 7 }
          do:
            nodes:
              x: { action: do, with: { a: "{{ $index }} {{ $parent.item }} {{ $pack.z }} {{ $fetch }}" } }
              y: { action: do, break: true }
            edges: [x -> y]
        more: { action: do, emit: $self.output.children }
      edges: [pack -> more]
      output: "{{ $nodes.pack.output }}"
  loop:
    while: { condition: $vars.k < 3 }
    do: { nodes: { s: { set: { k: "{{ $vars.k + 1 }}" } } } }
  until:
    retryUntil: { until: $self.output.done, attempts: 5, backoff: { delay: 5s } }
    do: { nodes: { s: { action: do } } }
  sub: { needs: loop, workflow: { id: sub, input: { n: 3 }, output: "{{ $self.output.a }}", isolation: shared } }
  child: { workflow: { id: sub, mode: child, input: { n: 1 } }, retry: { attempts: 2 } }
  dyn: { dynamic: { action: do, with: { a: 1 } } }
  w1: { wait: { for: 10s, deadline: 2030-01-01 } }
  w2:
    needs: w1
    wait:
      any:
        - { until: $input.at }
        - { signal: paid, key: "{{ $input.id }}", schema: { type: object } }
        - { approval: { title: "Hi {{ $input.x }}", who: [a], form: { type: object } } }
        - { callback: true }
      deadline: "{{ $input.d }}"
  end: { needs: w2, when: $w2.event == 'paid', terminate: failed, with: { error: { code: X, message: no } } }
  sp: { split: { in: "[1, 2]" } }
  sa: { needs: sp, action: do, with: { i: "{{ $item }}" } }
  sb: { needs: sp, action: do }
  sp2: { needs: sa, split: { in: $sa.list } }
  sc: { needs: sp2, action: do, with: { i: "{{ $item }} {{ $parent.item }}" } }
  me2: { needs: sc, merge: {} }
  me: { needs: [me2, sb], merge: { wait: any, timeout: 5s } }
  after: { needs: me, action: do, with: { x: "{{ $me.aggregated }}" } }
  tell: { action: do, with: { all: "{{ $after.x }}" } }
edges:
  - { from: route, to: other, on: always }
output: "{{ $me.aggregated }}"
`;
