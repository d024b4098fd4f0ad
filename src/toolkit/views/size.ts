/** `view size`: how large a View is, and how large it may be. */
import { viewLimits } from '../../views/view.ts'
import { printResult } from '../cli/print.ts'
import { tableText } from '../cli/table.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject } from '../project/project.ts'

/** Prints bytes and limit of every part. */
export async function printViewSize(
  terminal: Terminal,
  name: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const project = await openProject(terminal)
  const { wire, view, revision, labels } = await project.wire(name)
  const parts = [
    { part: 'wire bytes', bytes: wire.length, limit: viewLimits.wire },
    { part: 'query', bytes: Buffer.byteLength(view.query), limit: viewLimits.query },
    { part: 'SDL', bytes: Buffer.byteLength(view.sdl), limit: viewLimits.sdl },
    ...view.lenses.map(({ args }, index) => ({
      part: `arguments of ${labels[index]}`,
      bytes: Buffer.byteLength(args),
      limit: viewLimits.args,
    })),
    {
      part: 'lenses, not compressed',
      bytes: view.lenses.reduce((sum, { wasm }) => sum + wasm.length, 0),
      limit: viewLimits.blob,
    },
  ]
  const rows = parts.map(({ part, bytes, limit }) => [
    part,
    String(bytes),
    String(limit),
    `${((100 * bytes) / limit).toFixed(1)} %`,
  ])
  const text = tableText(['PART', 'BYTES', 'LIMIT', 'USED'], rows)
  printResult(terminal, { name, revision, parts }, { json, text })
}
