/** Where the kubelet asks whether the operator is alive (`/healthz`) and does its work (`/readyz`). */
import type { FastifyInstance, FastifyReply } from 'fastify'

/** By name: null where all is well, else what is wrong, in a few words. */
type Checks = Readonly<Record<string, () => string | null>>

export interface HealthChecks {
  readonly live: Checks
  readonly ready: Checks
  /** What `/readyz` adds, where there is something, whatever its status is. */
  readonly remarks?: Checks
}

/** Declares both routes; 503 names the checks that fail. */
export function healthRoutes(
  server: FastifyInstance,
  { live, ready, remarks }: HealthChecks,
): void {
  server.get('/healthz', (_request, reply) => answer(reply, live))
  server.get('/readyz', (_request, reply) => answer(reply, ready, remarks))
}

function answer(reply: FastifyReply, checks: Checks, remarks: Checks = {}): FastifyReply {
  const results = Object.entries(checks).map(([name, check]) => ({ name, problem: check() }))
  const isWell = results.every(({ problem }) => problem === null)
  const lines = results.map(({ name, problem }) =>
    problem === null ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
  )
  const reported = Object.entries(remarks).flatMap(([name, remark]) => {
    const text = remark()
    return text === null ? [] : [`[!]${name}: ${text}`]
  })
  return reply
    .code(isWell ? 200 : 503)
    .header('cache-control', 'no-cache')
    .type('text/plain; charset=utf-8')
    .send(`${[...lines, ...reported].join('\n')}\n`)
}

interface LoopWatch {
  /** How late the event loop was at the last check. */
  lagMs(): number
  close(): void
}

const checkEveryMs = 500

/** Checks twice a second. */
export function watchLoop(): LoopWatch {
  let dueMs = performance.now() + checkEveryMs
  let lagMs = 0
  const timer = setInterval(() => {
    const nowMs = performance.now()
    lagMs = Math.max(0, nowMs - dueMs)
    dueMs = nowMs + checkEveryMs
  }, checkEveryMs)
  timer.unref()
  return { lagMs: () => lagMs, close: () => clearInterval(timer) }
}
