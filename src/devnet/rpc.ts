/** The few JSON-RPC calls that the development chain itself needs; programs use src/chain. */
import { messageOf, ServiceError } from '../errors.ts'

export interface RpcAddress {
  readonly rpcUrl: string
  /** Sent with every request: the API key of a node that asks for one. */
  readonly headers?: Readonly<Record<string, string>>
}

interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

interface RpcResponse {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

const timeoutMs = 5_000

/** One JSON-RPC call. Throws DEVNET_NODE_UNREACHABLE when there is no response, or an error in it. */
export async function callNode(node: RpcAddress, call: RpcCall): Promise<unknown> {
  const response: RpcResponse = await post(node, { jsonrpc: '2.0', id: 1, ...call })
  if (response.error !== undefined) {
    throw unreachable(node, `${call.method}: ${response.error.message ?? 'no reason given'}`)
  }
  return response.result
}

/** Several calls in one request; returns the error messages of those that failed. */
export async function callNodeBatch(
  node: RpcAddress,
  calls: readonly RpcCall[],
): Promise<readonly string[]> {
  const responses: readonly RpcResponse[] = await post(
    node,
    calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })),
  )
  return responses.flatMap(({ error }) => (error === undefined ? [] : [error.message ?? 'refused']))
}

async function post<T>(node: RpcAddress, body: unknown): Promise<T> {
  let response: Response
  try {
    response = await fetch(node.rpcUrl, {
      method: 'POST',
      headers: { ...node.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (response.ok) return (await response.json()) as T
  } catch (cause) {
    throw unreachable(node, messageOf(cause), cause)
  }
  throw unreachable(node, `HTTP ${response.status}`)
}

function unreachable(node: RpcAddress, reason: string, cause?: unknown): ServiceError {
  const host = new URL(node.rpcUrl).host
  return new ServiceError(
    'DEVNET_NODE_UNREACHABLE',
    `the node at ${host} gave no answer: ${reason}`,
    {
      facts: { host },
      remedy: 'Check that the node runs and that NODE_RPC_URL (and NODE_API_KEY) are right.',
      cause,
    },
  )
}
