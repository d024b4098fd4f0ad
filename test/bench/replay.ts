/** Starts the replay server on a workload. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { endChild } from '../support/programs.ts'
import type { Workload } from './workload.ts'

export interface Replay {
  readonly url: string
  /** Where it announces heads. */
  readonly wsUrl: string
  /** Returns when it was announced, by the clock that all processes share. */
  moveHead(number: number): Promise<number>
  close(): Promise<void>
}

/** Starts the replay server on a workload and waits until it has read it. */
export async function startReplay(workload: Workload, head: number): Promise<Replay> {
  const child = fork(join(import.meta.dirname, 'replay-server.ts'), [
    workload.folder,
    String(workload.blocks),
    String(head),
  ])
  const [message] = await once(child, 'message')
  const url = `http://127.0.0.1:${message.port}`
  return {
    url,
    wsUrl: `${url.replace('http', 'ws')}/heads`,
    async moveHead(number) {
      const moved = await fetch(`${url}/head`, { method: 'POST', body: String(number) })
      return Number(await moved.text())
    },
    close: () => endChild(child),
  }
}
