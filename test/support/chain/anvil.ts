/**
 * A real execution node for a test: anvil on a free port, killed with the test process, with the
 * handful of calls that make blocks worth reading.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { anvilPath } from '../../../src/devnet/anvil.ts'

export interface AnvilOptions {
  /** Seconds between blocks; absent: a block per transaction and per `mine`. */
  readonly blockTime?: number
  /** Default: any free one. */
  readonly port?: number
  readonly args?: readonly string[]
}

export interface Anvil {
  readonly url: string
  readonly wsUrl: string
  readonly port: number
  /** One JSON-RPC call; throws what the node answers as an error. */
  rpc<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T>
  /** It hangs (SIGSTOP): connections stay open and nothing is answered, until `resume`. */
  hang(): void
  resume(): void
  close(): Promise<void>
}

/** The first of the accounts that anvil keeps unlocked. */
const devAccount = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** Starts anvil and waits until it listens. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const time = options.blockTime === undefined ? [] : ['--block-time', String(options.blockTime)]
  const child = spawn(
    anvilPath(process.platform, process.arch),
    ['--port', String(options.port ?? 0), ...time, ...(options.args ?? [])],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const port = await listeningPort(child)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    port,
    rpc: (method, ...params) => callNode(url, method, params),
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async close() {
      process.removeListener('exit', kill)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      kill()
      await ended
    },
  }
}

/** One JSON-RPC call over HTTP. */
export async function callNode<T>(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as {
    result?: T
    error?: { message: string }
  }
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result as T
}

/** Several calls at once, in one request; throws the first error among their answers. */
export async function callNodes(
  url: string,
  calls: readonly (readonly [method: string, params: readonly unknown[]])[],
): Promise<unknown[]> {
  if (calls.length === 0) return []
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })),
    ),
  })
  const answers = (await response.json()) as {
    readonly id: number
    readonly result?: unknown
    readonly error?: { readonly message: string }
  }[]
  const failed = answers.find(({ error }) => error !== undefined)
  if (failed !== undefined) throw new Error(`${calls[failed.id]?.[0]}: ${failed.error?.message}`)
  return answers.toSorted((a, b) => a.id - b.id).map(({ result }) => result)
}

async function listeningPort(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let said = ''
  const listen = (chunk: Buffer): void => {
    said += chunk.toString()
    const port = /Listening on [^\n]*:(\d+)\s/.exec(said)?.[1]
    if (port !== undefined) resolve(Number(port))
  }
  child.stdout?.on('data', listen)
  child.stderr?.on('data', listen)
  child.once('exit', (code) => reject(new Error(`anvil ended with ${code}: ${said.slice(-500)}`)))
  const port = await promise
  child.stdout?.removeAllListeners('data').resume()
  child.stderr?.removeAllListeners('data').resume()
  return port
}

/** Code that emits one log per call: topics 1 and the caller, the first calldata word as data. */
const emitterInit = '0x600f600c600039600f6000f360003560005233600160206000a200'

/** Deploys a contract that emits one log whenever it is called; answers its address. */
export async function deployEmitter(anvil: Anvil): Promise<string> {
  const hash = await anvil.rpc<string>('eth_sendTransaction', {
    from: devAccount,
    data: emitterInit,
    gas: '0x30d40',
  })
  for (;;) {
    const receipt = await anvil.rpc<{ contractAddress: string } | null>(
      'eth_getTransactionReceipt',
      hash,
    )
    if (receipt !== null) return receipt.contractAddress
  }
}

/**
 * Mines `count` blocks, each with `calls` calls of the emitter, one plain transfer and one
 * transaction with an access list. Leaves the node mining by itself as it did before.
 */
export async function mineBusyBlocks(
  anvil: Anvil,
  emitter: string,
  count: number,
  calls = 3,
): Promise<void> {
  await anvil.rpc('evm_setAutomine', false)
  for (let block = 0; block < count; block++) {
    const sends = Array.from({ length: calls }, (_, index) => {
      const word = (block * 1000 + index).toString(16).padStart(64, '0')
      return { from: devAccount, to: emitter, data: `0x${word}`, gas: '0x186a0' }
    })
    const transfer = { from: otherAccount, to: devAccount, value: '0x1', gas: '0x5208' }
    const accessList = [{ address: emitter, storageKeys: [`0x${'11'.repeat(32)}`] }]
    const listed = { from: otherAccount, to: emitter, data: '0x', gas: '0x186a0', accessList }
    for (const transaction of [...sends, transfer, listed])
      await anvil.rpc('eth_sendTransaction', transaction)
    await anvil.rpc('evm_mine')
  }
  await anvil.rpc('evm_setAutomine', true)
}
