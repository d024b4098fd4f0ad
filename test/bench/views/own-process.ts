/** Measures in a process that does only this, whose memory nothing else fills. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nodeOptions } from '../../../src/service/contract.ts'

/** Runs a script of this folder, started as our programs are; returns the JSON that it prints. */
export function runAlone<T>(
  name: string,
  { options = nodeOptions, args = [] }: { options?: readonly string[]; args?: string[] } = {},
): T {
  const script = fileURLToPath(new URL(name, import.meta.url))
  const output = execFileSync(process.execPath, [...options, script, ...args], { encoding: 'utf8' })
  return JSON.parse(output) as T
}
