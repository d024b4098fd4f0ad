/** Views whose SDL is in files. */
import { dirname, resolve } from 'node:path'
import type { Terminal } from '../cli/terminal.ts'
import { readTextFile } from '../views/text-source.ts'
import { type TypesSource, toTypedView } from './types-source.ts'

/** One View a file; `-` is standard input, which can be read once. */
export function fileSource(terminal: Terminal, files: readonly string[]): TypesSource {
  return {
    pollMs: null,
    folders: async () => files.map((file) => dirname(resolve(terminal.cwd, file))),
    async read() {
      const views = []
      for (const file of files) views.push(toTypedView(file, await readTextFile(terminal, file)))
      return views
    },
  }
}
