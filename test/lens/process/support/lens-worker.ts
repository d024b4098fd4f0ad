/**
 * A worker of the lens process. The definition of a View is how often its lens is in the chain (one byte) and the
 * module; a payload is the documents as a JSON list of texts, or a command; a result is JSON.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import type { PieceSink } from '../../../../src/lens/child/piece-gate.ts'
import { serveLensWorker } from '../../../../src/lens/child/serve-lens-worker.ts'
import { ownProcessorMs } from '../../../../src/lens/child/thread-time.ts'
import { type Program, prepareProgram } from '../../../../src/lens/program/program.ts'
import { showBlock } from '../../../../src/lens/running-lens.ts'
import type { Feed } from '../../../../src/views/rows/row-type.ts'
import type { Command, WorkerData } from './open-lenses.ts'

const kept: Buffer[] = []

await serveLensWorker(({ refuses, feed }: WorkerData) => {
  if (refuses) throw new Error('the worker does not want to')
  return {
    load: (definition) => load(definition, feed),
    run: async (program: Program, payload, pieces) => answer(program, payload, pieces),
  }
})

function load(definition: Uint8Array, feed: Feed | null): Program {
  const lens = { wasm: definition.subarray(1), args: '{"a":1}' }
  return prepareProgram(
    Array.from({ length: definition[0] ?? 0 }, () => lens),
    feed,
  )
}

function answer(program: Program, payload: Uint8Array, pieces: PieceSink): Uint8Array {
  const given: Command | string[] = JSON.parse(Buffer.from(payload).toString())
  if (!Array.isArray(given)) return Buffer.from(JSON.stringify(obey(given, pieces)))
  const found: string[] = []
  program.run(given, (document) => {
    found.push(Buffer.from(document).toString())
  })
  return Buffer.from(JSON.stringify(found))
}

function obey(command: Command, pieces: PieceSink): unknown {
  if (command.does === 'pieces') handOver(command, pieces)
  if (command.does === 'describe') return { pid: process.pid, threadId }
  if (command.does === 'large') return 'x'.repeat(command.bytes)
  if (command.does === 'keep') {
    kept.push(Buffer.alloc(command.bytes, 1))
    waitMs(150)
  }
  if (command.does === 'block') {
    pieces.put(Uint8Array.of(0))
    readFileSync(command.pipe)
  }
  if (command.does === 'exhaust') {
    showBlock(7)
    for (const lists: object[] = []; ; ) lists.push(new Array(100_000).fill(1.5))
  }
  if (command.does === 'work') work(command.processorMs)
  if (command.does === 'exit') process.exit(3)
  if (command.does === 'die') die(command.when)
  if (command.does === 'wait' && !existsSync(command.first)) {
    writeFileSync(command.first, '')
    waitMs(60_000)
  }
  return command.does
}

function work(processorMs: number): void {
  const end = ownProcessorMs() + processorMs
  while (ownProcessorMs() < end);
}

function die(when: string): void {
  while (!existsSync(when)) waitMs(5)
  process.kill(process.pid, 'SIGKILL')
  waitMs(60_000)
}

function handOver({ count, stays }: Extract<Command, { does: 'pieces' }>, pieces: PieceSink): void {
  showBlock(9)
  for (let number = 0; number < count; number++) pieces.put(Uint8Array.of(number))
  while (stays === 'asking') {
    pieces.throwIfStopped()
    waitMs(5)
  }
  if (stays === 'deaf') waitMs(60_000)
}

function waitMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
