/** Questions on a terminal. What is secret is not shown while it is typed. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Terminal } from '../cli/terminal.ts'

/** True where somebody can be asked. */
export function canAsk({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** A line that is not shown. */
export async function askSecret(terminal: Terminal, question: string): Promise<string> {
  terminal.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: terminal.stdin, output: silent, terminal: true })
  try {
    return await lines.question('', { signal: terminal.signal })
  } finally {
    lines.close()
    terminal.stderr.write('\n')
  }
}

/** True for y or yes. */
export async function askConsent(terminal: Terminal, question: string): Promise<boolean> {
  terminal.stderr.write(`${question} [y/N] `)
  const lines = createInterface({ input: terminal.stdin })
  try {
    const answer = await lines.question('', { signal: terminal.signal })
    return /^y(?:es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
