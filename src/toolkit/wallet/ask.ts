/** Questions on a terminal. What is secret is not shown while it is typed. */
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Terminal } from '../cli/terminal.ts'

/** True where somebody can be asked. */
export function canAsk({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** A line that is not shown. Ends as `typedLine` does. */
export async function askSecret(terminal: Terminal, question: string): Promise<string> {
  terminal.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: terminal.stdin, output: silent, terminal: true })
  // The keys come one by one, Ctrl-C among them, which then is no signal.
  lines.once('SIGINT', () => terminal.interrupt())
  try {
    return await typedLine(terminal, lines)
  } finally {
    lines.close()
    terminal.stderr.write('\n')
  }
}

/** True for y or yes. Ends as `typedLine` does. */
export async function askConsent(terminal: Terminal, question: string): Promise<boolean> {
  terminal.stderr.write(`${question} [y/N] `)
  const lines = createInterface({ input: terminal.stdin })
  try {
    return /^y(?:es)?$/i.test((await typedLine(terminal, lines)).trim())
  } finally {
    lines.close()
  }
}

/** Empty where the input ends, as with Ctrl-D. @throws the reason of the terminal's signal, as with Ctrl-C */
async function typedLine({ signal }: Terminal, lines: Interface): Promise<string> {
  const [line = ''] = await Promise.race([
    once(lines, 'line', { signal }),
    once(lines, 'close', { signal }),
  ])
  return String(line)
}
