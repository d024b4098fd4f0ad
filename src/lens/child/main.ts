/**
 * Start here: the process in which lenses run, started by a program. It holds nothing that is not somewhere
 * else, so it may be killed at any moment. Where the program is gone it ends itself.
 */
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { type LensThread, openLensThread } from './lens-thread.ts'
import type { FromChild, ToChild } from './messages.ts'

const memoryIntervalMs = 50
/** Above that of the program, whose blocks come first. */
const niceness = 5

const threads: LensThread[] = []

function post(message: FromChild): void {
  process.send?.(message)
}

function receive(message: ToChild): void {
  if (message.kind === 'job') threads[message.thread]?.run(message.job)
  else if (message.kind === 'taken') threads[message.thread]?.taken(message.id)
  else if (message.kind === 'abort') threads[message.thread]?.abort(message.id)
  else
    for (let number = 0; number < message.threads; number += 1)
      threads.push(
        openLensThread({ number, url: new URL(message.workerUrl), data: message.data }, post),
      )
}

/** Where memory runs out, the kernel is to end this process before the program; and that one's threads come first. */
function stepBack(): void {
  const steps = [
    () => writeFileSync('/proc/self/oom_score_adj', '1000'),
    () => setPriority(niceness),
  ]
  for (const step of steps)
    try {
      step()
    } catch {
      // Other systems than Linux have no such file, and a container may forbid either.
    }
}

function reportMemory(): void {
  post({ kind: 'memory', bytes: process.memoryUsage.rss() })
}

stepBack()
// Its own threads could hold up an orderly exit.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', receive)
reportMemory()
setInterval(() => {
  if (threads.some((thread) => thread.isBusy())) reportMemory()
}, memoryIntervalMs)
