/**
 * Start here: the process in which lenses run, started by a program. It holds nothing that is not somewhere
 * else, so it may be killed at any moment. Where the program is gone it ends itself.
 */
import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { type LensPlace, nowhere } from '../running-lens.ts'
import { type LensThread, openLensThread } from './lens-thread.ts'
import type { FromChild, ToChild } from './messages.ts'

const memoryIntervalMs = 50

type StartMessage = Extract<ToChild, { kind: 'start' }>

const threads: LensThread[] = []
/** Null until the program said what to start. */
let options: StartMessage | null = null

function post(message: FromChild): void {
  process.send?.(message)
}

function receive(message: ToChild): void {
  if (message.kind === 'job') {
    threads[message.thread]?.run(message.job)
    openIdleThread()
  } else if (message.kind === 'taken') threads[message.thread]?.taken(message.id)
  else if (message.kind === 'abort') threads[message.thread]?.abort(message.id)
  else start(message)
}

function start(message: StartMessage): void {
  const { niceness } = message
  stepBack(() => setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW)))
  options = message
  openIdleThread()
}

/** While all threads work there is one more, as far as there may be: each takes memory, and few Hosts need all. */
function openIdleThread(): void {
  if (options === null || threads.length === options.threads) return
  if (!threads.every((thread) => thread.isBusy())) return
  const { workerUrl, data } = options
  threads.push(openLensThread({ number: threads.length, url: new URL(workerUrl), data }, post))
}

/** Other systems than Linux may know no such step, and a container may forbid it. */
function stepBack(step: () => void): void {
  try {
    step()
  } catch {
    // It goes on as it is.
  }
}

function reportMemory(): void {
  post({ kind: 'memory', bytes: process.memoryUsage.rss(), place: placeOfJob() })
}

function placeOfJob(): LensPlace {
  const [first, second] = threads.filter((thread) => thread.isBusy())
  return first === undefined || second !== undefined ? nowhere : first.place()
}

// Where memory runs out, the kernel is to end this process before the program.
stepBack(() => writeFileSync('/proc/self/oom_score_adj', '1000'))
// Its own threads could hold up an orderly exit.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', receive)
reportMemory()
setInterval(() => {
  if (threads.some((thread) => thread.isBusy())) reportMemory()
}, memoryIntervalMs)
