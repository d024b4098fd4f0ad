/** What a command touches of its process, so that tests run commands without one. */
import type { Readable } from 'node:stream'

/** Where text goes. */
interface TextOutput {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  /** Width in characters; undefined where it is no terminal. */
  readonly columns?: number | undefined
}

/** The surroundings of a command. Results go to `stdout`, everything else to `stderr`. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined }
  readonly stdout: TextOutput
  readonly stderr: TextOutput
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute. */
  readonly cwd: string
  /** Absolute; the user's, in which `.viewmesh` is. */
  readonly homeFolder: string
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal
  /** Aborts `signal`, for a question that gets Ctrl-C as a key. */
  readonly interrupt: () => void
  /** How long a receipt may come after its nonce, in milliseconds; default 5,000. Tests know that their chain is one node. */
  readonly appearsWithinMs?: number
}
