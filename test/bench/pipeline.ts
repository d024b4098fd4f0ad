/** Generator and Host on the replay server, and how long they take from block to block. */
import { type Program, pause, prepareProgram } from '../support/programs.ts'
import { openQueryClient } from './query-client.ts'
import type { Replay } from './replay.ts'

export interface Pipeline {
  readonly generator: Program
  readonly host: Program
  close(): Promise<void>
}

/** Both programs, not yet started, with empty stores; the Host knows only the Generator's address. */
export async function preparePipeline(replay: Replay): Promise<Pipeline> {
  const generator = await prepareProgram('generator', {
    NODE_RPC_URL: replay.url,
    GENERATOR_START_HEIGHT: '1',
    SCHEMA_AUTH_MODE: 'none',
  })
  const host = await prepareProgram('host', {})
  return {
    generator,
    host,
    async close() {
      await host.close()
      await generator.close()
    },
  }
}

/** Milliseconds a block between the moments at which `program` has stored heights `from` and `to`. */
export async function blockTime(program: Program, from: number, to: number): Promise<number> {
  await untilHead(program, from)
  const first = (await program.health()).head ?? from
  const start = performance.now()
  await untilHead(program, to)
  return (performance.now() - start) / (to - first)
}

/** Waits until a program has stored this height. */
async function untilHead(program: Program, height: number): Promise<void> {
  for (;;) {
    const { head } = await program.health()
    if ((head ?? 0) >= height) return
    await pause(50)
  }
}

/** Waits until every block up to this height can be queried. */
export async function untilQueryable(program: Program, height: number): Promise<void> {
  const client = openQueryClient(program.graphqlUrl)
  for (;;) {
    const { newest, count } = await client.blocks()
    if (newest >= height && count >= height) break
    await pause(50)
  }
  await client.close()
}
