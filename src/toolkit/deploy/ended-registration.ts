/** Why a registration failed, in the words of the chain: from its consensus RPC, as the JSON-RPC of the EVM does not know it. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  findRegistrationFailure,
  type RegistrationFailure,
} from '../../registry/registration-failure.ts'
import { parseHttpUrl } from '../cli/http-url.ts'
import { toSingleLine } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'

/** As it was typed. */
export interface CometFlags {
  readonly comet?: string
}

/**
 * The consensus RPC of the registry chain: `--comet`, else `REGISTRY_RPC_URL` as a Host has it; null without either.
 * @throws ServiceError `TOOLKIT_USAGE_INVALID`
 */
export function cometUrlOf({ env }: Pick<Terminal, 'env'>, { comet }: CometFlags): string | null {
  const [flag, text] =
    comet === undefined ? ['REGISTRY_RPC_URL', env['REGISTRY_RPC_URL']] : ['--comet', comet]
  if (text === undefined || (text === '' && comet === undefined)) return null
  return parseHttpUrl(flag, text.replace(/^ws(s?):/, 'http$1:'), 'consensus RPC').href
}

interface Ended {
  readonly address: string
  /** What ended before is another registration of the same View. */
  readonly sinceHeight: number
  /** For how long it is waited for: a node notes transactions a little later than it runs them. 0 asks once. */
  readonly withinMs: number
}

const stepMs = 500

/** Null where the chain says nothing of it. @throws ServiceError as `findRegistrationFailure` does */
export async function findEnd(
  { signal }: Pick<Terminal, 'signal'>,
  cometUrl: string,
  { address, sinceHeight, withinMs }: Ended,
): Promise<RegistrationFailure | null> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await findRegistrationFailure(cometUrl, address, signal)
    if (found !== null && found.height >= sinceHeight) return found
    if (performance.now() >= deadline) return null
    await delay(stepMs, undefined, { signal })
  }
}

/** What the chain says, as a sentence without its first capital letter. */
export function endText({ kind, error }: Pick<RegistrationFailure, 'kind' | 'error'>): string {
  const what =
    kind === 'refused'
      ? 'the other chain refused it'
      : 'the other chain did not answer within five minutes'
  const said = toSingleLine(error).trim()
  return said === '' ? what : `${what}: ${said}`
}
