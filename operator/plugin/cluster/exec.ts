/** Runs a command in a container, as `kubectl exec` does. */
import { PassThrough, Writable } from 'node:stream'
import { Exec, type KubeConfig, type V1Status } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'

/** A container of a pod. */
export interface ContainerAddress {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

interface ExecOptions {
  /** Written to standard input, which then stays open: the command has to know how much it is. */
  readonly stdin?: string
  readonly signal?: AbortSignal | undefined
}

/** How a command ended. */
interface ExecResult {
  readonly exitCode: number
  readonly stdout: string
  /** Its first 64 KiB. */
  readonly stderr: string
}

/** Throws PLUGIN_EXEC_FAILED where the command could not be run, or writes more than it may. */
export type ContainerExec = (
  container: ContainerAddress,
  command: readonly string[],
  options?: ExecOptions,
) => Promise<ExecResult>

/** Longest output that is read. */
const maxBytes = 262_144
const maxErrorBytes = 65_536
const timeoutMs = 60_000

/** By the user that the kubeconfig names. */
export function createExec(config: KubeConfig): ContainerExec {
  const exec = new Exec(config)
  return async (container, command, { stdin, signal } = {}) => {
    const ended = Promise.withResolvers<V1Status>()
    const stdout = collector(maxBytes, () => ended.reject(failed(container, 'it writes too much')))
    const stderr = collector(maxErrorBytes)
    const input = stdin === undefined ? null : new PassThrough()
    const giveUp = AbortSignal.any([
      AbortSignal.timeout(timeoutMs),
      ...(signal === undefined ? [] : [signal]),
    ])
    const onAbort = (): void => ended.reject(failed(container, 'it was given up', giveUp.reason))
    giveUp.addEventListener('abort', onAbort)
    const { namespace, pod, container: name } = container
    const opened = exec
      .exec(
        namespace,
        pod,
        name,
        [...command],
        stdout.stream,
        stderr.stream,
        input,
        false,
        ended.resolve,
      )
      .then((socket: Socket) => {
        socket.onclose = () => ended.reject(failed(container, 'the connection was closed'))
        socket.onerror = (event) => ended.reject(failed(container, reasonOf(event)))
        input?.write(stdin)
        return socket
      })
    opened.catch((error: unknown) => ended.reject(failed(container, reasonOf(error), error)))
    try {
      const exitCode = exitCodeOf(container, await ended.promise)
      return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
    } finally {
      giveUp.removeEventListener('abort', onAbort)
      void opened.then((socket) => socket.close()).catch(() => undefined)
    }
  }
}

/** What is used of a WebSocket. */
interface Socket {
  onclose: (() => void) | null
  onerror: ((event: unknown) => void) | null
  close(): void
}

interface Collector {
  readonly stream: Writable
  text(): string
}

/** Keeps what is written, up to a bound. */
function collector(limit: number, onFull: () => void = () => undefined): Collector {
  const pieces: Buffer[] = []
  let bytes = 0
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      if (bytes + piece.length > limit) onFull()
      else pieces.push(piece)
      bytes += piece.length
      done()
    },
  })
  return { stream, text: () => Buffer.concat(pieces).toString('utf8') }
}

/** Kubernetes reports the exit code among the causes of a failure. */
function exitCodeOf(container: ContainerAddress, status: V1Status): number {
  if (status.status === 'Success') return 0
  const cause = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')
  if (cause === undefined) throw failed(container, status.message ?? 'it gave no exit code')
  return Number(cause.message)
}

/** A WebSocket says by an event why it was not opened. */
function reasonOf(error: unknown): string {
  const message: unknown = Reflect.get(Object(error), 'message')
  return typeof message === 'string' ? message : String(error)
}

function failed(
  { namespace, pod, container }: ContainerAddress,
  why: string,
  cause?: unknown,
): ServiceError {
  return new ServiceError(
    'PLUGIN_EXEC_FAILED',
    `no command can be run in container ${container} of pod ${namespace}/${pod}: ${why}`,
    {
      remedy:
        'Check that you may create pods/exec there, and that the container runs; then try again.',
      ...(cause instanceof Error ? { cause } : {}),
    },
  )
}
